"""Files with the text of what a worktree was created from, for the agents that work there.

`contexts/<worktree>/issue-12.md` in the data directory: title, link, facts, description, comments
and the end of a log, of bounded size. The text is untrusted: the first message of each session
passes it to the agent as such (`model/chat/user_messages.py`). Images stay links.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.paths import create_private_directory, write_atomically
from model.base.text import clean_line, make_visible
from model.domain.hosting import WorkKind
from model.hosting.forge import ItemText
from model.worktrees.lookup import to_folder_name

FETCH_TIMEOUT: Final = 15.0
"""Seconds for the hosting service to return a text; then the given one is used."""

_MAX_BODY: Final = 32_000
_MAX_COMMENT: Final = 8_000
_MAX_COMMENTS: Final = 30
_MAX_FACTS: Final = 30
_MAX_LOG: Final = 24_000
_MAX_CHARACTERS: Final = 64_000
"""Characters of the whole file."""
_MAX_LINE: Final = 500

_HEADINGS: Final[dict[WorkKind, str]] = {
    "issue": "Issue #",
    "pull_request": "Pull request #",
    "workflow_run": "Workflow run ",
    "security_alert": "Security alert #",
    "advisory": "Security advisory ",
    "tracker_issue": "Issue ",
}

_log = logging.getLogger(__name__)


class ItemContextStore:
    """Writes and finds the context files, by worktree."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._fetching: dict[str, asyncio.Event] = {}

    async def fetch(
        self,
        worktree_id: str,
        kind: WorkKind,
        item_id: str,
        given: ItemText,
        fetch: Callable[[], Awaitable[ItemText]],
    ) -> None:
        """Write the text that `fetch` returns, or the `given` one if it does not arrive in time."""
        self._fetching[worktree_id] = asyncio.Event()
        try:
            async with asyncio.timeout(FETCH_TIMEOUT):
                text = await fetch()
        except (SpinneyError, TimeoutError) as error:
            _log.info("no text of %s %s, using the given one: %s", kind, item_id, error)
            text = given
        try:
            await self.write(worktree_id, kind, item_id, text)
        finally:
            self._fetching.pop(worktree_id).set()

    async def write(self, worktree_id: str, kind: WorkKind, item_id: str, text: ItemText) -> None:
        """Write a text for the agents of a worktree; a failure is only logged."""
        name = to_folder_name(f"{kind}-{item_id}".replace("_", "-"))[:100]
        path = self._directory / worktree_id / f"{name}.md"
        try:
            await asyncio.to_thread(_write, path, format_item(kind, item_id, text))
        except OSError as error:
            _log.warning("context of worktree %s was not saved: %s", worktree_id, error.strerror)

    async def find_file(self, worktree_id: str) -> Path | None:
        """Return the context file of a worktree, or `None`; waits until it has been written."""
        if (fetching := self._fetching.get(worktree_id)) is not None:
            await fetching.wait()
        folder = self._directory / worktree_id
        return await asyncio.to_thread(lambda: next(iter(sorted(folder.glob("*.md"))), None))


def format_item(kind: WorkKind, item_id: str, text: ItemText) -> str:
    """Return the text of an item as Markdown of bounded size."""
    parts = [f"# {_HEADINGS[kind]}{_to_line(item_id)}: {_to_line(text.title)}"]
    if url := _to_line(text.url):
        parts.append(f"Link: {url}")
    facts = [(_to_line(name), _to_line(value)) for name, value in list(text.facts)[:_MAX_FACTS]]
    if facts:
        parts.append("\n".join(f"- {name}: {value}" for name, value in facts if value))
    if author := _to_line(text.author):
        parts.append(f"Written by {author}:")
    body = _truncate(text.body, _MAX_BODY)
    parts.append(body or ("" if text.log else "(no description)"))
    for author, comment in list(text.comments)[-_MAX_COMMENTS:]:
        parts.append(f"## Comment by {_to_line(author) or 'unknown'}")
        parts.append(_truncate(comment, _MAX_COMMENT))
    if text.log:
        log = make_visible(text.log[-_MAX_LOG:]).strip("\n")
        parts.append(f"## End of the log\n\n{log}")
    return _truncate("\n\n".join(part for part in parts if part), _MAX_CHARACTERS) + "\n"


def _to_line(value: str) -> str:
    return clean_line(value[:_MAX_LINE])


def _truncate(text: str, limit: int) -> str:
    shown = make_visible(text[:limit]).strip()
    return shown if len(text) <= limit else f"{shown}\n[… {len(text) - limit} more characters]"


def _write(path: Path, text: str) -> None:
    create_private_directory(path.parent.parent)
    create_private_directory(path.parent)
    write_atomically(path, text.encode())
