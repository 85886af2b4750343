"""Merge a merge request, or have it merged, and bring its branch up to date."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from model.base.errors import SpinneyError
from model.domain.hosting import MergeMethod
from model.hosting.fields import get, get_line
from model.hosting.gitlab.answers import Answer, Project
from model.hosting.gitlab.errors import get_message, to_error
from model.hosting.gitlab.glab import get_object, request
from model.hosting.gitlab.merge_requests import MISSING, fetch
from model.hosting.gitlab.projects import locate

_REBASE_POLLS: Final = 15
_REBASE_INTERVAL = 1.0
"""Seconds; a rebase runs in the background at GitLab."""

_OBSTACLES: Final[Mapping[str, str]] = {
    "approvals_syncing": "GitLab is still counting the approvals. Try again in a few seconds.",
    "checking": "GitLab is still checking whether it can be merged. Try again in a few seconds.",
    "ci_must_pass": "The pipeline must succeed first. Fix what failed, or start it again.",
    "ci_still_running": "The pipeline is still running. Wait for it, or merge automatically.",
    "commits_status": "It has no commits, or its branch is gone. Push the branch, then try again.",
    "conflict": "It conflicts with its base. Merge the base into the worktree, resolve the "
    "conflicts and push.",
    "discussions_not_resolved": "Not all threads are resolved. Answer and resolve them first.",
    "draft_status": "It is a draft. Mark it as ready first.",
    "external_status_checks": "External status checks must pass first.",
    "jira_association_missing": "Title or description must name a Jira issue.",
    "locked_lfs_files": "It changes locked files. Ask those who locked them.",
    "locked_paths": "It changes locked files. Ask those who locked them.",
    "merge_request_blocked": "Another merge request must be merged before it.",
    "merge_time": "It may only be merged after a certain time.",
    "need_rebase": "Its branch must be rebased on the base first.",
    "not_approved": "It needs more approvals. Ask for reviews.",
    "not_open": "It is not open.",
    "preparing": "GitLab is still preparing it. Try again in a few seconds.",
    "requested_changes": "A reviewer asked for changes. Make them, then ask for another review.",
    "security_policy_violations": "It violates a security policy of the project.",
    "status_checks_must_pass": "External status checks must pass first.",
    "title_regex": "Its title does not have the form that the project demands. Edit it.",
    "unchecked": "GitLab is still checking whether it can be merged. Try again in a few seconds.",
}
"""What to do, by `detailed_merge_status`."""
_PASSING: Final = ("ci_still_running", "not_approved", "discussions_not_resolved")
"""Obstacles that can go away while GitLab waits to merge."""


def list_methods(project: Any) -> list[MergeMethod]:
    """Return the methods that a project allows.

    A fast-forward merge, which needs a rebased branch, is the method `rebase`.
    """
    squash = get_line(project, "squash_option")
    plain: MergeMethod = "rebase" if get_line(project, "merge_method") == "ff" else "merge"
    if squash == "always":
        return ["squash"]
    return [plain] if squash == "never" else [plain, "squash"]


def describe_obstacle(merge_request: Any) -> str:
    """Return why it cannot be merged now, and the next step; empty if it can."""
    match get_line(merge_request, "state"):
        case "opened":
            pass
        case "merged":
            return "It is merged already."
        case "closed":
            return "It is closed. Open it again on its page first."
        case _:
            return _OBSTACLES["not_open"]
    status = get_line(merge_request, "detailed_merge_status")
    if not status:  # before GitLab 15.6
        known = {"can_be_merged": "mergeable", "cannot_be_merged": "conflict"}
        status = known.get(get_line(merge_request, "merge_status"), "checking")
    if status == "mergeable":
        if get(merge_request, "user", "can_merge") is False:
            base = get_line(merge_request, "target_branch")
            return (
                f"The account that glab is signed in with may not merge into '{base}'. Ask a "
                "maintainer."
            )
        return ""
    return _OBSTACLES.get(status, f"GitLab says: {status.replace('_', ' ')}.")


def can_merge_automatically(merge_request: Any) -> bool:
    """Whether GitLab can wait for what is missing."""
    return (
        get_line(merge_request, "detailed_merge_status") in _PASSING
        and get(merge_request, "user", "can_merge") is not False
    )


async def merge(
    path: Path,
    merge_request: int | str,
    method: MergeMethod,
    *,
    auto: bool,
    head_commit: str | None,
) -> None:
    """Merge, have it merged as soon as everything holds, or add it to the merge train."""
    project, number = await locate(path, merge_request)
    settings = await get_object(project, project.endpoint)
    methods = list_methods(settings)
    if method not in methods:
        raise SpinneyError(
            f"The project does not allow the method '{method}'. Choose {' or '.join(methods)}.",
            "conflict",
        )
    # The first name of the option is that of GitLab 17.11 and later.
    later = (
        "when_pipeline_succeeds"
        if get(settings, "merge_trains_enabled")
        else ("merge_when_pipeline_succeeds")
    )
    body: dict[str, Any] = {"squash": method == "squash", "auto_merge": auto, later: auto}
    if head_commit:
        body["sha"] = head_commit
    if get(settings, "merge_trains_enabled"):
        verb, endpoint = "POST", f"{project.endpoint}/merge_trains/merge_requests/{number}"
    else:
        verb, endpoint = "PUT", f"{project.endpoint}/merge_requests/{number}/merge"
    refused = (400, 401, 405, 406, 409, 422)
    answer = await request(project, verb, endpoint, body=body, accept=refused, missing=MISSING)
    if answer.status >= 400:
        raise await _explain_refusal(project, number, answer)


async def _explain_refusal(project: Project, number: int, answer: Answer) -> SpinneyError:
    said = get_message(answer)
    if answer.status == 409 or "SHA" in said:
        return SpinneyError(
            "There are new commits on the branch of the merge request. Look at them, then merge.",
            "conflict",
        )
    # The status is 401 for accounts that may not merge, too.
    merge_request = await fetch(project, number)
    if answer.status == 401 and get(merge_request, "user", "can_merge") is not False:
        return to_error(project, answer)
    if answer.status == 401:
        merge_request = {**merge_request, "detailed_merge_status": "mergeable"}
        return SpinneyError(describe_obstacle(merge_request), "forbidden")
    if obstacle := describe_obstacle(merge_request):
        return SpinneyError(obstacle, "conflict")
    return to_error(project, answer)


async def cancel_auto_merge(path: Path, merge_request: int | str) -> None:
    """Switch automatic merging off; takes it out of the merge train as well."""
    project, number = await locate(path, merge_request)
    endpoint = f"{project.endpoint}/merge_requests/{number}/cancel_merge_when_pipeline_succeeds"
    answer = await request(project, "POST", endpoint, accept=(405, 406), missing=MISSING)
    if answer.status >= 400:
        raise SpinneyError("Automatic merging is not switched on.", "conflict")


async def update_branch(path: Path, merge_request: int | str, *, rebase: bool) -> None:
    """Rebase the branch at GitLab, and wait a while for the result."""
    project, number = await locate(path, merge_request)
    if not rebase:
        raise SpinneyError(
            "GitLab brings a branch up to date only by a rebase. Choose that, or merge the base "
            "into the worktree and push.",
            "conflict",
        )
    endpoint = f"{project.endpoint}/merge_requests/{number}/rebase"
    answer = await request(project, "PUT", endpoint, accept=(403, 409), missing=MISSING)
    if answer.status == 403:
        raise SpinneyError(
            "The account that glab is signed in with may not push to the branch of the merge "
            f"request: {get_message(answer) or 'forbidden'}. Rebase it in the worktree and push.",
            "forbidden",
        )
    for _ in range(_REBASE_POLLS):
        found = await fetch(project, number, "include_rebase_in_progress")
        if not get(found, "rebase_in_progress"):
            if failure := get_line(found, "merge_error"):
                raise SpinneyError(
                    f"The branch was not rebased: {failure} Rebase it in the worktree and push.",
                    "conflict",
                )
            return
        await asyncio.sleep(_REBASE_INTERVAL)
