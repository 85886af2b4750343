"""What an edit replaces, with line ends that can be held beside those of what it writes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

SIZE_LIMIT: Final = 1024 * 1024
"""Bytes of a file that are read to show what an edit replaces."""


def content_before(file: Path, new: str) -> str:
    """A file that `new` shall stand in; reads it: call this in a thread.

    With its carriage returns only where `new` has some: a program that writes none may well keep
    those of the file, and then each of its lines would look changed.
    """
    try:
        if not file.is_file():
            return ""
        if file.stat().st_size > SIZE_LIMIT:
            return "(too large to be shown)\n"
        with file.open(errors="replace", newline="" if "\r\n" in new else None) as opened:
            return opened.read()
    except OSError:
        return ""


def pieces(texts: Sequence[str]) -> str:
    """Several pieces of one file, one below the other."""
    return ("\r\n" if any("\r\n" in text for text in texts) else "\n").join(texts)
