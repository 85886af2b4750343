"""The text of a message as given on a command line, in a file or on stdin; its id; its answer."""

import sys
import uuid
from argparse import Namespace
from typing import Any, Final

from model.base.errors import SpinneyError, UsageError
from model.base.paths import expand_home
from model.base.standard_streams import write_error, write_output
from model.cli.conversation_text import format_message
from model.cli.logs import read_messages
from model.cli.quick_call import connect_here
from model.cli.waiting import TIMED_OUT, join_exit_codes, wait_for

_MAX_BYTES: Final = 4 * 1024 * 1024
"""Bytes that are read of a message; Spinney accepts a million characters."""


def read_message(text: str | None, options: Namespace) -> str:
    """Return the text of the command line, followed by that of `--file`; `-` is stdin.

    Raises `UsageError` if there is none or both are stdin, `SpinneyError` if a file is unreadable.
    """
    if text == "-" and options.file == "-":
        options.parser.error("stdin can be read once: give - or --file -")
    parts = [_read("-") if text == "-" else text] if text is not None else []
    parts += [_read(options.file)] if options.file else []
    message = "\n\n".join(part for part in parts if part.strip())
    if not message:
        options.parser.error("give the text of the message, - for stdin, or --file FILE")
    return message


def read_attachments(options: Namespace) -> dict[str, list[str]]:
    """Return the argument `files` with absolute paths, if files are attached."""
    paths = [str(expand_home(name).absolute()) for name in options.attach]
    return {"files": paths} if paths else {}


def read_id(options: Namespace) -> str | None:
    """Return the id of the command line. Raises `UsageError` if it is no UUID."""
    if options.id is None:
        return None
    try:
        return str(uuid.UUID(options.id))
    except ValueError:
        raise UsageError("--id must be a UUID, such as uuidgen prints.") from None


def wait_for_answer(session_id: str, options: Namespace) -> int:
    """Wait until the session is done, print what its agent wrote last, and return the exit code."""
    settled = wait_for([session_id], options.timeout)
    if settled is None:
        write_error("spinney: The time is over; the agent goes on.\n")
        return TIMED_OUT
    if not options.json and settled:
        with connect_here() as connection:
            for message in read_messages(connection, session_id, 1):
                write_output(format_message(message))
    return join_exit_codes(settled)


def without_none(**arguments: Any) -> dict[str, Any]:
    """Return the arguments that are given."""
    return {name: value for name, value in arguments.items() if value is not None}


def _read(name: str) -> str:
    try:
        if name == "-":
            data = sys.stdin.buffer.read(_MAX_BYTES)
        else:
            with expand_home(name).open("rb") as file:
                data = file.read(_MAX_BYTES)
    except OSError as error:
        raise SpinneyError(f"{name} cannot be read: {error.strerror}.", "not_found") from None
    return data.decode(errors="replace").strip("\n")
