"""Files with the text of a worktree's issue or pull request, for the agents that work there.

`contexts/<worktree>/issue-12.md` in the data directory: title, link, description and comments, of
bounded size. The text is untrusted. The first message of each session passes it to the agent as
such (`model/chat/user_messages.py`).
"""

import asyncio
import json
import logging
from pathlib import Path
from typing import Any, Final

from model.base.errors import SpinneyError
from model.base.paths import create_private_directory, write_atomically
from model.base.text import clean_line, make_visible
from model.domain.worktrees import IssueContext, PullRequestContext
from model.hosting.github.gh import gh

FETCH_TIMEOUT: Final = 15.0
"""Seconds for the hosting service to return comments and link; then they are omitted."""

_MAX_BODY: Final = 32_000
_MAX_COMMENT: Final = 8_000
_MAX_COMMENTS: Final = 30
_MAX_CHARACTERS: Final = 64_000
"""Characters of the whole file."""

_FIELDS: Final = "--json=title,body,url,author"

_log = logging.getLogger(__name__)


class IssueContextStore:
    """Writes and finds the context files, by worktree."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._fetching: dict[str, asyncio.Event] = {}

    async def save(
        self,
        worktree_id: str,
        root: Path,
        issue: IssueContext | None,
        pull_request: PullRequestContext | None,
    ) -> None:
        """Write the given text and details from the hosting service of the repository at `root`.

        Details that do not arrive in time are omitted.
        """
        item = issue or pull_request
        if item is None:
            return
        self._fetching[worktree_id] = asyncio.Event()
        try:
            kind = "issue" if issue is not None else "pull-request"
            details = await _fetch_details(
                root, "issue" if issue is not None else "pr", item.number
            )
            given = {"title": item.title, "body": (issue and issue.body) or ""}
            text = _format(kind.replace("-", " "), item.number, {**given, **details})
            folder = self._directory / worktree_id
            await asyncio.to_thread(_write, folder / f"{kind}-{item.number}.md", text)
        except OSError as error:
            _log.warning("context of worktree %s was not saved: %s", worktree_id, error.strerror)
        finally:
            self._fetching.pop(worktree_id).set()

    async def find_file(self, worktree_id: str) -> Path | None:
        """Return the context file of a worktree, or `None`; waits until it has been written."""
        if (fetching := self._fetching.get(worktree_id)) is not None:
            await fetching.wait()
        folder = self._directory / worktree_id
        return await asyncio.to_thread(lambda: next(iter(sorted(folder.glob("*.md"))), None))


async def _fetch_details(root: Path, kind: str, number: int) -> dict[str, Any]:
    """Return title, body, link and comments from `gh`; empty if it fails."""
    for fields in (f"{_FIELDS},comments", _FIELDS):  # comments may exceed the output limit
        try:
            async with asyncio.timeout(FETCH_TIMEOUT):
                details = json.loads(await gh(root, kind, "view", str(number), fields))
        except (SpinneyError, TimeoutError) as error:
            _log.info("no details of %s %d, using the given text: %s", kind, number, error)
            break
        except ValueError:
            continue
        if isinstance(details, dict):
            return {key: value for key, value in details.items() if value}
    return {}


def _format(kind: str, number: int, details: dict[str, Any]) -> str:
    parts = [f"# {kind.capitalize()} #{number}: {_to_line(details.get('title'))}"]
    if url := _to_line(details.get("url")):
        parts.append(f"Link: {url}")
    author = _author(details)
    parts.append(_truncate(details.get("body"), _MAX_BODY) or "(no description)")
    if author:
        parts.insert(-1, f"Written by {author}:")
    comments = details.get("comments")
    for comment in comments[-_MAX_COMMENTS:] if isinstance(comments, list) else ():
        if isinstance(comment, dict):
            parts.append(f"## Comment by {_author(comment) or 'unknown'}")
            parts.append(_truncate(comment.get("body"), _MAX_COMMENT))
    return _truncate("\n\n".join(parts), _MAX_CHARACTERS) + "\n"


def _author(item: dict[str, Any]) -> str:
    author = item.get("author")
    return _to_line(author.get("login")) if isinstance(author, dict) else ""


def _to_line(value: object) -> str:
    return clean_line(value[:500]) if isinstance(value, str) else ""


def _truncate(value: object, limit: int) -> str:
    text = value if isinstance(value, str) else ""
    shown = make_visible(text[:limit]).strip()
    return shown if len(text) <= limit else f"{shown}\n[… {len(text) - limit} more characters]"


def _write(path: Path, text: str) -> None:
    create_private_directory(path.parent.parent)
    create_private_directory(path.parent)
    write_atomically(path, text.encode())
