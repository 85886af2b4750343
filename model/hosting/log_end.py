"""The end of a log that is read as it arrives: it may have hundreds of megabytes.

A log is kept and counted in blocks of lines; only those that are shown are looked at one by one.
"""

import re
from collections import deque
from collections.abc import Callable
from typing import Final

from model.base.text import make_output_visible
from model.git.error_messages import without_credentials

MAX_LINES: Final = 200
MAX_CHARACTERS: Final = 64_000
MAX_LINE: Final = 2000
"""Bytes that are kept of a line."""

_MAX_KEPT: Final = (MAX_LINES + 1) * (MAX_LINE + 1)
"""Bytes that have all lines that may be shown."""
_LONG_LINE: Final = re.compile(rb"(?m)^([^\n]{%d})[^\n]+" % MAX_LINE)


def _keep_all(lines: bytes) -> bytes:
    return lines


class LogEnd:
    """Keeps the last lines of a log that is passed to it piece by piece.

    Args:
        read_line: Returns a line without what the service has added to it; `None` if it does not
            belong to the log itself.
        select: Returns those of the next lines that are wanted, each with its line feed. The
            others are shown only if no line is wanted.
    """

    def __init__(
        self,
        read_line: Callable[[str], str | None],
        select: Callable[[bytes], bytes] = _keep_all,
    ) -> None:
        self._read_line = read_line
        self._select = select
        self._all, self._wanted = _LastLines(), _LastLines()
        self._line = b""

    def take(self, piece: bytes) -> None:
        """Read the next piece."""
        first, ends, rest = piece.partition(b"\n")
        self._line += first[: MAX_LINE - len(self._line)]
        if ends:
            end = rest.rfind(b"\n") + 1
            self._add(self._line + ends + _LONG_LINE.sub(rb"\1", rest[:end]))
            self._line = rest[end : end + MAX_LINE]

    def finish(self) -> tuple[str, int]:
        """Return the last lines, as visible text, and how many before them are left out."""
        if self._line:
            self._add(self._line + b"\n")
            self._line = b""
        lines = self._wanted if self._wanted.count else self._all
        shown: deque[str] = deque()
        size = read = 0
        for raw in reversed(lines.kept.split(b"\n")[:-1]):
            line = self._read_line(raw.decode("utf-8", "replace").removeprefix("\ufeff"))
            if line is not None:
                line = without_credentials(make_output_visible(line.rstrip()))
                size += len(line) + 1
                if size > MAX_CHARACTERS or len(shown) == MAX_LINES:
                    break
                shown.appendleft(line)
            read += 1
        return "\n".join(shown), lines.count - read

    def _add(self, lines: bytes) -> None:
        self._all.add(lines)
        self._wanted.add(self._select(lines))


class _LastLines:
    """The number of all lines, and at least those of the last `_MAX_KEPT` bytes."""

    def __init__(self) -> None:
        self.kept = bytearray()
        self.count = 0

    def add(self, lines: bytes) -> None:
        self.count += lines.count(b"\n")
        self.kept += lines
        if len(self.kept) > 2 * _MAX_KEPT:
            del self.kept[: self.kept.find(b"\n", len(self.kept) - _MAX_KEPT) + 1]
