"""Issues and merge requests to begin work from, and their texts."""

from pathlib import Path
from typing import Any, Final

from model.base.errors import SpinneyError
from model.domain.hosting import ItemState, OpenIssue, OpenPullRequest, WorkKind
from model.hosting.fields import get, get_body, get_line, get_number, get_time
from model.hosting.forge import ItemQuery, ItemText
from model.hosting.gitlab.answers import Project
from model.hosting.gitlab.fields import MAX_BODY, MAX_COMMENT, get_labels, get_names, get_state
from model.hosting.gitlab.glab import get_object, get_page
from model.hosting.gitlab.merge_requests import fetch_head
from model.hosting.gitlab.pipelines import fetch_run, find_merge_request
from model.hosting.gitlab.projects import find_project
from model.hosting.gitlab.vulnerabilities import fetch_vulnerability_text

MAX_COMMENTS: Final = 30
"""Comments of an item; the newest."""
_NAMES: Final = {"issue": "issue", "pull_request": "merge request", "workflow_run": "pipeline"}


async def list_issues(path: Path, query: ItemQuery) -> list[OpenIssue]:
    """Return a page of issues, the newest first."""
    rows = await _list_items(path, "issues", query, _to_states(query.state))
    return [
        OpenIssue(
            id=str(get_number(row, "iid") or ""),
            number=get_number(row, "iid") or 0,
            title=get_line(row, "title"),
            state=get_state(row),
            url=get_line(row, "web_url"),
            author=get_line(row, "author", "username"),
            updated_at=get_time(row, "updated_at"),
            body=get_body(row, "description", MAX_BODY),
            labels=get_labels(row),
            assignees=get_names(row, "assignees"),
            comment_count=get_number(row, "user_notes_count") or 0,
        )
        for row in rows
    ]


async def list_merge_requests(path: Path, query: ItemQuery) -> list[OpenPullRequest]:
    """Return a page of merge requests, the newest first; those merged are among the closed."""
    states = ("closed", "merged") if query.state == "closed" else _to_states(query.state)
    rows = await _list_items(path, "merge_requests", query, states)
    return [
        OpenPullRequest(
            id=str(get_number(row, "iid") or ""),
            number=get_number(row, "iid") or 0,
            title=get_line(row, "title"),
            state=get_state(row),
            url=get_line(row, "web_url"),
            author=get_line(row, "author", "username"),
            updated_at=get_time(row, "updated_at"),
            head_ref_name=get_line(row, "source_branch"),
            base_ref_name=get_line(row, "target_branch"),
            is_from_fork=get(row, "source_project_id") != get(row, "target_project_id"),
            draft=get(row, "draft") is True or get(row, "work_in_progress") is True,
            labels=get_labels(row),
            assignees=get_names(row, "assignees"),
            comment_count=get_number(row, "user_notes_count") or 0,
        )
        for row in rows
    ]


def _to_states(state: ItemState) -> tuple[str, ...]:
    return ("opened",) if state == "open" else (state,)


async def _list_items(
    path: Path, kind: str, wanted: ItemQuery, states: tuple[str, ...]
) -> list[Any]:
    """Return a page of each of the states, together; as long as a page while there is more."""
    project = await find_project(path)
    query = [("with_labels_details", "true"), ("order_by", "created_at"), ("sort", "desc")]
    number = wanted.search.lstrip("#!")
    if number != wanted.search and number.isdecimal():
        query.append(("iids[]", number))
    elif wanted.search:
        query.append(("search", wanted.search))
    if wanted.labels:
        query.append(("labels", ",".join(wanted.labels)))
    # Without `scope`, only the person's own merge requests would be listed by some versions.
    query.append(("scope", "assigned_to_me" if wanted.assignee == "@me" else "all"))
    if wanted.assignee and wanted.assignee != "@me":
        query.append(("assignee_username[]", wanted.assignee))
    rows: list[Any] = []
    for state in states:
        rows += await get_page(
            project, f"{project.endpoint}/{kind}", (*query, ("state", state)), wanted.page
        )
    rows.sort(key=lambda row: get_time(row, "created_at") or 0.0, reverse=True)
    return rows


async def fetch_text(path: Path, kind: WorkKind, item_id: str) -> ItemText:
    """Return the text of an item, with comments or the end of a log."""
    project = await find_project(path)
    if kind == "security_alert":
        return await fetch_vulnerability_text(project, item_id)
    if kind not in _NAMES or not item_id.isdecimal():
        raise SpinneyError(f"GitLab has no such item: '{item_id}'.", "not_found")
    missing = f"The {_NAMES[kind]} {item_id} does not exist, or was deleted."
    if kind == "workflow_run":
        return await _fetch_run_text(project, int(item_id), missing)
    collection = "issues" if kind == "issue" else "merge_requests"
    endpoint = f"{project.endpoint}/{collection}/{int(item_id)}"
    row = await get_object(project, endpoint, missing=missing)
    query = (("sort", "desc"), ("order_by", "created_at"), ("activity_filter", "only_comments"))
    notes = [
        note
        for note in await get_page(project, f"{endpoint}/notes", query, 1)
        if not get(note, "system")
    ]
    facts = [
        ("state", get_state(row)),
        ("labels", ", ".join(label.name for label in get_labels(row))),
        ("milestone", get_line(row, "milestone", "title")),
        ("head", get_line(row, "source_branch")),
        ("base", get_line(row, "target_branch")),
    ]
    return ItemText(
        title=get_line(row, "title"),
        url=get_line(row, "web_url"),
        author=get_line(row, "author", "username"),
        body=get_body(row, "description", MAX_BODY),
        facts=[(name, value) for name, value in facts if value],
        comments=[
            (get_line(note, "author", "username"), get_body(note, "body", MAX_COMMENT))
            for note in reversed(notes[:MAX_COMMENTS])
        ],
    )


async def _fetch_run_text(project: Project, number: int, missing: str) -> ItemText:
    pipeline, jobs, log = await fetch_run(project, number, missing)
    branch, fork = get_line(pipeline, "ref"), ""
    if merge_request := find_merge_request(branch):
        head = await fetch_head(project, merge_request)
        branch = head.branch
        fork = f"{head.owner}/{head.repository}" if head.is_from_fork else ""
    facts = [
        ("state", get_line(pipeline, "status")),
        ("branch", branch),
        ("fork", fork),
        ("commit", get_line(pipeline, "sha")),
        ("source", get_line(pipeline, "source")),
        ("checks", ", ".join(get_line(job, "name") for job in jobs[:20])),
        ("error", get_line(pipeline, "yaml_errors")),
    ]
    return ItemText(
        title=get_line(pipeline, "name") or f"Pipeline {number}",
        url=get_line(pipeline, "web_url"),
        author=get_line(pipeline, "user", "username"),
        facts=[(name, value) for name, value in facts if value],
        log=log,
    )
