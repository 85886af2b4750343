"""The base of screens with changes that can only be read: of a commit, or of a turn."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from textual import on
from textual.style import Style

from model.base.errors import SpinneyError
from tui.diff.panes import DiffPanes
from tui.diff.view import DiffView
from tui.keys.keymap import BY_ID
from tui.screens.palette import Entry
from tui.screens.palette_entries import action_entries

if TYPE_CHECKING:
    from model.api.changes import ChangedFile
    from tui.store.mirror import Change

READING_ACTIONS: Final = ("diff_next_hunk", "diff_previous_hunk", "diff_layout", "diff_back")
"""What the diff screen and these have in common."""


class FixedDiff(DiffPanes):
    """Files that never change again, and the diff of one."""

    LAST = ("diff_back", "help")

    async def list_files(self) -> "Sequence[ChangedFile]":
        """Get the files. Raises `SpinneyError`."""
        raise NotImplementedError

    def own_actions(self) -> Mapping[str, Callable[[], object]]:
        """Return what this screen does besides, by the ids of the key map."""
        return {}

    def on_mount(self) -> None:
        """Load the files."""
        self.view.placeholder = "Loading …"
        self.update_bars()
        self.run_worker(self._read(), exit_on_error=False)

    async def _read(self) -> None:
        async with self._reading:
            try:
                files = await self.list_files()
            except SpinneyError as error:
                self.show_nothing(error.message)
                return
            self.files.show(files)
            await self.read_file()

    def follow(self, change: "Change") -> None:
        """Nothing to follow."""

    def palette_entries(self, query: str, style: Style) -> Iterable[Entry]:
        """The command palette's entries on this screen."""
        actions = (BY_ID[id] for id in (*READING_ACTIONS, *self.own_actions(), "help", "quit"))
        return action_entries(actions, self, query, style)

    def show_keys(self) -> None:
        """Show the keys."""
        first = [("enter", "diff")] if self.is_in_files else [("tab", "files")]
        own = self.own_actions()
        self.update_key_hints(("diff_next_hunk", "diff_layout", *own), first=first)

    def do(self, action_id: str) -> None:
        """Move, switch the layout, do what is special here, or close."""
        actions: Mapping[str, Callable[[], object]] = {
            "diff_next_hunk": lambda: self.next_hunk(1),
            "diff_previous_hunk": lambda: self.next_hunk(-1),
            "diff_layout": self.change_layout,
            "diff_back": lambda: self.dismiss(None),
            **self.own_actions(),
        }
        actions[action_id]()

    @on(DiffView.Finished)
    def _read_to_the_end(self) -> None:
        self.files.action_move(1)
