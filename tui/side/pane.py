"""The side pane: reads the changes of the open worktree again after each edit, and shows them."""

import asyncio
from typing import TYPE_CHECKING, Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from model.api.changes import get_file_diff, list_changed_files
from model.base.errors import SpinneyError
from model.base.plural import count
from model.domain import events as e
from model.domain.resources import ToolResultBlock
from model.richtext.diff_text import DiffText, parse_diff
from tui.side.view import ChangesView
from tui.widgets.line import Line

if TYPE_CHECKING:
    from model.api.changes import ChangedFile
    from model.domain.resources import Worktree
    from tui.desk import Desk
    from tui.store.mirror import Change

READ_INTERVAL: Final = 0.5
"""Seconds between two readings while an agent edits."""


class SidePane(Vertical):
    """The changes of the open worktree; follows the file that was edited last."""

    def __init__(self, desk: "Desk") -> None:
        super().__init__(id="side")
        self._desk = desk
        self._worktree_id = ""
        self._followed = ""
        """The file that was edited or chosen last."""
        self._is_reading = False
        self._is_stale = False
        """Whether something changed since the last reading began."""

    def compose(self) -> ComposeResult:
        """A title, and the changes."""
        yield Line(id="side-title")
        yield ChangesView(self._desk.palette)

    def on_mount(self) -> None:
        """Read the changes."""
        self.follow_worktree()

    @property
    def view(self) -> ChangesView:
        """The files and the diff."""
        return self.query_one(ChangesView)

    def follow_worktree(self) -> None:
        """Show the changes of the open worktree, if it is another one now."""
        worktree = self._desk.worktree
        if worktree is not None and worktree.id != self._worktree_id:
            self._worktree_id, self._followed = worktree.id, ""
            self.read_soon()

    def follow(self, change: "Change") -> None:
        """Read again if the open worktree was edited, or its git status changed."""
        if not self.is_mounted or not self.display:
            return
        self.follow_worktree()
        if self._worktree_id in change.worktrees or any(map(self._is_edit, change.events)):
            self.read_soon()

    def _is_edit(self, event: e.Event) -> bool:
        """Whether a tool ended in a session of the worktree; notes the file of an edit."""
        session = self._desk.state.sessions.get(event.related_session_id or "")
        if session is None or session.worktree_id != self._worktree_id:
            return False
        if isinstance(event, e.ToolUsed) and event.tool_name == "edit":
            path = event.tool_input.get("file_path")
            self._followed = path if isinstance(path, str) else self._followed
        return isinstance(event, e.BlockChanged) and isinstance(event.block, ToolResultBlock)

    def read_soon(self) -> None:
        """Read the changes, at most every `READ_INTERVAL` seconds."""
        self._is_stale = True
        if not self._is_reading:
            self._is_reading = True
            self.run_worker(self._read_until_current(), exit_on_error=False)

    async def _read_until_current(self) -> None:
        try:
            while self._is_stale and self.is_mounted:
                self._is_stale = False
                await self._read()
                await asyncio.sleep(READ_INTERVAL)
        finally:
            self._is_reading = False

    async def _read(self) -> None:
        desk, worktree = self._desk, self._desk.state.worktrees.get(self._worktree_id)
        if worktree is None or worktree.status != "ready":
            self._show([], "", DiffText(), "There is nothing to show yet.")
            return
        try:
            changes = await desk.client.call(list_changed_files, worktree_id=worktree.id)
            path = self._choose(changes.files)
            text = await self._read_diff(worktree, path) if path else DiffText()
        except SpinneyError as error:
            self._show([], "", DiffText(), error.message)
            return
        if worktree.id == self._worktree_id:
            self._show(changes.files, path, text, "Everything is staged or committed.")

    def _choose(self, files: "list[ChangedFile]") -> str:
        """The followed file, if it still has changes; else the one shown before, or the first."""
        paths = [file.path for file in files]
        wanted = (self._followed, self.view.path, *paths[:1])
        return next((path for path in wanted if path in paths), "")

    async def _read_diff(self, worktree: "Worktree", path: str) -> DiffText:
        found = await self._desk.client.call(get_file_diff, worktree_id=worktree.id, path=path)
        return await asyncio.to_thread(parse_diff, found.text)

    def _show(self, files: "list[ChangedFile]", path: str, text: DiffText, note: str) -> None:
        if not self.is_mounted:
            return
        added = sum(file.added or 0 for file in files)
        removed = sum(file.removed or 0 for file in files)
        counts: list[str | tuple[str, str]] = [("Changes", "bold"), "  "]
        if files:
            counts.append((f"{count(len(files), 'file')}  ", "$text-muted"))
            counts += [(f"+{added}", "$success"), " ", (f"−{removed}", "$error")]
        key = self._desk.key_of("open_diff")
        hint = Content.assemble((key, "$accent"), (" open", "$text-muted"))
        self.query_one("#side-title", Line).show(Content.assemble(*counts), hint)
        self.view.show(files, path, text, self._desk.palette, note)

    @on(ChangesView.Chosen)
    def _file_chosen(self, event: ChangesView.Chosen) -> None:
        event.stop()
        self._followed = event.path
        self.read_soon()
