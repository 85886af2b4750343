"""The changes of one commit, by file; they can only be read."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.binding import BindingType
from textual.content import Content
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from model.api.history import get_commit_file_diff, list_commit_files
from model.base.amounts import format_age
from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from tui.desk import Desk
from tui.diff.bars import changed_lines
from tui.diff.commit_actions import copy_hash, show_message
from tui.diff.panes import DiffPanes
from tui.diff.view import DiffView
from tui.keys.keymap import BY_ID, make_bindings
from tui.screens.full import bindings
from tui.screens.palette import Entry
from tui.screens.palette_entries import action_entries
from tui.widgets.line import Line
from tui.widgets.top_bar import MARK

if TYPE_CHECKING:
    from model.api.changes import ChangedFile, FileDiff
    from model.api.history import Commit
    from model.domain.resources import Worktree
    from tui.draw.colors import Palette
    from tui.store.mirror import Change

_ACTIONS: Final = ("diff_next_hunk", "diff_previous_hunk", "diff_layout", "diff_back")
"""What the diff screen and this one have in common."""
_OF_COMMIT: Final = {"log_message": show_message, "log_copy": copy_hash}
"""What the log and this screen have in common."""
_BODY_ROWS: Final = 6


class CommitDiff(DiffPanes):
    """The message and the files of a commit, and the diff of one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("diff", only=_ACTIONS),
        *make_bindings("log", only=_OF_COMMIT),
    ]
    LAST = ("diff_back", "help")

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

    def on_mount(self) -> None:
        """Load the files."""
        self.view.placeholder = "Loading …"
        self.update_bars()
        self.run_worker(self._read(), exit_on_error=False)

    async def _read(self) -> None:
        async with self._reading:
            try:
                files = await self.desk.client.call(
                    list_commit_files, worktree_id=self.worktree.id, sha=self.commit.sha
                )
            except SpinneyError as error:
                self.show_nothing(error.message)
                return
            self.files.show(files)
            await self.read_file()

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

    def follow(self, change: "Change") -> None:
        """A commit never changes."""

    def palette_entries(self, query: str, style: Style) -> Iterable[Entry]:
        """The command palette's entries on this screen."""
        actions = (BY_ID[id] for id in (*_ACTIONS, *_OF_COMMIT, "help", "quit"))
        return action_entries(actions, self, query, style)

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

    def show_keys(self) -> None:
        """Show the keys."""
        first = [("enter", "diff")] if self.is_in_files else [("tab", "files")]
        self.update_key_hints(("diff_next_hunk", "diff_layout", *_OF_COMMIT), first=first)

    def do(self, action_id: str) -> None:
        """Move, switch the layout, show or copy something of the commit, or close."""
        if action_id in _OF_COMMIT:
            work = _OF_COMMIT[action_id](self.desk, self.commit)
            self.desk.run_once(action_id, self.commit.sha, work)
            return
        actions: Mapping[str, Callable[[], object]] = {
            "diff_next_hunk": lambda: self.next_hunk(1),
            "diff_previous_hunk": lambda: self.next_hunk(-1),
            "diff_layout": self.change_layout,
            "diff_back": lambda: self.dismiss(None),
        }
        actions[action_id]()

    @on(DiffView.Finished)
    def _read_to_the_end(self) -> None:
        self.files.action_move(1)


def _more(rows: int) -> str:
    return f"… {count(rows, 'more line')}"
