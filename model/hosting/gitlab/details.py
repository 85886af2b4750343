"""Everything that is shown of a merge request."""

import asyncio
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Final, TypeVar

from model.base.errors import SpinneyError
from model.domain.hosting import Check, PullRequestDetails, PullRequestPhase, Reviewer
from model.hosting.fields import get, get_body, get_line, get_number, get_rows
from model.hosting.gitlab.answers import Project
from model.hosting.gitlab.discussions import (
    People,
    fetch_discussions,
    fetch_people,
    parse_conversation,
    parse_threads,
)
from model.hosting.gitlab.fields import MAX_BODY
from model.hosting.gitlab.glab import get_object, request
from model.hosting.gitlab.merge_requests import fetch
from model.hosting.gitlab.merging import can_merge_automatically, describe_obstacle, list_methods
from model.hosting.gitlab.pipelines import fetch_checks
from model.hosting.gitlab.projects import locate

T = TypeVar("T")

_REVIEWS: Final[dict[str, Any]] = {
    "approved": "approved",
    "requested_changes": "changes_requested",
    "reviewed": "commented",
}
"""All other states of a reviewer mean that the review is still to come."""
_WAITING: Final = ("idle", "stale", "fresh", "merging")
"""States of a merge request that is in the merge train."""


async def fetch_details(path: Path, merge_request: int | str) -> PullRequestDetails:
    """Return everything that is shown of a merge request."""
    project, number = await locate(path, merge_request)
    row, settings, approvals, reviewers, discussions = await asyncio.gather(
        fetch(project, number, "include_diverged_commits_count"),
        get_object(project, project.endpoint),
        _get_optional(project, f"{project.endpoint}/merge_requests/{number}/approvals", {}),
        _get_optional(project, f"{project.endpoint}/merge_requests/{number}/reviewers", []),
        _with_note(fetch_discussions(project, number), ([], False)),
    )
    (rows, is_longer), threads_note = discussions
    if is_longer:
        threads_note = "Only the first 1,000 threads are listed."
    required = get(settings, "only_allow_merge_if_pipeline_succeeds") is True
    may_be_queued = get(settings, "merge_trains_enabled") is True
    no_checks: list[Check] = []
    (checks, checks_note), is_queued, people = await asyncio.gather(
        _with_note(fetch_checks(project, row, required), no_checks),
        _is_queued(project, number, may_be_queued),
        _fetch_people(project, rows),
    )
    found = _to_details(row, settings, _parse_reviewers(row, approvals, reviewers))
    more = {
        "is_own": found.author == people.account if people.account else None,
        "checks": checks,
        "checks_note": checks_note,
        "threads": parse_threads(rows, row, people),
        "threads_note": threads_note,
        "conversation": parse_conversation(rows, row, people),
    }
    if is_queued:
        more |= {"phase": "queued", "can_merge": False, "merge_note": "It is in the merge train."}
    return found.model_copy(update=more)


def _to_details(row: Any, settings: Any, reviewers: list[Reviewer]) -> PullRequestDetails:
    """Convert what is known without checks, threads and the merge train."""
    is_open = get_line(row, "state") == "opened"
    obstacle = describe_obstacle(row)
    methods = list_methods(settings)
    behind = get(row, "diverged_commits_count")
    return PullRequestDetails(
        number=get_number(row, "iid") or 0,
        url=get_line(row, "web_url"),
        title=get_line(row, "title"),
        body=get_body(row, "description", MAX_BODY),
        phase=_parse_phase(row, reviewers),
        author=get_line(row, "author", "username"),
        base=get_line(row, "target_branch"),
        head=get_line(row, "source_branch"),
        head_commit=get_line(row, "sha"),
        is_from_fork=get(row, "source_project_id") != get(row, "target_project_id"),
        behind=behind if isinstance(behind, int) else None,
        reviewers=reviewers,
        merge_methods=methods,
        can_merge=not obstacle,
        merge_note=obstacle,
        can_auto_merge=is_open and can_merge_automatically(row),
        auto_merge=_parse_auto_merge(row, methods[0]),
        has_queue=get(settings, "merge_trains_enabled") is True,
        can_update=is_open and bool(behind),
        must_rebase=True,
        # GitLab does not say who may; it refuses by itself.
        can_edit=True,
        fetched_at=time.time(),
    )


async def _is_queued(project: Project, number: int, is_possible: bool) -> bool:
    """Whether the merge request is in the merge train."""
    endpoint = f"{project.endpoint}/merge_trains/merge_requests/{number}"
    none: dict[str, Any] = {}
    car = await _get_optional(project, endpoint, none) if is_possible else none
    return get_line(car, "status") in _WAITING


async def _fetch_people(project: Project, discussions: list[Any]) -> People:
    """Return who is known, if anyone has written something."""
    return await fetch_people(project) if discussions else People()


async def _get_optional(project: Project, endpoint: str, empty: T) -> T:
    """Return what an endpoint has; nothing at versions and editions of GitLab without it."""
    answer = await request(project, "GET", endpoint, accept=(401, 403, 404))
    return await answer.parse(type(empty)) if answer.status < 400 else empty  # type: ignore[type-var]


async def _with_note(reading: Coroutine[Any, Any, T], empty: T) -> tuple[T, str]:
    """Return what is read, or, if it may not be read, why."""
    try:
        return await reading, ""
    except SpinneyError as error:
        if error.error_type not in ("forbidden", "not_found"):
            raise
        return empty, error.message


def _parse_reviewers(row: Any, approvals: Any, reviewers: list[Any]) -> list[Reviewer]:
    found = {
        name: Reviewer(name=name, state="requested")
        for user in get_rows(row, "reviewers")
        if (name := get_line(user, "username"))
    }
    for each in get_rows({"rows": reviewers}, "rows"):
        if name := get_line(each, "user", "username"):
            state = _REVIEWS.get(get_line(each, "state"), "requested")
            found[name] = Reviewer(name=name, state=state)
    for each in get_rows(approvals, "approved_by"):
        if name := get_line(each, "user", "username"):
            found[name] = Reviewer(name=name, state="approved")
    return list(found.values())


def _parse_phase(row: Any, reviewers: list[Reviewer]) -> PullRequestPhase:
    match get_line(row, "state"):
        case "merged":
            return "merged"
        case "closed" | "locked":
            return "closed"
    if get(row, "draft") or get(row, "work_in_progress"):
        return "draft"
    obstacle = get_line(row, "detailed_merge_status")
    if get(row, "has_conflicts") is True or obstacle == "conflict":
        return "in_conflict"
    states = {reviewer.state for reviewer in reviewers}
    if "changes_requested" in states or obstacle == "requested_changes":
        return "changes_requested"
    return "approved" if "approved" in states and obstacle != "not_approved" else "open"


def _parse_auto_merge(row: Any, plain: Any) -> Any:
    if get(row, "merge_when_pipeline_succeeds") is not True:
        return None
    return "squash" if get(row, "squash_on_merge") or get(row, "squash") else plain
