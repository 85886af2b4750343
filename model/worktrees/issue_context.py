"""What the issue or pull request of a worktree says, for the agents that work there.

`contexts/<worktree>/issue-12.md` in the data directory: title, link, description and comments, of
bounded size. It is other people's text. Each session's first message hands it to the agent as such
(`model/chat/user_messages.py`).
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
from model.hosting.gh import gh

READING_TIME: Final = 15.0
"""Seconds that the hosting service has to tell comments and link; then it goes without them."""

_LONGEST_BODY: Final = 32_000
_LONGEST_COMMENT: Final = 8_000
_MOST_COMMENTS: Final = 30
_LONGEST: Final = 64_000
"""Characters of all of it."""

_FIELDS: Final = "--json=title,body,url,author"

_log = logging.getLogger(__name__)


class Contexts:
    """The files, by worktree."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._reading: dict[str, asyncio.Event] = {}

    async def keep(
        self,
        worktree_id: str,
        root: Path,
        issue: IssueContext | None,
        pull_request: PullRequestContext | None,
    ) -> None:
        """Write down what is given and what the hosting service of the repository at `root` adds.

        What it does not tell in time is left out.
        """
        wanted = issue or pull_request
        if wanted is None:
            return
        self._reading[worktree_id] = asyncio.Event()
        try:
            kind = "issue" if issue is not None else "pull-request"
            told = await _asked(root, "issue" if issue is not None else "pr", wanted.number)
            given = {"title": wanted.title, "body": (issue and issue.body) or ""}
            text = _text(kind.replace("-", " "), wanted.number, {**given, **told})
            folder = self._directory / worktree_id
            await asyncio.to_thread(_write, folder / f"{kind}-{wanted.number}.md", text)
        except OSError as error:
            _log.warning("no context of worktree %s is kept: %s", worktree_id, error.strerror)
        finally:
            self._reading.pop(worktree_id).set()

    async def file_of(self, worktree_id: str) -> Path | None:
        """The file of a worktree that was made for an issue or a pull request, once it is read."""
        if (reading := self._reading.get(worktree_id)) is not None:
            await reading.wait()
        folder = self._directory / worktree_id
        return await asyncio.to_thread(lambda: next(iter(sorted(folder.glob("*.md"))), None))


async def _asked(root: Path, what: str, number: int) -> dict[str, Any]:
    """Title, body, link and comments as `gh` tells them; nothing where it does not."""
    for fields in (f"{_FIELDS},comments", _FIELDS):  # comments may be more than `gh` may print
        try:
            async with asyncio.timeout(READING_TIME):
                told = json.loads(await gh(root, what, "view", str(number), fields))
        except (SpinneyError, TimeoutError) as error:
            _log.info("%s %d is kept as it was given: %s", what, number, error)
            break
        except ValueError:
            continue
        if isinstance(told, dict):
            return {key: value for key, value in told.items() if value}
    return {}


def _text(kind: str, number: int, told: dict[str, Any]) -> str:
    parts = [f"# {kind.capitalize()} #{number}: {_line(told.get('title'))}"]
    if url := _line(told.get("url")):
        parts.append(f"Link: {url}")
    author = _author(told)
    parts.append(_cut(told.get("body"), _LONGEST_BODY) or "(no description)")
    if author:
        parts.insert(-1, f"Written by {author}:")
    comments = told.get("comments")
    for comment in comments[-_MOST_COMMENTS:] if isinstance(comments, list) else ():
        if isinstance(comment, dict):
            parts.append(f"## Comment by {_author(comment) or 'somebody'}")
            parts.append(_cut(comment.get("body"), _LONGEST_COMMENT))
    return _cut("\n\n".join(parts), _LONGEST) + "\n"


def _author(told: dict[str, Any]) -> str:
    author = told.get("author")
    return _line(author.get("login")) if isinstance(author, dict) else ""


def _line(value: object) -> str:
    return clean_line(value[:500]) if isinstance(value, str) else ""


def _cut(value: object, most: int) -> str:
    text = value if isinstance(value, str) else ""
    shown = make_visible(text[:most]).strip()
    return shown if len(text) <= most else f"{shown}\n[… {len(text) - most} more characters]"


def _write(path: Path, text: str) -> None:
    create_private_directory(path.parent.parent)
    create_private_directory(path.parent)
    write_atomically(path, text.encode())
