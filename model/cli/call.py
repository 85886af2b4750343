"""`spinney call`: one command for a shell; its result as JSON."""

import json
from argparse import Namespace
from pathlib import Path

from model.base.errors import SpinneyError
from model.base.paths import directories
from model.base.standard_streams import put, put_json
from model.cli.arguments import arguments_from, command_named, listing
from model.cli.quick_call import ask
from model.client.local_instance import found_door, silent


def call(options: Namespace) -> int:
    """Do what the command line says; the exit code."""
    if options.name is None:
        put(options.parser.format_help() if options.help else listing())
        return 0
    command = command_named(options.name)
    if options.help:
        put(command.help)
        return 0
    arguments = arguments_from(command, options.arguments, Path.cwd())
    places = directories()
    base_url, token = found_door(places)
    try:
        result = ask(base_url, token, command.name, arguments)
    except TimeoutError:
        raise silent(places, base_url) from None
    except SpinneyError as error:
        # The interface has one sentence for no repository and for no folder at all.
        _, is_of_path, path = error.message.partition("Path is not a git repository: ")
        if is_of_path and not Path(path).exists():
            raise SpinneyError(f"There is no folder {path}.", "not_found") from None
        raise
    put_json(json.dumps(result, ensure_ascii=False, indent=2))
    return 0
