"""The side pane: the open session's steps, and its worktree's changes, read after each edit."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from model.api.changes import get_file_diff, list_changed_files
from model.api.sessions import get_messages
from model.base.errors import SpinneyError
from model.base.plural import count
from model.domain.events.base import Event
from model.domain.events.messages import BlockChanged, ToolUsed
from model.domain.messages import ToolResultBlock
from model.domain.tool_uses import read_steps, read_todo_list
from model.richtext.diff_text import DiffText, parse_diff
from tui.side.session import SecondSession
from tui.side.steps import StepsView
from tui.side.view import ChangesView
from tui.store.places import SideContent
from tui.widgets.line import Line

if TYPE_CHECKING:
    from textual.worker import WorkType

    from model.api.changes import ChangedFile
    from model.domain.worktrees import Worktree
    from tui.desk import Desk
    from tui.store.mirror import Change

READ_INTERVAL: Final = 0.5
"""Seconds between two readings while an agent edits."""
_STEP_MESSAGES: Final = 6
"""Messages at the end of a session that are searched for its steps."""


class SidePane(Vertical):
    """Steps and changes of what is open; follows the file that was edited last."""

    def __init__(self, desk: "Desk") -> None:
        super().__init__(id="side")
        self._desk = desk
        self._shown: SideContent = "changes"
        self._worktree_id = ""
        self._session_id = ""
        self._followed = ""
        """The file that was edited or chosen last."""
        self._is_reading = False
        self._is_stale = False
        """Whether something changed since the last reading began."""

    def compose(self) -> ComposeResult:
        """The steps, a title, and the changes; or a second session."""
        yield StepsView()
        yield Line(id="side-title")
        yield ChangesView(self._desk.palette)
        yield SecondSession(self._desk)

    def on_mount(self) -> None:
        """Read steps and changes."""
        self.follow_place()

    @property
    def view(self) -> ChangesView:
        """The files and the diff."""
        return self.query_one(ChangesView)

    def switch(self, shown: SideContent) -> None:
        """Show the changes, a second session, or nothing."""
        if shown == self._shown:
            return
        self._shown = shown
        self.set_class(shown == "session", "second-session")
        self._desk.mirror.histories.second_session_id = None  # until it is shown
        self._session_id = ""  # steps that came meanwhile were not followed
        self.call_after_refresh(self.follow_place)

    def recolor(self) -> None:
        """Draw in the present colors."""
        self.view.set_palette(self._desk.palette)
        self.query_one(SecondSession).recolor()

    def follow_place(self) -> None:
        """Show the open session and worktree, if they are others now."""
        if not self.children or not self.display:
            return
        if self.has_class("second-session"):
            self.query_one(SecondSession).follow_place()
            return
        session = self._desk.session
        if (session_id := session.id if session is not None else "") != self._session_id:
            self._session_id = session_id
            self.query_one(StepsView).show([])
            # A function: an exclusive worker may be canceled before a coroutine is awaited.
            read = cast("WorkType[None]", partial(self._read_steps, session_id))
            self.run_worker(read, group="steps", exclusive=True)
        worktree = self._desk.worktree
        if worktree is not None and worktree.id != self._worktree_id:
            self._worktree_id, self._followed = worktree.id, ""
            self.read_soon()

    def follow(self, change: "Change") -> None:
        """Read again if the open worktree was edited, or its git status changed."""
        if not self.is_mounted or not self.display:
            return
        if self.has_class("second-session"):
            self.query_one(SecondSession).follow(change)
            return
        self.follow_place()
        for event in change.events:
            if isinstance(event, ToolUsed) and event.session_id == self._session_id:
                steps = read_steps(event.tool_name, event.tool_input)
                if steps is not None:
                    self.query_one(StepsView).show(steps)
        if self._worktree_id in change.worktrees or any(map(self._is_edit, change.events)):
            self.read_soon()

    async def _read_steps(self, session_id: str) -> None:
        """Show the newest to-do list among the newest messages of a session."""
        if not session_id:
            return
        read = self._desk.client.call(get_messages, session_id=session_id, limit=_STEP_MESSAGES)
        try:
            page = await read
        except SpinneyError:
            return  # The session was removed meanwhile.
        streaming = self._desk.state.streaming_in(session_id)
        messages = [*page.messages, *([streaming] if streaming is not None else [])]
        kept = [message for message in messages if not message.rewound]
        blocks = [block for message in kept for block in message.content]
        if session_id == self._session_id and (steps := read_todo_list(blocks)):
            self.query_one(StepsView).show(steps)

    def _is_edit(self, event: Event) -> bool:
        """Whether a tool ended in a session of the worktree; notes the file of an edit."""
        session = self._desk.state.sessions.get(event.related_session_id or "")
        if session is None or session.worktree_id != self._worktree_id:
            return False
        if isinstance(event, ToolUsed) and event.tool_name == "edit":
            path = event.tool_input.get("file_path")
            self._followed = path if isinstance(path, str) else self._followed
        return isinstance(event, BlockChanged) and isinstance(event.block, ToolResultBlock)

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
            self._show(changes.files, path, text, "No unstaged changes.")

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
