"""The threads of a merge request, and the comments beside them."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from model.base.errors import SpinneyError
from model.domain.hosting import ReviewThread, ReviewThreadComment
from model.git.secret_gate import SearchedText
from model.hosting.conversation import RESOLVE_NOTE, arrange_conversation
from model.hosting.fields import get, get_body, get_line, get_number, get_rows, get_time
from model.hosting.gitlab.answers import Project
from model.hosting.gitlab.fields import MAX_COMMENT, REPORTER
from model.hosting.gitlab.glab import get_pages, request
from model.hosting.gitlab.merge_requests import without_quick_actions
from model.hosting.gitlab.projects import locate

_MAX_PAGES: Final = 10
_LAST: Final = 20
"""Comments of a thread that are kept beside the first one."""
_BOT: Final = re.compile(r"(?:project|group)_[0-9]{1,20}_bot(?:_|\Z)")
"""The beginning of the user names of access tokens."""
_PUSHED: Final = re.compile(r"added [0-9]{1,9} commit")
"""The beginning of what GitLab notes about a push."""
_MISSING: Final = "The thread no longer exists. Reload the merge request."


async def fetch_discussions(project: Project, number: int) -> tuple[list[Any], bool]:
    """Return all discussions as GitLab describes them, and whether there are more."""
    endpoint = f"{project.endpoint}/merge_requests/{number}/discussions"
    return await get_pages(project, endpoint, pages=_MAX_PAGES)


@dataclass(frozen=True, slots=True)
class People:
    """Who can be recognized among the authors of comments."""

    account: str = ""
    """The account that `glab` is signed in with."""
    members: frozenset[str] = frozenset()
    """The members of the project that have at least the role of a reporter."""


async def fetch_people(project: Project) -> People:
    """Return who is known; all others count as outsiders."""
    account = await request(project, "GET", "user", accept=(401, 403, 404))
    try:
        rows, _ = await get_pages(project, f"{project.endpoint}/members/all", pages=_MAX_PAGES)
    except SpinneyError as error:
        if error.error_type not in ("forbidden", "not_found"):
            raise
        rows = []
    return People(
        get_line(await account.parse(dict), "username") if account.status < 400 else "",
        frozenset(
            get_line(row, "username")
            for row in rows
            if (get_number(row, "access_level") or 0) >= REPORTER
        ),
    )


def parse_threads(discussions: list[Any], merge_request: Any, people: People) -> list[ReviewThread]:
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
            thread = _to_thread(get_line(discussion, "id"), resolvable, head)
            kept = [notes[0], *notes[1:][-_LAST:]]
            comments = [_to_comment(note, page, people) for note in kept]
            left_out = len(notes) - len(kept)
            threads.append(thread.model_copy(update={"comments": comments, "left_out": left_out}))
    return sorted(threads, key=lambda thread: thread.is_resolved)


def parse_conversation(
    discussions: list[Any], merge_request: Any, people: People
) -> list[ReviewThread]:
    """Return the comments that cannot be resolved, with what is known of their answers."""
    page = get_line(merge_request, "web_url")
    found = []
    pushed_at = None
    for discussion in discussions:
        rows = get_rows(discussion, "notes")
        notes = [note for note in rows if not get(note, "system")]
        for note in rows:
            if get(note, "system") is True and _PUSHED.match(get_line(note, "body", limit=40)):
                pushed_at = max(pushed_at or 0.0, get_time(note, "created_at") or 0.0)
        if notes and not any(get(note, "resolvable") is True for note in notes):
            kept = [notes[0], *notes[1:][-_LAST:]]
            found.append(
                ReviewThread(
                    id=get_line(discussion, "id"),
                    path="",
                    line=None,
                    resolve_note=RESOLVE_NOTE,
                    needs_answer=True,
                    comments=[_to_comment(note, page, people) for note in kept],
                    left_out=len(notes) - len(kept),
                )
            )
    is_open = get_line(merge_request, "state") == "opened"
    return arrange_conversation(found, pushed_at, is_open=is_open)


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


def _to_comment(note: Any, page: str, people: People) -> ReviewThreadComment:
    number, author = get_number(note, "id"), get_line(note, "author", "username")
    return ReviewThreadComment(
        id=str(number),
        author=author,
        body=get_body(note, "body", MAX_COMMENT),
        created_at=get_time(note, "created_at"),
        url=f"{page}#note_{number}",
        is_own=bool(author) and author == people.account,
        is_outsider=author not in (people.account, *people.members),
        is_bot=_BOT.match(author) is not None,
    )


async def reply(path: Path, merge_request: int | str, thread_id: str, text: SearchedText) -> None:
    """Add a comment to a thread; one of the conversation becomes a thread by that."""
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
