"""The end of the log of a workflow's job, as far as it belongs to the steps that failed."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from model.base.errors import SpinneyError
from model.domain.hosting import Check, CheckLog
from model.hosting.fields import get_rows, get_text
from model.hosting.github.api import Repository, download, request
from model.hosting.github.checks import JOB_PREFIX
from model.hosting.log_end import LogEnd

_SECOND: Final = len("2026-01-01T00:00:00")
"""Characters of a time up to its seconds; in this form times can be compared as text."""
_TIME: Final = re.compile(rb"(?m)^(?:\xef\xbb\xbf)?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)[^\nZ]{0,10}Z ")
"""What each line of a log begins with."""

Span = tuple[str, str]
"""The first and the last second of a step."""


class StepSelector:
    """Selects the lines of certain steps. A line without a time belongs to the line before it.

    Args:
        spans: When these steps began and ended.
    """

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = [(start.encode(), end.encode()) for start, end in spans]
        self._is_in_span = False

    def select(self, lines: bytes) -> bytes:
        """Return those of the next lines that belong to the steps."""
        found = {self._is_in_span, *map(self._has, set(_TIME.findall(lines)))}
        if len(found) == 1:
            return lines if self._is_in_span else b""
        return b"".join(line + b"\n" for line in lines.split(b"\n")[:-1] if self._is_wanted(line))

    def _is_wanted(self, line: bytes) -> bool:
        if time := _TIME.match(line):
            self._is_in_span = self._has(time[1])
        return self._is_in_span

    def _has(self, second: bytes) -> bool:
        return any(start <= second <= end for start, end in self._spans)


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
        job = await (await request(path, repository.host, endpoint)).parse()
        end = LogEnd(_without_time, StepSelector(_find_failed_spans(job)).select)
        await download(path, repository.host, f"{endpoint}/logs", end.take)
    except SpinneyError as error:
        if error.error_type != "not_found":
            raise
        raise SpinneyError(
            f"The log of '{check.name}' is not on GitHub any more. Run the check again, for "
            f"example from {check.url}.",
            "not_found",
        ) from error
    text, left_out = await asyncio.to_thread(end.finish)
    return CheckLog(check_id=check.id, name=check.name, text=text, left_out=left_out, url=check.url)


def _find_failed_spans(job: Any) -> list[Span]:
    return [
        (get_text(step, "started_at")[:_SECOND], get_text(step, "completed_at")[:_SECOND] or "9")
        for step in get_rows(job, "steps")
        if step.get("conclusion") in ("failure", "timed_out") and get_text(step, "started_at")
    ]


def _without_time(line: str) -> str:
    return _TIME.sub(b"", line.encode(), count=1).decode()
