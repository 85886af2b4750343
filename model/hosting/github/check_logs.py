"""The end of the log of a workflow's job, as far as it belongs to the steps that failed.

A log may have hundreds of megabytes: it is read line by line, and only its end is kept.
"""

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import make_output_visible
from model.domain.hosting import Check, CheckLog
from model.hosting.fields import Fields, get_text
from model.hosting.github.api import Repository, download, request
from model.hosting.github.checks import JOB_PREFIX

MAX_LINES: Final = 200
MAX_CHARACTERS: Final = 64_000
_MAX_LINE: Final = 2000
"""Bytes that are kept of a line."""
_SECOND: Final = len("2026-01-01T00:00:00")
"""Characters of a time up to its seconds; in this form times can be compared as text. Each line of
a log begins with one, whose fraction of at most 8 characters and `Z ` follow."""

Span = tuple[str, str]
"""The first and the last second of a step."""


class LogEnd:
    """Keeps the last lines of a log that is passed to it piece by piece.

    Args:
        spans: When the steps began and ended whose lines are wanted; without any, all lines are.
    """

    def __init__(self, spans: Sequence[Span] = ()) -> None:
        self._spans = spans
        self._wanted: deque[str] = deque(maxlen=MAX_LINES)
        self._all: deque[str] = deque(maxlen=MAX_LINES)
        self._wanted_count = 0
        self._all_count = 0
        self._line = bytearray()
        self._is_in_span = False

    def take(self, piece: bytes) -> None:
        """Read the next piece."""
        first, *others = piece.split(b"\n")
        self._extend(first)
        for line in others:
            self._end_line()
            self._extend(line)

    def finish(self) -> tuple[str, int]:
        """Return the last lines, and how many before them are left out."""
        if self._line:
            self._end_line()
        lines, number = self._wanted, self._wanted_count
        if not lines:
            lines, number = self._all, self._all_count
        kept: deque[str] = deque()
        size = 0
        for raw in reversed(lines):
            line = make_output_visible(raw.rstrip())
            size += len(line) + 1
            if size > MAX_CHARACTERS:
                break
            kept.appendleft(line)
        return "\n".join(kept), number - len(kept)

    def _extend(self, part: bytes) -> None:
        self._line += part[: _MAX_LINE - len(self._line)]

    def _end_line(self) -> None:
        line = self._line.decode("utf-8", "replace").removeprefix("\ufeff")
        self._line.clear()
        second, text = _split_time(line)
        if second:
            self._is_in_span = any(start <= second <= end for start, end in self._spans)
        self._all.append(text)
        self._all_count += 1
        if self._is_in_span:
            self._wanted.append(text)
            self._wanted_count += 1


async def fetch_check_log(path: Path, repository: Repository, check: Check) -> CheckLog:
    """Return the end of the log of a check that is a job. Raises `conflict` for other checks."""
    if not check.id.startswith(JOB_PREFIX):
        raise SpinneyError(
            f"'{check.name}' is reported by an app, whose log is not on GitHub. See "
            f"{check.url or 'the page of the pull request'}.",
            "conflict",
        )
    if not check.has_log:
        raise SpinneyError(
            f"'{check.name}' has no log yet. Try again when it has ended.", "conflict"
        )
    endpoint = f"{repository.endpoint}/actions/jobs/{check.id.removeprefix(JOB_PREFIX)}"
    try:
        job = (await request(path, repository.host, endpoint)).parse()
        end = LogEnd(_find_failed_spans(job if isinstance(job, dict) else {}))
        await download(path, repository.host, f"{endpoint}/logs", end.take)
    except SpinneyError as error:
        if error.error_type != "not_found":
            raise
        raise SpinneyError(
            f"The log of '{check.name}' is not on GitHub any more. Run the check again, for "
            f"example from {check.url}.",
            "not_found",
        ) from error
    text, left_out = end.finish()
    return CheckLog(check_id=check.id, name=check.name, text=text, left_out=left_out, url=check.url)


def _find_failed_spans(job: Fields) -> list[Span]:
    steps = job.get("steps")
    return [
        (get_text(step, "started_at")[:_SECOND], get_text(step, "completed_at")[:_SECOND] or "9")
        for step in (steps if isinstance(steps, list) else ())
        if isinstance(step, dict)
        and step.get("conclusion") in ("failure", "timed_out")
        and get_text(step, "started_at")
    ]


def _split_time(line: str) -> Span:
    """Return the second that a line begins with, or an empty text, and the rest of the line."""
    before, _, text = line.partition("Z ")
    if _SECOND <= len(before) <= _SECOND + 10 and before[4] == "-" and before[10] == "T":
        return before[:_SECOND], text
    return "", line
