"""The threads of a merge request."""

from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from model.domain.hosting import ReviewThread, ReviewThreadComment
from model.hosting.gitlab.answers import Project
from model.hosting.gitlab.fields import (
    MAX_COMMENT,
    get,
    get_line,
    get_number,
    get_rows,
    get_text,
    get_time,
)
from model.hosting.gitlab.glab import get_pages, request
from model.hosting.gitlab.merge_requests import without_quick_actions
from model.hosting.gitlab.projects import locate

_MAX_PAGES: Final = 10
_MAX_COMMENTS: Final = 100
"""Of a thread; the newest."""
_MISSING: Final = "The thread no longer exists. Reload the merge request."


async def fetch_discussions(project: Project, number: int) -> tuple[list[Any], bool]:
    """Return all discussions as GitLab describes them, and whether there are more."""
    endpoint = f"{project.endpoint}/merge_requests/{number}/discussions"
    return await get_pages(project, endpoint, pages=_MAX_PAGES)


def parse_threads(discussions: list[Any], merge_request: Any) -> list[ReviewThread]:
    """Return the discussions that can be resolved, the unresolved ones first.

    One that is on no place of the changes has an empty path.
    """
    head = get_line(merge_request, "diff_refs", "head_sha")
    page = get_line(merge_request, "web_url")
    threads = []
    for discussion in discussions:
        notes = [note for note in get_rows(discussion, "notes") if not get(note, "system")]
        resolvable = [note for note in notes if get(note, "resolvable") is True]
        if resolvable:
            threads.append(_to_thread(get_line(discussion, "id"), notes, resolvable, head, page))
    return sorted(threads, key=lambda thread: thread.is_resolved)


def _to_thread(
    thread_id: str, notes: list[Any], resolvable: list[Any], head: str, page: str
) -> ReviewThread:
    position = get(resolvable[0], "position")
    # A position follows the lines with each push until they change; then it keeps its commit.
    is_outdated = bool(head) and get_line(position, "head_sha") not in ("", head)
    line = get_number(position, "new_line")
    return ReviewThread(
        id=thread_id,
        path=get_line(position, "new_path") or get_line(position, "old_path"),
        line=line if line and not is_outdated else None,
        is_resolved=all(get(note, "resolved") is True for note in resolvable),
        is_outdated=is_outdated,
        comments=[_to_comment(note, page) for note in notes[-_MAX_COMMENTS:]],
    )


def _to_comment(note: Any, page: str) -> ReviewThreadComment:
    number = get_number(note, "id")
    return ReviewThreadComment(
        id=str(number),
        author=get_line(note, "author", "username"),
        body=get_text(note, "body", MAX_COMMENT),
        created_at=get_time(note, "created_at"),
        url=f"{page}#note_{number}",
    )


async def reply(path: Path, merge_request: int | str, thread_id: str, text: str) -> None:
    """Add a comment to a thread."""
    project, number = await locate(path, merge_request)
    body = {"body": without_quick_actions(text)}
    endpoint = f"{_endpoint(project, number, thread_id)}/notes"
    await request(project, "POST", endpoint, body=body, missing=_MISSING)


async def resolve(path: Path, merge_request: int | str, thread_id: str) -> None:
    """Mark a thread as resolved."""
    project, number = await locate(path, merge_request)
    endpoint = _endpoint(project, number, thread_id)
    await request(project, "PUT", endpoint, body={"resolved": True}, missing=_MISSING)


def _endpoint(project: Project, number: int, thread_id: str) -> str:
    return f"{project.endpoint}/merge_requests/{number}/discussions/{quote(thread_id, safe='')}"
