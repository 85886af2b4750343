"""The log of this process: a line for each record, bounded, and nobody else's words as lines.

What stands in it came from agents, clients and strangers, and people read it in their terminals. So
control characters and line breaks are shown as marks, secrets are left out, and nobody can push out
of it what others wrote by writing much.
"""

import logging
import os
import time
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import Final

from pydantic import ValidationError

from model.base.masking import Masking, named_secrets
from model.base.paths import PRIVATE_FILE, unsaved
from model.base.text import make_visible

SIZE: Final = 2 * 1024 * 1024
"""Bytes of one log file; one older file is kept."""
LINE: Final = 4000
"""Bytes of a line."""
LINES: Final = 60
"""Lines of a record that has a traceback."""
SHARE: Final = 256 * 1024
"""Bytes that one logger may write at once; a day gives it as many again."""
_DAY: Final = 86400.0
_LONGEST_REASON: Final = 300
"""Characters of what an exception says: it may quote what people and agents wrote."""
_ROOMS: Final = ("model", "server", "spinney", "themes", "tui")
"""Whose levels are as asked for. Others tell warnings: below, they quote what passes through."""
LEVELS: Final = {"trace": logging.DEBUG, "debug": logging.DEBUG, "info": logging.INFO,
                  "warn": logging.WARNING, "error": logging.ERROR}  # fmt: skip
_LEFT_OUT: Final = "\u2026"


def log_to(path: Path, level: str) -> None:
    """Write the log of this process to `path`, readable for its owner alone."""
    wanted = LEVELS.get(level.lower(), logging.INFO)
    try:
        path.touch(PRIVATE_FILE)
        handler = LogFile(path, bounded=wanted > logging.DEBUG)
    except OSError as error:
        raise unsaved(path, error, "opened") from error
    handler.setFormatter(LogLines(os.environ))
    # A log that cannot be written, on a full disk, must not print tracebacks over the screen.
    logging.raiseExceptions = False
    logging.basicConfig(handlers=[handler], level=max(wanted, logging.WARNING))
    for room in _ROOMS:
        logging.getLogger(room).setLevel(wanted)


class LogLines(logging.Formatter):
    """Makes a record one line, and its traceback lines that begin as no record does."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._masked = Masking(named_secrets(environment))

    def format(self, record: logging.LogRecord) -> str:
        """The whole record."""
        head = f"{self.formatTime(record)} {record.levelname} {record.name}: "
        lines = [self._line(head + record.getMessage())]
        if record.exc_info and record.exc_info[1] is not None:
            told = [self._line(f"    | {line}") for line in _told(record.exc_info[1])]
            if len(told) > LINES:
                told[LINES // 2 : -LINES // 2] = [f"    | {_LEFT_OUT}"]
            lines += ["    | Traceback (most recent call last):", *told]
        return "\n".join(lines)

    def _line(self, text: str) -> str:
        shown = self._masked(make_visible(text[:LINE]).replace("\n", "\u240a"))
        data = shown.encode(errors="backslashreplace")
        if len(data) <= LINE and len(text) <= LINE:
            return shown
        return data[: LINE - 3].decode(errors="ignore") + _LEFT_OUT


def _told(error: BaseException) -> Iterator[str]:
    """The lines of a traceback; what the exceptions say is a line each."""
    causes: list[tuple[BaseException, str]] = []
    seen: set[int] = set()
    why = ""
    now: BaseException | None = error
    while now is not None and id(now) not in seen and len(causes) < 5:
        seen.add(id(now))
        causes.append((now, why))
        cause = now.__cause__
        why = "which led to:" if cause is not None else "in handling which:"
        now = cause or (None if now.__suppress_context__ else now.__context__)
    for found, after in reversed(causes):
        yield from _frames(found.__traceback__)
        yield f"{type(found).__qualname__}: {_reason(found)}"
        if after:
            yield after


def _frames(trace: TracebackType | None) -> Iterator[str]:
    for entry in traceback.StackSummary.extract(traceback.walk_tb(trace)).format():
        yield from entry.rstrip("\n").split("\n")


def _reason(error: BaseException) -> str:
    if isinstance(error, ValidationError):  # Its own words quote what was given.
        found = error.errors(include_url=False, include_context=False, include_input=False)
        return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['type']}" for one in found[:5])
    try:
        return str(error)[:_LONGEST_REASON]
    except Exception:
        return "it cannot say why"


@dataclass(slots=True)
class _Room:
    """What a logger may still write."""

    left: float
    at: float
    left_out: int = 0


class LogFile(RotatingFileHandler):
    """The file, in which no logger can write more than its share."""

    def __init__(self, path: Path, *, bounded: bool) -> None:
        super().__init__(path, maxBytes=SIZE, backupCount=1, encoding="utf-8")
        self._bounded = bounded
        self._rooms: dict[str, _Room] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is to be written."""
        if not super().filter(record):
            return False
        if not self._bounded:
            return True
        now = time.monotonic()
        room = self._rooms.setdefault(record.name, _Room(SHARE, now))
        room.left = min(SHARE, room.left + (now - room.at) * SHARE / _DAY)
        room.at = now
        size = len(self.format(record).encode(errors="replace"))
        if size > room.left:
            room.left_out += 1
            return False
        room.left -= size
        if room.left_out:
            words = ("%d records of this kind were left out", (room.left_out,))
            told = logging.LogRecord(record.name, logging.WARNING, "", 0, *words, None)
            room.left_out = 0
            self.emit(told)
        return True

    def format(self, record: logging.LogRecord) -> str:
        """As its formatter does, once: the size is asked for before it is written."""
        line = record.__dict__.get("spinney_line")
        if line is None:
            line = record.__dict__["spinney_line"] = super().format(record)
        return str(line)
