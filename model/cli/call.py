"""`spinney call`: run one command from a shell and print its result as JSON."""

from argparse import Namespace
from pathlib import Path

from model.base.errors import SpinneyError
from model.base.standard_streams import write_json, write_output
from model.cli.arguments import find_spec, list_commands, parse_arguments
from model.cli.quick_call import request_here


def call(options: Namespace) -> int:
    """Run the command of the command line; returns the exit code."""
    if options.name is None:
        write_output(options.parser.format_help() if options.help else list_commands())
        return 0
    command = find_spec(options.name)
    if options.help:
        write_output(command.help)
        return 0
    arguments = parse_arguments(command, options.arguments, Path.cwd())
    try:
        result = request_here(command.name, **arguments)
    except SpinneyError as error:
        # The interface has the same error for a directory without a repository and for none.
        _, is_of_path, path = error.message.partition("Path is not a git repository: ")
        if is_of_path and not Path(path).exists():
            raise SpinneyError(f"There is no folder {path}.", "not_found") from None
        raise
    write_json(result)
    return 0
