"""The canvas: all sessions of a project, or of all projects, with those that need you first.

Letters filter; several sessions can be marked and stopped, archived or written to at once. The
screen follows the mirror and stores nothing but the last lines that it has read.
"""

import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import on
from textual.binding import BindingType
from textual.content import Content
from textual.style import Style
from textual.widget import Widget

from model.api import sessions as commands
from model.api.preferences import update_preferences
from model.base.errors import SpinneyError
from model.base.plural import count
from tui.canvas.cells import Cell, cells, describe_activity, last_lines
from tui.canvas.dialogs import Answer, AskMessage
from tui.canvas.view import CanvasView
from tui.desk import Desk
from tui.draw.status_icons import count_waiting_and_running
from tui.keys.keymap import ACTIONS
from tui.screens.dialog import Confirm
from tui.screens.full import FullScreen, bindings
from tui.screens.palette import Entry
from tui.screens.palette_entries import action_entries
from tui.widgets.line import Line
from tui.widgets.top_bar import MARK

if TYPE_CHECKING:
    from model.api.command import Command
    from model.domain.sessions import Session
    from tui.draw.colors import Palette
    from tui.store.mirror import Change

FOOTER = (
    "canvas_answer", "canvas_write", "canvas_stop", "canvas_archive", "canvas_scope",
    "canvas_layout",
)  # fmt: skip
"""The actions in the footer, the most useful first."""

Part = str | Content | tuple[str, str]

_TITLE: Final = (f"{MARK} All sessions", "bold $accent")
_MAX_LINES = 6
_CONCURRENT_READS = 4
"""Number of sessions whose last messages are read at the same time."""


