"""The message and the files of the commit under the cursor, beside the list on wide screens."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from model.base.amounts import format_age
from model.base.plural import count
from model.base.text import clean_line
from tui.diff.bars import changed_lines

if TYPE_CHECKING:
    from model.api.changes import ChangedFile
    from model.api.history import Commit

_MAX_LINES: Final = 200
"""Lines of a message, and files, that are shown."""


class CommitPreview(VerticalScroll, can_focus=False):
    """A commit, to read; the wheel scrolls it."""

    def __init__(self) -> None:
        super().__init__(Static(markup=False), id="commit-preview")
        self._shown: str | None = None

    def show(self, commit: "Commit | None", files: "Sequence[ChangedFile] | None" = None) -> None:
        """Show a commit; `files`: `None` while they are being read."""
        self.query_one(Static).update(_describe(commit, files) if commit is not None else "")
        sha = commit.sha if commit is not None else None
        if sha != self._shown:
            self._shown = sha
            self.scroll_home(animate=False)


def _describe(commit: "Commit", files: "Sequence[ChangedFile] | None") -> Content:
    about = (clean_line(commit.sha), clean_line(commit.author))
    age = format_age(commit.authored_at, time.time())
    parts: list[Content | str | tuple[str, str]] = [
        (clean_line(commit.subject) or "no message", "bold $foreground"),
        (f"\n{' · '.join((*about, age))}\n", "$text-muted"),
    ]
    if body := commit.body.strip():
        parts.append("\n" + "\n".join(map(clean_line, body.split("\n")[:_MAX_LINES])) + "\n")
    if files is None:
        return Content.assemble(*parts)
    parts += ["\n", changed_lines(files) if files else "No files changed."]
    for file in files[:_MAX_LINES]:
        parts += ["\n", _describe_file(file)]
    if len(files) > _MAX_LINES:
        parts.append(f"\n… {count(len(files) - _MAX_LINES, 'more file')}")
    return Content.assemble(*parts)


def _describe_file(file: "ChangedFile") -> Content:
    tones = {"added": "$success", "deleted": "$error"}
    counts = "binary" if file.added is None else f"+{file.added} −{file.removed}"
    return Content.assemble(
        (f"{file.status:<10}", tones.get(file.status, "$accent")),
        clean_line(file.path),
        (f"  {counts}", "$text-muted"),
    )
