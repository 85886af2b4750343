"""Bytes to lines. Agents write lines of many megabytes, more than asyncio's own reader takes."""

from dataclasses import dataclass
from typing import Final

LINE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of one line; an agent sends a file or a picture as one."""


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line over the limit, which was not kept."""

    size: int


class LineSplitter:
    """Cuts chunks into lines without their newlines, holding at most one unfinished line."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes | TooLong]:
        """The lines that `chunk` completes."""
        first, *others = chunk.split(b"\n")
        if not others:
            self._add(first)
            return []
        self._add(first)
        *whole, last = others
        lines = [self._take(), *(self._fitting(line) for line in whole)]
        self._add(last)
        return lines

    def rest(self) -> list[bytes | TooLong]:
        """The unfinished last line, if there is one."""
        return [self._take()] if self._size else []

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            self._pieces.clear()
        elif piece:
            self._pieces.append(piece)

    def _take(self) -> bytes | TooLong:
        line = self._fitting(b"".join(self._pieces)) if self._size <= self._limit else None
        taken = TooLong(self._size) if line is None else line
        self._pieces.clear()
        self._size = 0
        return taken

    def _fitting(self, line: bytes) -> bytes | TooLong:
        return TooLong(len(line)) if len(line) > self._limit else line
