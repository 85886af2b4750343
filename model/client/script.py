"""`spinney call`: one command for a shell; its result as JSON."""

import asyncio
import json
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from model.client.words import arguments_from, command_named, listing
from model.streams import put, put_json


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
    result = asyncio.run(_asked(command.name, arguments))
    put_json(json.dumps(result, ensure_ascii=False, indent=2))
    return 0


async def _asked(name: str, arguments: Mapping[str, Any]) -> Any:
    from model.client.here import scripts_client
    from model.paths import directories

    client = await scripts_client(directories())
    try:
        return await client.call_raw(name, arguments)
    finally:
        await client.close()
