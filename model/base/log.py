"""The log of this process: bounded, one line per record, with safe and forgery-proof content.

Records quote agents, clients and untrusted peers, and people read them in terminals. So control
characters and line breaks are shown as marks, secrets are masked, and a quota per logger keeps one
source from pushing out what others wrote.
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

MAX_FILE_BYTES: Final = 2 * 1024 * 1024
"""Bytes of one log file; one older file is kept."""
MAX_LINE_BYTES: Final = 4000
"""Most bytes of a line."""
MAX_TRACEBACK_LINES: Final = 60
"""Most lines of a record's traceback."""
LOGGER_QUOTA: Final = 256 * 1024
"""Bytes that one logger may write in a burst; the quota refills once per day."""
_DAY: Final = 86400.0
_MAX_REASON: Final = 300
"""Characters of an exception's message: it may quote what users and agents wrote."""
_PACKAGES: Final = ("model", "server", "spinney", "themes", "tui")
"""Loggers that get the requested level. Others log warnings only: below, they quote payloads."""
LEVELS: Final = {"trace": logging.DEBUG, "debug": logging.DEBUG, "info": logging.INFO,
                  "warn": logging.WARNING, "error": logging.ERROR}  # fmt: skip
_ELLIPSIS: Final = "\u2026"
_DIRECT_CAUSE: Final = "The above exception was the direct cause of the following exception:"
_DURING_HANDLING: Final = "During handling of the above exception, another exception occurred:"


def log_to(path: Path, level: str) -> None:
    """Write the log of this process to `path`, readable by its owner only."""
    level_number = LEVELS.get(level.lower(), logging.INFO)
    try:
        path.touch(PRIVATE_FILE)
        handler = LogFileHandler(path, bounded=level_number > logging.DEBUG)
    except OSError as error:
        raise unsaved(path, error, "opened") from error
    handler.setFormatter(LogFormatter(os.environ))
    # If the log cannot be written (full disk), tracebacks must not be printed over the screen.
    logging.raiseExceptions = False
    logging.basicConfig(handlers=[handler], level=max(level_number, logging.WARNING))
    for package in _PACKAGES:
        logging.getLogger(package).setLevel(level_number)


class LogFormatter(logging.Formatter):
    """Formats a record as one line; traceback lines have a prefix that no record starts with."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._masked = Masking(named_secrets(environment))

    def format(self, record: logging.LogRecord) -> str:
        """Format the record, with its traceback if it has one."""
        head = f"{self.formatTime(record)} {record.levelname} {record.name}: "
        lines = [self._line(head + record.getMessage())]
        if record.exc_info and record.exc_info[1] is not None:
            trace = [self._line(f"    | {line}") for line in _traceback(record.exc_info[1])]
            if len(trace) > MAX_TRACEBACK_LINES:
                trace[MAX_TRACEBACK_LINES // 2 : -MAX_TRACEBACK_LINES // 2] = [f"    | {_ELLIPSIS}"]
            lines += ["    | Traceback (most recent call last):", *trace]
        return "\n".join(lines)

    def _line(self, text: str) -> str:
        visible = self._masked(make_visible(text[:MAX_LINE_BYTES]).replace("\n", "\u240a"))
        encoded = visible.encode(errors="backslashreplace")
        if len(encoded) <= MAX_LINE_BYTES and len(text) <= MAX_LINE_BYTES:
            return visible
        return encoded[: MAX_LINE_BYTES - 3].decode(errors="ignore") + _ELLIPSIS


def _traceback(error: BaseException) -> Iterator[str]:
    """The lines of a traceback; each exception's message is one line."""
    causes: list[tuple[BaseException, str]] = []
    seen: set[int] = set()
    why = ""
    current: BaseException | None = error
    while current is not None and id(current) not in seen and len(causes) < 5:
        seen.add(id(current))
        causes.append((current, why))
        cause = current.__cause__
        why = _DIRECT_CAUSE if cause is not None else _DURING_HANDLING
        current = cause or (None if current.__suppress_context__ else current.__context__)
    for exception, after in reversed(causes):
        yield from _frames(exception.__traceback__)
        yield f"{type(exception).__qualname__}: {_reason(exception)}"
        if after:
            yield after


def _frames(trace: TracebackType | None) -> Iterator[str]:
    for entry in traceback.StackSummary.extract(traceback.walk_tb(trace)).format():
        yield from entry.rstrip("\n").split("\n")


def _reason(error: BaseException) -> str:
    if isinstance(error, ValidationError):  # Its own message quotes the input.
        errors = error.errors(include_url=False, include_context=False, include_input=False)
        return "; ".join(
            f"{'.'.join(map(str, each['loc']))}: {each['type']}" for each in errors[:5]
        )
    try:
        return str(error)[:_MAX_REASON]
    except Exception:
        return "its message is not available"


@dataclass(slots=True)
class _Quota:
    """How many bytes a logger may still write."""

    left: float
    updated: float
    dropped: int = 0


class LogFileHandler(RotatingFileHandler):
    """Rotating file handler that limits how much each logger can write."""

    def __init__(self, path: Path, *, bounded: bool) -> None:
        super().__init__(path, maxBytes=MAX_FILE_BYTES, backupCount=1, encoding="utf-8")
        self._bounded = bounded
        self._quotas: dict[str, _Quota] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write the record."""
        if not super().filter(record):
            return False
        if not self._bounded:
            return True
        now = time.monotonic()
        quota = self._quotas.setdefault(record.name, _Quota(LOGGER_QUOTA, now))
        quota.left = min(LOGGER_QUOTA, quota.left + (now - quota.updated) * LOGGER_QUOTA / _DAY)
        quota.updated = now
        size = len(self.format(record).encode(errors="replace"))
        if size > quota.left:
            quota.dropped += 1
            return False
        quota.left -= size
        if quota.dropped:
            message = "%d records of this logger were dropped"
            count = (quota.dropped,)
            summary = logging.LogRecord(record.name, logging.WARNING, "", 0, message, count, None)
            quota.dropped = 0
            self.emit(summary)
        return True

    def format(self, record: logging.LogRecord) -> str:
        """Format the record once: `filter` needs its size before it is written."""
        line = record.__dict__.get("spinney_line")
        if line is None:
            line = record.__dict__["spinney_line"] = super().format(record)
        return str(line)
