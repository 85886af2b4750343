"""Open merge requests, find them, read their state, and change them."""

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from model.base.errors import SpinneyError
from model.git.secret_gate import SearchedText
from model.hosting.fields import get, get_line, get_number, get_rows
from model.hosting.forge import (
    CheckStatus,
    PullRequestHead,
    PullRequestLink,
    PullRequestState,
    PullRequestStatus,
)
from model.hosting.gitlab.answers import Project
from model.hosting.gitlab.errors import get_message, to_error
from model.hosting.gitlab.fields import REPORTER
from model.hosting.gitlab.glab import get_object, get_page, query_graphql, request
from model.hosting.gitlab.projects import find_project, find_source, is_merge_request_url, locate

MISSING: Final = (
    "The merge request no longer exists. Clear it from the worktree, or save another one."
)
_DRAFT: Final = re.compile(r"(?:(?:\[draft\]|\(draft\)|draft:|\[wip\]|wip:)\s*)+", re.IGNORECASE)
_QUICK_ACTION: Final = re.compile(r"^(?=/[a-z_]+(?:[ \t\r]|$))", re.MULTILINE | re.IGNORECASE)
_PIPELINES: Final[dict[str, CheckStatus]] = {
    "success": "success",
    "skipped": "success",
    "failed": "failure",
    "canceled": "failure",
}
"""All other states of a pipeline are still pending."""
_REQUEST_AGAIN: Final = """
mutation($project: ID!, $number: String!, $user: UserID!) {
  mergeRequestReviewerRereview(input: {projectPath: $project, iid: $number, userId: $user}) {
    errors
  }
}
"""


async def open_merge_request(
    path: Path, branch: str, base: str, title: SearchedText, body: SearchedText, *, draft: bool
) -> PullRequestLink:
    """Open a merge request for a pushed branch; return the open one if there is one already."""
    target, source = await find_project(path), await find_source(path, branch)
    fields: dict[str, Any] = {
        "source_branch": branch,
        "target_branch": base,
        "title": mark_draft(title, draft),
        "description": without_quick_actions(body),
    }
    if source.path.casefold() != target.path.casefold():
        fields["target_project_id"] = get_number(await get_object(target, target.endpoint), "id")
    endpoint = f"{source.endpoint}/merge_requests"
    answer = await request(source, "POST", endpoint, body=fields, accept=(400, 409, 422))
    if answer.status < 400:
        return parse_link(await answer.parse(dict))
    # The reason is looked up, because not every version of glab passes it on.
    if answer.status == 409:
        owners = (source.path.rpartition("/")[0],)
        if found := await _find_open(target, branch, owners, ("target_branch", base)):
            return found
    if not await _has_branch(target, base):
        raise SpinneyError(
            f"'{base}' is not a branch on GitLab, so nothing can be merged into it. Push it first.",
            "conflict",
        )
    raise to_error(source, answer)


async def _has_branch(project: Project, branch: str) -> bool:
    answer = await request(project, "GET", _branch_endpoint(project, branch), accept=(404,))
    return answer.status != 404


def _branch_endpoint(project: Project, branch: str) -> str:
    return f"{project.endpoint}/repository/branches/{quote(branch, safe='')}"


async def find_open_merge_request(
    path: Path, branch: str, owners: Collection[str]
) -> PullRequestLink | None:
    """Return the newest open merge request for `branch` in a project of one of the owners."""
    return await _find_open(await find_project(path), branch, owners)


async def _find_open(
    project: Project, branch: str, owners: Collection[str], *further: tuple[str, str]
) -> PullRequestLink | None:
    query = (("state", "opened"), ("source_branch", branch), ("scope", "all"), *further)
    accepted = {owner.casefold() for owner in owners}
    for row in (await get_page(project, f"{project.endpoint}/merge_requests", query, 1))[:30]:
        owner = await _find_owner(project, row)
        if owner.casefold() in accepted:
            return parse_link(row)
    return None


async def _find_owner(project: Project, row: Any) -> str:
    source = get_number(row, "source_project_id")
    if source in (None, get_number(row, "project_id")):
        return project.path.rpartition("/")[0]
    found = await _fetch_source(project, source)
    return get_line(found, "namespace", "full_path")


async def _fetch_source(project: Project, source_id: int) -> Any:
    """Return the project of the head; `None` if it was deleted or cannot be seen."""
    answer = await request(project, "GET", f"projects/{source_id}", accept=(403, 404))
    return await answer.parse(dict) if answer.status < 400 else None


async def fetch_head(project: Project, number: int) -> PullRequestHead:
    """Return the branch that a merge request proposes, and its project."""
    row = await fetch(project, number)
    source = get_number(row, "source_project_id")
    is_from_fork = source != get_number(row, "target_project_id")
    owner, _, name = project.path.rpartition("/")
    if is_from_fork:
        found = await _fetch_source(project, source) if source else None
        owner, name = get_line(found, "namespace", "full_path"), get_line(found, "path")
    return PullRequestHead(get_line(row, "source_branch"), owner, name, is_from_fork)


async def fetch(project: Project, number: int, *options: str) -> dict[str, Any]:
    """Return a merge request as GitLab describes it."""
    endpoint = f"{project.endpoint}/merge_requests/{number}"
    query = [(option, "true") for option in options]
    found: dict[str, Any] = await get_object(project, endpoint, query, MISSING)
    return found


async def fetch_link(project: Project, number: int) -> PullRequestLink:
    """Return the URL of the merge request with this number."""
    return parse_link(await fetch(project, number))


