"""The changes of one commit, by file; they can only be read."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from model.api.history import get_commit_file_diff, list_commit_files
from model.base.amounts import format_age
from model.base.plural import count
from model.base.text import clean_line
from tui.desk import Desk
from tui.diff.bars import changed_lines
from tui.diff.commit_actions import copy_hash, show_message
from tui.diff.fixed_diff import READING_ACTIONS, FixedDiff
from tui.keys.keymap import make_bindings
from tui.screens.full import bindings
from tui.widgets.line import Line
from tui.widgets.top_bar import MARK

if TYPE_CHECKING:
    from model.api.changes import ChangedFile, FileDiff
    from model.api.history import Commit
    from model.domain.worktrees import Worktree
    from tui.draw.colors import Palette

_OF_COMMIT: Final = {"log_message": show_message, "log_copy": copy_hash}
"""What the log and this screen have in common."""
_BODY_ROWS: Final = 6


class CommitDiff(FixedDiff):
    """The message and the files of a commit, and the diff of one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("diff", only=READING_ACTIONS),
        *make_bindings("log", only=_OF_COMMIT),
    ]

    def __init__(self, desk: Desk, worktree: "Worktree", commit: "Commit") -> None:
        super().__init__(desk)
        self.worktree = worktree
        self.commit = commit

    def body(self, palette: "Palette") -> Iterable[Widget]:
        """The message above the files and the diff."""
        head, *panes = super().body(palette)
        yield head
        if self.commit.body.strip():
            yield Static(self._message(), id="commit-body", markup=False)
        yield from panes

    def _message(self) -> Content:
        lines = [clean_line(line) for line in self.commit.body.strip().split("\n")]
        left_out = len(lines) - _BODY_ROWS
        shown = lines if left_out <= 0 else [*lines[: _BODY_ROWS - 1], _more(left_out + 1)]
        return Content("\n".join(shown))

    async def list_files(self) -> "Sequence[ChangedFile]":
        """The files that the commit changed."""
        return await self.desk.client.call(
            list_commit_files, worktree_id=self.worktree.id, sha=self.commit.sha
        )

    @property
    def source(self) -> str:
        """The commit."""
        return self.commit.sha

    async def fetch(self, file: "ChangedFile") -> "FileDiff":
        """Get the diff of a file in the commit."""
        return await self.desk.client.call(
            get_commit_file_diff,
            worktree_id=self.worktree.id,
            sha=self.commit.sha,
            path=file.path,
        )

    def nothing(self) -> str:
        """A commit can be without changes."""
        return "This commit changes no file."

    def own_actions(self) -> Mapping[str, Callable[[], object]]:
        """Show the message, or copy the id."""
        return {action_id: partial(self._perform, action_id) for action_id in _OF_COMMIT}

    def _perform(self, action_id: str) -> None:
        work = _OF_COMMIT[action_id](self.desk, self.commit)
        self.desk.run_once(action_id, self.commit.sha, work)

    def update_bars(self) -> None:
        """Show the subject, the author and the keys."""
        commit = self.commit
        age = format_age(commit.authored_at, time.time())
        about = (f"commit {clean_line(commit.short_sha)}", clean_line(commit.author), age)
        title = Content.assemble(
            (f"{MARK} ", "bold $accent"),
            (clean_line(self.worktree.name), "bold $foreground"),
            (f"  {' · '.join(about)}", "$text-muted"),
        )
        subject = clean_line(commit.subject) or "no message"
        self.query_one("#top", Line).show(title, changed_lines(self.files.files))
        self.query_one("#sides", Line).show(Content.styled(subject, "bold $foreground"))
        self.show_keys()


def _more(rows: int) -> str:
    return f"… {count(rows, 'more line')}"
