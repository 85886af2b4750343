"""The checks of a pull request on GitHub: check runs of workflows and apps, and commit statuses."""

from collections.abc import Sequence
from math import inf
from typing import Final

from model.domain.hosting import Check, CheckState
from model.hosting.fields import Fields, get_fields, get_line, get_number, get_text, get_time

CHECK_FIELDS: Final = """
__typename
... on CheckRun {
  databaseId name status conclusion startedAt completedAt detailsUrl title
  isRequired(pullRequestNumber: $number)
  checkSuite { app { slug name } workflowRun { workflow { name } } }
}
... on StatusContext {
  context state description targetUrl createdAt isRequired(pullRequestNumber: $number)
}
"""
"""What a query asks of each check; its variable `$number` is that of the pull request."""

JOB_PREFIX: Final = "job:"
"""The beginning of the ids of those checks that are jobs of a workflow."""

_CONCLUSIONS: Final[dict[str, CheckState]] = {
    "SUCCESS": "passed",
    "NEUTRAL": "passed",
    "SKIPPED": "skipped",
    "FAILURE": "failed",
    "TIMED_OUT": "failed",
    "STARTUP_FAILURE": "failed",
    "CANCELLED": "cancelled",
    "STALE": "cancelled",
    "ACTION_REQUIRED": "waiting",
}
_RUN_STATES: Final[dict[str, CheckState]] = {"IN_PROGRESS": "running", "WAITING": "waiting"}
"""Of a check run that has not ended; it is queued in any other state."""
_STATUS_STATES: Final[dict[str, CheckState]] = {
    "SUCCESS": "passed",
    "PENDING": "running",
    "FAILURE": "failed",
    "ERROR": "failed",
}
"""Of a commit status; it is queued in any other state."""
_WORKFLOWS: Final = "github-actions"
"""The app whose check runs are jobs of workflows."""


def parse_check(fields: Fields) -> Check:
    """Convert a check run or a commit status."""
    if fields.get("__typename") == "StatusContext":
        return _parse_status(fields)
    suite = get_fields(fields, "checkSuite")
    is_job = get_fields(suite, "app").get("slug") == _WORKFLOWS
    group = get_line(get_fields(suite, "workflowRun", "workflow"), "name")
    name = get_line(fields, "name")
    number = get_number(fields, "databaseId")
    state = _parse_run_state(fields)
    has_ended = state not in ("queued", "running", "waiting", "skipped")
    return Check(
        id=f"{JOB_PREFIX if is_job else 'app:'}{number}",
        name=f"{group} / {name}" if group else name,
        state=state,
        started_at=get_time(fields, "startedAt"),
        ended_at=get_time(fields, "completedAt"),
        url=get_line(fields, "detailsUrl", limit=2000),
        summary=get_line(fields, "title"),
        has_log=is_job and number is not None and has_ended,
        is_required=_parse_required(fields),
    )


def select_newest(checks: Sequence[Fields]) -> list[Fields]:
    """Return the newest run of each check, in their order; GitHub lists those it replaced, too.

    Takes the answers of `gh pr view` as well as those of a query. A check is known by its app, its
    workflow and its name; one without a name is always kept.
    """
    newest: dict[tuple[str, ...], Fields] = {}
    # Sorting is stable: where no times are given, the later one is the newer one.
    for fields in sorted(checks, key=_get_age):
        newest[_identify(fields)] = fields
    return [
        fields for fields in checks if newest[key := _identify(fields)] is fields or not key[-1]
    ]


def _identify(fields: Fields) -> tuple[str, ...]:
    suite = get_fields(fields, "checkSuite")
    workflow = get_line(fields, "workflowName") or get_line(
        suite, "workflowRun", "workflow", "name"
    )
    context, name = get_line(fields, "context"), get_line(fields, "name")
    kind = "status" if context else "run"
    return kind, get_line(suite, "app", "slug"), workflow, context or name


def _get_age(fields: Fields) -> tuple[float, int]:
    """Return what sorts runs by their age; one that has not begun is the newest."""
    started = get_time(fields, "startedAt") or get_time(fields, "createdAt")
    if started is None:
        started = inf if get_text(fields, "status") not in ("", "COMPLETED") else -inf
    return started, get_number(fields, "databaseId") or 0


def _parse_status(fields: Fields) -> Check:
    name = get_line(fields, "context")
    return Check(
        id=f"status:{name}",
        name=name,
        state=_STATUS_STATES.get(get_text(fields, "state"), "queued"),
        started_at=get_time(fields, "createdAt"),
        url=get_line(fields, "targetUrl", limit=2000),
        summary=get_line(fields, "description"),
        is_required=_parse_required(fields),
    )


def _parse_run_state(fields: Fields) -> CheckState:
    status = get_text(fields, "status")
    if status == "COMPLETED":
        return _CONCLUSIONS.get(get_text(fields, "conclusion"), "cancelled")
    return _RUN_STATES.get(status, "queued")


def _parse_required(fields: Fields) -> bool | None:
    found = fields.get("isRequired")
    return found if isinstance(found, bool) else None