async def fetch_state(
    path: Path, merge_request: int | str, version: str
) -> tuple[PullRequestState | None, str]:
    """Return the state and its version; no state if it is still the one of the given version."""
    project, number = await locate(path, merge_request)
    endpoint = f"{project.endpoint}/merge_requests/{number}"
    headers = [f"If-None-Match: {version}"] if version else []
    answer = await request(project, "GET", endpoint, headers=headers, missing=MISSING)
    if answer.status == 304:
        return None, version
    return parse_state(await answer.parse(dict)), answer.headers.get("etag", "")


def parse_state(row: Any) -> PullRequestState:
    """Convert a merge request; `review` means that a review was requested or given."""
    pipeline = get_line(row, "head_pipeline", "status")
    checks: CheckStatus | None = _PIPELINES.get(pipeline, "pending") if pipeline else None
    return PullRequestState(_parse_status(row), checks)


def _parse_status(row: Any) -> PullRequestStatus:
    match get_line(row, "state"):
        case "merged":
            return "merged"
        case "closed":
            return "closed"
    if get(row, "draft") or get(row, "work_in_progress"):
        return "draft"
    wants_changes = get_line(row, "detailed_merge_status") == "requested_changes"
    return "review" if wants_changes or get_rows(row, "reviewers") else "open"


def parse_link(row: Any) -> PullRequestLink:
    """Return number and URL of a merge request."""
    number, url = get_number(row, "iid"), get_line(row, "web_url")
    if not number or not is_merge_request_url(url):
        raise SpinneyError("glab did not return the URL of the merge request.", "backend_error")
    return PullRequestLink(number, url)


async def set_draft(path: Path, merge_request: int | str, draft: bool) -> None:
    """Mark a merge request as a draft, by its title as GitLab does, or as ready."""
    project, number = await locate(path, merge_request)
    title = get_line(await fetch(project, number), "title")
    await _change(project, number, {"title": mark_draft(title, draft)})


def mark_draft(title: str, draft: bool) -> str:
    """Return the title with or without the mark of a draft."""
    if found := _DRAFT.match(title):
        title = title[found.end() :]
    return f"Draft: {title}" if draft else title


async def edit(
    path: Path, merge_request: int | str, title: SearchedText | None, body: SearchedText | None
) -> None:
    """Change title or description."""
    project, number = await locate(path, merge_request)
    changes: dict[str, str] = {} if title is None else {"title": title}
    if body is not None:
        changes["description"] = without_quick_actions(body)
    if changes:
        await _change(project, number, changes)


def without_quick_actions(text: str) -> str:
    """Return the text so that none of its lines is a command to GitLab, such as `/merge`."""
    return _QUICK_ACTION.sub(r"\\", text)


async def _change(project: Project, number: int, changes: dict[str, Any]) -> dict[str, Any]:
    endpoint = f"{project.endpoint}/merge_requests/{number}"
    answer = await request(project, "PUT", endpoint, body=changes, missing=MISSING)
    changed: dict[str, Any] = await answer.parse(dict)
    return changed


async def list_possible_reviewers(path: Path) -> list[str]:
    """Return the members who can review, at most 100."""
    project = await find_project(path)
    query = (("state", "active"),)
    members = await get_page(project, f"{project.endpoint}/members/all", query, 1)
    names = [
        get_line(row, "username")
        for row in members
        if (get_number(row, "access_level") or 0) >= REPORTER
    ]
    return [name for name in names if name]


async def request_review(path: Path, merge_request: int | str, reviewers: Sequence[str]) -> None:
    """Ask for reviews; those who have given one are asked again."""
    project, number = await locate(path, merge_request)
    present = {
        get_line(user, "username").casefold(): get_number(user, "id") or 0
        for user in get_rows(await fetch(project, number), "reviewers")
    }
    new = [name for name in reviewers if name.casefold() not in present]
    for name in reviewers:
        if name not in new:
            await _request_again(project, number, present[name.casefold()])
    if not new:
        return
    ids = [*present.values(), *[await _find_user(project, name) for name in new]]
    changed = await _change(project, number, {"reviewer_ids": ids})
    taken = {get_line(user, "username").casefold() for user in get_rows(changed, "reviewers")}
    if left := [name for name in new if name.casefold() not in taken]:
        raise SpinneyError(
            f"GitLab did not accept {', '.join(left)} as reviewer. Without GitLab Premium a merge "
            "request has one reviewer, who must be able to see the project.",
            "conflict",
        )


async def _find_user(project: Project, name: str) -> int:
    query = (("username", name),)
    rows = await (await request(project, "GET", "users", query=query)).parse(list)
    if not rows or not (found := get_number(rows[0], "id")):
        raise SpinneyError(f"There is no user '{name}' at {project.host}.", "not_found")
    return found


async def _request_again(project: Project, number: int, user_id: int) -> None:
    wanted = {
        "project": project.path,
        "number": str(number),
        "user": f"gid://gitlab/User/{user_id}",
    }
    found = await query_graphql(project, _REQUEST_AGAIN, wanted)
    if errors := get(found, "mergeRequestReviewerRereview", "errors"):
        raise SpinneyError(f"GitLab refused: {get_line({'text': str(errors)}, 'text')}", "conflict")


async def delete_branch(path: Path, branch: str) -> None:
    """Delete a branch where it was pushed to; does nothing if it does not exist."""
    project = await find_source(path, branch)
    answer = await request(project, "DELETE", _branch_endpoint(project, branch), accept=(404,))
    if answer.status == 404 and "Project" in get_message(answer):
        raise to_error(project, answer)
