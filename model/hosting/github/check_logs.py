"""The end of the log of a workflow's job, as far as it belongs to the steps that failed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from model.base.errors import SpinneyError
from model.domain.hosting import Check, CheckLog
from model.hosting.fields import get_rows, get_text
from model.hosting.github.api import Repository, download, request
from model.hosting.github.checks import JOB_PREFIX
from model.hosting.log_end import LogEnd, LogLine

_SECOND: Final = len("2026-01-01T00:00:00")
"""Characters of a time up to its seconds; in this form times can be compared as text. Each line of
a log begins with one, whose fraction of at most 8 characters and `Z ` follow."""

Span = tuple[str, str]
"""The first and the last second of a step."""


class StepReader:
    """Reads the lines of a log; those of certain steps are wanted.

    Args:
        spans: When these steps began and ended.
    """

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        self._is_in_span = False

    def read_line(self, line: str) -> LogLine:
        """Read the next line. One without a time belongs to the line before it."""
        second, text = _split_time(line)
        if second:
            self._is_in_span = any(start <= second <= end for start, end in self._spans)
        return LogLine(text, self._is_in_span)


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
        end = LogEnd(StepReader(_find_failed_spans(job)).read_line)
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


def _find_failed_spans(job: Any) -> list[Span]:
    return [
        (get_text(step, "started_at")[:_SECOND], get_text(step, "completed_at")[:_SECOND] or "9")
        for step in get_rows(job, "steps")
        if step.get("conclusion") in ("failure", "timed_out") and get_text(step, "started_at")
    ]


def _split_time(line: str) -> Span:
    """Return the second that a line begins with, or an empty text, and the rest of the line."""
    before, _, text = line.partition("Z ")
    if _SECOND <= len(before) <= _SECOND + 10 and before[4] == "-" and before[10] == "T":
        return before[:_SECOND], text
    return "", line
