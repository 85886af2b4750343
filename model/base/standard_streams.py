"""The standard streams, as whoever started us has left them: closed, full, or of another charset.

Stays in the process in front of a terminal, so it imports almost nothing.
"""

import codecs
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

_IN_ASCII = {"…": "...", "·": "-", "–": "-", "—": "-", "“": '"', "”": '"', "’": "'", "×": "x"}


def steady() -> None:
    """Let no sentence fail for a letter that a stream lacks, and no file take the place of one."""
    codecs.register_error("spinney", _with_letters_it_has)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # The lowest free number is this one, as those before it are open by now.
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor == number:
                setattr(sys, name, open(descriptor, "r+" if number == 0 else "w"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="spinney")


def put(text: str) -> None:
    """Print it now. Raises `SpinneyError` where the output takes nothing, `BrokenPipeError` too."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop(sys.stdout)
        raise
    except OSError as error:
        _drop(sys.stdout)
        from model.base.errors import SpinneyError

        raise SpinneyError(f"The output could not be written: {error.strerror}.") from None


def put_json(text: str) -> None:
    """Print JSON, with escapes for all that is not ASCII where the output is not UTF-8."""
    if not (sys.stdout.encoding or "").lower().startswith(("utf-8", "utf8")):
        import json

        text = "".join(sign if sign < "\x80" else json.dumps(sign)[1:-1] for sign in text)
    put(text + "\n")


def complain(text: str) -> None:
    """Print it on the error stream; where that takes nothing, nobody is left to be told."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _drop(sys.stderr)


def _drop(stream: "TextIO") -> None:
    """Let what it still holds go nowhere: Python would try again when it ends."""
    descriptor = os.open(os.devnull, os.O_WRONLY)
    os.dup2(descriptor, stream.fileno())
    os.close(descriptor)


def _with_letters_it_has(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_IN_ASCII.get(letter, "?") for letter in lacking), error.end
