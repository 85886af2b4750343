"""Splits bytes into lines. Agents write lines of many megabytes, too long for asyncio's reader."""

from dataclasses import dataclass
from typing import Final

LINE_LIMIT: Final = 64 * 1024 * 1024
"""Maximum bytes in a line; agents send whole files and images as one line."""


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line over the limit, whose content was discarded."""

    size: int


class LineSplitter:
    """Splits chunks into lines without their newlines; buffers at most one unfinished line."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes | TooLong]:
        """Add a chunk; return the lines that it completes."""
        first, *others = chunk.split(b"\n")
        if not others:
            self._add(first)
            return []
        self._add(first)
        *complete, last = others
        lines = [self._take(), *(self._within_limit(line) for line in complete)]
        self._add(last)
        return lines

    def rest(self) -> list[bytes | TooLong]:
        """Return the unfinished last line, if there is one."""
        return [self._take()] if self._size else []

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            self._pieces.clear()
        elif piece:
            self._pieces.append(piece)

    def _take(self) -> bytes | TooLong:
        line = self._within_limit(b"".join(self._pieces)) if self._size <= self._limit else None
        taken = TooLong(self._size) if line is None else line
        self._pieces.clear()
        self._size = 0
        return taken

    def _within_limit(self, line: bytes) -> bytes | TooLong:
        return TooLong(len(line)) if len(line) > self._limit else line