class Canvas(FullScreen):
    """All sessions, live."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("canvas", "canvas")]
    LAST = ("canvas_back", "help")

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.filter = ""
        self.project_id: str | None = None
        """The project whose sessions are shown; `None` for all projects."""
        self._all_cells: list[Cell] = []
        """The project's cells, unfiltered."""
        self._texts: list[str] = []
        """The texts that the filter searches, once it was used."""
        self._lines: dict[str, tuple[str, ...]] = {}
        self._wanted: set[str] = set()
        self._answer: Answer | None = None

    def body(self, palette: "Palette") -> Iterable[Widget]:
        """The cells."""
        yield CanvasView(
            palette,
            self.desk.state.preferences.canvas_layout,
            lambda session_id: self._lines.get(session_id, ()),
            self._agent,
            self._activity,
            moves=self.desk.host.terminal.motion,
        )

    def palette_entries(self, query: str, style: Style) -> Iterable[Entry]:
        """The command palette's entries on this screen."""
        actions = (a for a in ACTIONS if a.scope == "canvas" or a.id in ("canvas", "help", "quit"))
        return action_entries(actions, self, query, style)

    def on_mount(self) -> None:
        """Show the sessions."""
        self._read_streams()
        self._collect()

    @property
    def view(self) -> CanvasView:
        """The cells."""
        return self.query_one(CanvasView)

    # Following the mirror -----------------------------------------------------------------------

    def follow(self, change: "Change") -> None:
        """Show a change; called at most once a frame."""
        if self._answer is not None:
            self._answer.follow(change.state.sessions.get(self._answer_id))
        self._read_streams()
        if change.is_only_text:
            self.view.refresh_changed()
            return
        for session_id in change.sessions:
            # A finished session may have text that was not streamed; read it again when visible.
            if (now := change.state.sessions.get(session_id)) is None or now.status == "idle":
                self._wanted.discard(session_id)
        if change.preferences:
            self.view.set_layout(change.state.preferences.canvas_layout)
        self._collect()

    def recolor(self, palette: "Palette") -> None:
        """Redraw the cells in other colors."""
        self.view.set_palette(palette)

    def _read_streams(self) -> None:
        for message in self.desk.state.streaming.values():
            if lines := last_lines(message, _MAX_LINES):
                self._lines[message.session_id] = lines

    def _collect(self) -> None:
        self._all_cells, self._texts = cells(self.desk.state, self.project_id), []
        self._show()

    def _show(self) -> None:
        query = self.filter.lower().split()
        shown = self._all_cells
        if query:
            self._texts = self._texts or [cell.text(self._agent(cell)) for cell in self._all_cells]
            pairs = zip(self._all_cells, self._texts, strict=True)
            shown = [cell for cell, text in pairs if all(word in text for word in query)]
        if not self.desk.mirror.is_loaded:
            self.view.empty = "Loading …"
        elif query:
            self.view.empty = f"No session matches '{self.filter}'. Press backspace to change it."
        else:
            self.view.empty = (
                "No sessions yet. Press escape to go back, then ctrl+n to create a worktree."
            )
        self.view.show(shown)
        self._update_title()

    def _update_title(self) -> None:
        total, shown = len(self._all_cells), len(self.view.cells)
        project = self.desk.state.projects.get(self.project_id or "")
        scope = Content(project.name) if project is not None else Content("all projects")
        number = f"{shown} of {total}" if self.filter else f"{total}"
        marked = f" · {len(self.view.marked)} marked" if self.view.marked else ""
        left: list[Part] = [
            _TITLE,
            "   ",
            scope,
            (f"  {number}{marked}", "$text-muted"),
        ]
        if self.filter:
            left += [("   filter: ", "$text-muted"), (self.filter, "bold")]
        if not self.desk.mirror.is_loaded:
            self.query_one("#top", Line).show(Content.assemble(_TITLE))
            self.show_keys()
            return
        waiting, running = count_waiting_and_running(self.desk.state)
        verb = "needs" if waiting == 1 else "need"
        right: list[Part] = [
            (f"{waiting} {verb} you", "bold $warning" if waiting else "$text-muted")
        ]
        right.append((f" · {running} running", "$accent" if running else "$text-muted"))
        self.query_one("#top", Line).show(Content.assemble(*left), Content.assemble(*right))
        self.show_keys()

    def show_keys(self) -> None:
        """Show the keys that are useful now."""
        own = (("enter", "open"), ("tab", "mark"), ("letters", "filter"))
        without = (
            frozenset() if self._asking_session() is not None else frozenset({"canvas_answer"})
        )
        self.update_key_hints(FOOTER, first=own, without=without)

    def _activity(self, session_id: str) -> str:
        message = self.desk.state.streaming_in(session_id)
        return describe_activity(message, time.time()) if message is not None else ""

    def _agent(self, cell: Cell) -> str:
        return self.desk.agents.labels(cell.session)[0]

    @on(CanvasView.LinesWanted)
    def _lines_wanted(self, event: CanvasView.LinesWanted) -> None:
        new = [session_id for session_id in event.session_ids if session_id not in self._wanted]
        self._wanted.update(new)
        sessions = self.desk.state.sessions
        with_messages = [i for i in new if (s := sessions.get(i)) is not None and s.message_count]
        for first in range(_CONCURRENT_READS):
            if mine := with_messages[first::_CONCURRENT_READS]:
                self.run_worker(self._read(mine), exit_on_error=False)

    async def _read(self, session_ids: list[str]) -> None:
        """Read the last lines of sessions that are not streaming."""
        for session_id in session_ids:
            try:
                page = await self.desk.client.call(
                    commands.get_messages, session_id=session_id, limit=1
                )
            except SpinneyError:
                continue  # The session was removed meanwhile.
            if page.messages and not page.messages[-1].rewound:
                self._lines.setdefault(session_id, last_lines(page.messages[-1], _MAX_LINES))
                self.view.refresh_changed()

    # Actions ------------------------------------------------------------------------------------

    @on(CanvasView.Typed)
    def _typed(self, event: CanvasView.Typed) -> None:
        self.filter = self.filter[:-1] if event.key == "backspace" else self.filter + event.key
        self._show()

    @on(CanvasView.Marked)
    def _marked(self) -> None:
        self._update_title()

    @on(CanvasView.Opened)
    def _opened(self, event: CanvasView.Opened) -> None:
        self.dismiss(None)
        self.desk.open_session(event.session_id)

    def do(self, action_id: str) -> None:
        """Run an action of the canvas."""
        match action_id:
            case "canvas" | "canvas_back":
                self._back(at_once=action_id == "canvas")
            case "canvas_scope":
                self._change_scope()
            case _:
                self.desk.run_once(action_id, self, CANVAS[action_id](self))

    def _back(self, *, at_once: bool) -> None:
        """Clear the filter, else the marks, else close the screen."""
        if self.filter and not at_once:
            self.filter = ""
            self._show()
        elif self.view.marked and not at_once:
            self.view.unmark()
        else:
            self.dismiss(None)

    def _change_scope(self) -> None:
        here = self.desk.project
        if self.project_id is None and here is None:
            self.desk.say("Select a project first.")
            return
        self.project_id = None if self.project_id is not None or here is None else here.id
        self._collect()

    def _asking_session(self) -> "Session | None":
        here = self.view.cells[self.view.here :][:1]
        session = here[0].session if here else None
        return session if session is not None and session.request is not None else None

    async def answer(self) -> None:
        """Answer the request of the session under the cursor."""
        session = self._asking_session()
        if session is None:
            self.desk.say("This session is not waiting for an answer.")
            return
        self._answer, self._answer_id = Answer(session, self.desk), session.id
        try:
            await self.app.push_screen_wait(self._answer)
        finally:
            self._answer = None

    async def change_layout(self) -> None:
        """Switch between list and grid, and save it in the preferences."""
        present = self.desk.state.preferences.canvas_layout
        other = "grid" if present == "list" else "list"
        await self.desk.client.call(update_preferences, changes={"canvas_layout": other})

    async def write(self) -> None:
        """Send the same message to all marked sessions."""
        chosen = self.view.chosen
        if not chosen:
            return
        sentence = f"Send to {_describe(chosen)}. Running sessions get it when their run has ended."
        text = await self.app.push_screen_wait(AskMessage("Write to sessions", sentence))
        if text:
            await self._each(chosen, "sent", commands.send_chat_message, message=text)

    async def stop(self) -> None:
        """Stop the runs of all marked sessions."""
        chosen = [c for c in self.view.chosen if c.session.is_active]
        if not chosen:
            self.desk.say("No selected session is running.")
            return
        question = f"Stop {_describe(chosen)}? Messages received so far are kept."
        if len(chosen) == 1 or await self._confirm("Stop sessions", question, "stop"):
            await self._each(chosen, "stopped", commands.stop_generation)

    async def archive(self) -> None:
        """Archive all marked sessions."""
        chosen = self.view.chosen
        if not chosen:
            return
        at_work = sum(cell.session.is_active for cell in chosen)
        question = f"Archive {_describe(chosen)}?"
        if at_work:
            question += f" This stops {at_work} that {'is' if at_work == 1 else 'are'} running."
        asks = self.desk.state.preferences.confirm_session_close
        is_one = len(chosen) == 1 and not at_work
        if (is_one and not asks) or await self._confirm(
            "Archive sessions", question, "archive", harmless=is_one
        ):
            await self._each(chosen, "archived", commands.archive_session)

    async def _confirm(
        self, title: str, question: str, word: str, *, harmless: bool = False
    ) -> bool:
        dialog = Confirm(title, question, word, harmless=harmless)
        agreed = await self.app.push_screen_wait(dialog)
        return agreed is True

    async def _each(
        self, chosen: list[Cell], done: str, command: "Command[..., Any]", **arguments: str
    ) -> None:
        """Call the command for each session; notify how many succeeded, and of each error."""
        problems = []
        for cell in chosen:
            try:
                await self.desk.client.call(command, session_id=cell.session.id, **arguments)
            except SpinneyError as error:
                problems.append(f"{cell.name}: {error.message}")
        if problems:
            self.desk.say("\n".join(problems), bad=True)
        succeeded = len(chosen) - len(problems)
        if succeeded:
            self.desk.say(f"{succeeded} {done}.")


CANVAS: Mapping[str, Callable[[Canvas], Coroutine[Any, Any, None]]] = {
    "canvas_answer": Canvas.answer,
    "canvas_layout": Canvas.change_layout,
    "canvas_write": Canvas.write,
    "canvas_stop": Canvas.stop,
    "canvas_archive": Canvas.archive,
}
"""The canvas's asynchronous actions."""


def _describe(chosen: list[Cell]) -> str:
    return f"'{chosen[0].name}'" if len(chosen) == 1 else count(len(chosen), "session")
