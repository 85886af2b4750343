"""The threads of a merge request."""

from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from model.domain.hosting import ReviewThread, ReviewThreadComment
from model.hosting.fields import get_time
from model.hosting.gitlab.answers import Project
from model.hosting.gitlab.fields import (
    MAX_COMMENT,
    get,
    get_line,
    get_number,
    get_rows,
    get_text,
)
from model.hosting.gitlab.glab import get_pages, request
from model.hosting.gitlab.merge_requests import without_quick_actions
from model.hosting.gitlab.projects import locate

_MAX_PAGES: Final = 10
_LAST: Final = 20
"""Comments of a thread that are kept beside the first one."""
_MISSING: Final = "The thread no longer exists. Reload the merge request."


async def fetch_discussions(project: Project, number: int) -> tuple[list[Any], bool]:
    """Return all discussions as GitLab describes them, and whether there are more."""
    endpoint = f"{project.endpoint}/merge_requests/{number}/discussions"
    return await get_pages(project, endpoint, pages=_MAX_PAGES)


def parse_threads(discussions: list[Any], merge_request: Any, account: str) -> list[ReviewThread]:
    """Return the discussions that can be resolved, the unresolved ones first.

    One that is on no place of the changes has an empty path. `account` is the name of the account
    that `glab` is signed in with.
    """
    head = get_line(merge_request, "diff_refs", "head_sha")
    page = get_line(merge_request, "web_url")
    threads = []
    for discussion in discussions:
        notes = [note for note in get_rows(discussion, "notes") if not get(note, "system")]
        resolvable = [note for note in notes if get(note, "resolvable") is True]
        if resolvable:
            thread = _to_thread(get_line(discussion, "id"), resolvable, head)
            kept = [notes[0], *notes[1:][-_LAST:]]
            comments = [_to_comment(note, page, account) for note in kept]
            left_out = len(notes) - len(kept)
            threads.append(thread.model_copy(update={"comments": comments, "left_out": left_out}))
    return sorted(threads, key=lambda thread: thread.is_resolved)


def _to_thread(thread_id: str, resolvable: list[Any], head: str) -> ReviewThread:
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
    )


def _to_comment(note: Any, page: str, account: str) -> ReviewThreadComment:
    number, author = get_number(note, "id"), get_line(note, "author", "username")
    return ReviewThreadComment(
        id=str(number),
        author=author,
        body=get_text(note, "body", MAX_COMMENT),
        created_at=get_time(note, "created_at"),
        url=f"{page}#note_{number}",
        is_own=bool(account) and author == account,
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
