"""The end of a log that is read as it arrives: it may have hundreds of megabytes."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from model.base.text import make_output_visible
from model.git.error_messages import without_credentials

MAX_LINES: Final = 200
MAX_CHARACTERS: Final = 64_000
MAX_LINE: Final = 2000
"""Bytes that are kept of a line."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of a log, without what the service has added to it."""

    text: str
    is_wanted: bool = True
    """Lines that are not wanted are shown only if no line is."""


class LogEnd:
    """Keeps the last lines of a log that is passed to it piece by piece.

    Args:
        read_line: Reads a line; returns `None` if it does not belong to the log itself.
    """

    def __init__(self, read_line: Callable[[str], LogLine | None]) -> None:
        self._read_line = read_line
        self._wanted: deque[str] = deque(maxlen=MAX_LINES)
        self._all: deque[str] = deque(maxlen=MAX_LINES)
        self._wanted_count = 0
        self._all_count = 0
        self._line = bytearray()

    def take(self, piece: bytes) -> None:
        """Read the next piece."""
        first, *others = piece.split(b"\n")
        self._extend(first)
        for line in others:
            self._end_line()
            self._extend(line)

    def finish(self) -> tuple[str, int]:
        """Return the last lines, as visible text, and how many before them are left out."""
        if self._line:
            self._end_line()
        lines, number = self._wanted, self._wanted_count
        if not lines:
            lines, number = self._all, self._all_count
        kept: deque[str] = deque()
        size = 0
        for raw in reversed(lines):
            line = without_credentials(make_output_visible(raw.rstrip()))
            size += len(line) + 1
            if size > MAX_CHARACTERS:
                break
            kept.appendleft(line)
        return "\n".join(kept), number - len(kept)

    def _extend(self, part: bytes) -> None:
        self._line += part[: MAX_LINE - len(self._line)]

    def _end_line(self) -> None:
        line = self._read_line(self._line.decode("utf-8", "replace").removeprefix("\ufeff"))
        self._line.clear()
        if line is None:
            return
        self._all.append(line.text)
        self._all_count += 1
        if line.is_wanted:
            self._wanted.append(line.text)
            self._wanted_count += 1
