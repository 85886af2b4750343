"""The text that an edit replaces, with line endings comparable to those of the new text."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

SIZE_LIMIT: Final = 1024 * 1024
"""Maximum size in bytes of a file whose old content is shown."""


def content_before(file: Path, new: str) -> str:
    """The content of a file that `new` will replace. Reads the file: call it in a thread.

    Carriage returns are kept only if `new` has some: a program that reports none may still keep
    those of the file, and then every line would look changed.
    """
    try:
        if not file.is_file():
            return ""
        if file.stat().st_size > SIZE_LIMIT:
            return "(too large to show)\n"
        with file.open(errors="replace", newline="" if "\r\n" in new else None) as stream:
            return stream.read()
    except OSError:
        return ""


def pieces(texts: Sequence[str]) -> str:
    """Join several pieces of one file, one below the other."""
    return ("\r\n" if any("\r\n" in text for text in texts) else "\n").join(texts)
