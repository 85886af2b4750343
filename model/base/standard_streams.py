"""Robust standard streams: the parent may have left them closed, full or in another charset.

Stays loaded in the process that owns the terminal, so it imports almost nothing.
"""

import codecs
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

_ASCII_EQUIVALENTS = {
    "…": "...",
    "·": "-",
    "–": "-",
    "—": "-",
    "“": '"',
    "”": '"',
    "’": "'",
    "×": "x",
}


def make_robust() -> None:
    """Replace characters that a stream cannot encode, and reopen closed streams on /dev/null.

    Otherwise the next opened file would get the descriptor of a closed stream.
    """
    codecs.register_error("spinney", _replace_unencodable)
    for expected, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # `open` takes the lowest free descriptor, and those below this one are open by now.
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor == expected:
                setattr(sys, name, open(descriptor, "r+" if expected == 0 else "w"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="spinney")


def write_output(text: str) -> None:
    """Write to stdout and flush. Raises `BrokenPipeError`, and `SpinneyError` if writing fails."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_buffer(sys.stdout)
        raise
    except OSError as error:
        _discard_buffer(sys.stdout)
        from model.base.errors import SpinneyError

        raise SpinneyError(f"The output could not be written: {error.strerror}.") from None


def write_json(value: object, *, on_one_line: bool = False) -> None:
    """Write a value as JSON to stdout, escaping non-ASCII characters if that is not UTF-8."""
    import json

    is_unicode = (sys.stdout.encoding or "").lower().startswith(("utf-8", "utf8"))
    indent, separators = (None, (",", ":")) if on_one_line else (2, None)
    text = json.dumps(value, ensure_ascii=not is_unicode, indent=indent, separators=separators)
    write_output(text + "\n")


def write_error(text: str) -> None:
    """Write to stderr and flush; failures are ignored, as there is nowhere left to report them."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _discard_buffer(sys.stderr)


def _discard_buffer(stream: "TextIO") -> None:
    """Redirect the stream to /dev/null: Python flushes its buffer again at exit."""
    descriptor = os.open(os.devnull, os.O_WRONLY)
    os.dup2(descriptor, stream.fileno())
    os.close(descriptor)


def _replace_unencodable(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unencodable = error.object[error.start : error.end]
    return "".join(_ASCII_EQUIVALENTS.get(character, "?") for character in unencodable), error.end
