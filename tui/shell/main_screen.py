"""The main screen: projects on the left, a conversation on the right. Implements `Desk`.

Until a client is connected it shows an empty frame; expensive imports happen after that.
"""

from collections.abc import Coroutine, Hashable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.style import Style
from textual.widgets import Static

from model.base.git_layout import find_enclosing_repository
from tui.keys import keymap, overrides
from tui.shell import bars
from tui.shell.local_actions import LOCAL, open_number, step_back
from tui.shell.onboarding import missing_agents, next_step
from tui.shell.selection import Selection
from tui.shell.startup import SAVE_INTERVAL, Startup
from tui.store.places import (
    SIDE_CONTENTS,
    Place,
    SideContent,
    find_nearest_shown,
    find_project_id,
    get_project,
    is_shown,
)
from tui.terminal.capabilities import WIDE, Terminal, size_problem
from tui.terminal.screen_reader import Announcements
from tui.tree.detail import PlaceDetail
from tui.tree.widget import ProjectTree
from tui.widgets.chat import Chat
from tui.widgets.key_hints import KeyHints
from tui.widgets.top_bar import TopBar
from tui.widgets.welcome import Step, Welcome

if TYPE_CHECKING:
    from textual.worker import WorkType

    from model.api.doctor import BackendReport
    from model.client.base import Client
    from model.domain.resources import Session
    from tui.desk import Conversation, Outbox
    from tui.draw.colors import Palette
    from tui.screens.palette import Entry
    from tui.shell.connection import Connection
    from tui.side.pane import SidePane
    from tui.store.agent_catalog import AgentCatalog
    from tui.store.dialog_drafts import DialogDrafts
    from tui.store.mirror import Change
    from tui.store.pending import Pending
    from tui.transcript.targets import Target
    from tui.transcript.widget import Transcript
    from tui.widgets.request_panel import RequestPanel

R = TypeVar("R")

MIN_TREE, MIN_CHAT = 24, 50
"""Cells that the tree and the conversation keep when the edge between them is moved."""
MAX_RECENT = 50
"""Sessions whose order of use is kept."""
MIN_SIDE, ROOMY = 150, 180
"""Columns from which on the side pane may be shown, and is shown unless it was hidden."""
LOW = 30
"""Rows below which the tree has one line of details."""


class MainScreen(Selection):
    """Projects, a conversation, and the bars around them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *keymap.make_bindings(),
        # Not in the key map: without the kitty keyboard protocol they are escape and a digit.
        *(Binding(f"alt+{n}", f"open_number({n})", show=False) for n in range(1, 10)),
    ]
    AUTO_FOCUS = ""  # Textual would focus the tree.

    def __init__(
        self, terminal: Terminal, *, started_in: Path | None, demo: bool, snapshot: Path | None
    ) -> None:
        super().__init__(
            terminal,
            started_in=started_in,
            offered=find_enclosing_repository(started_in) if started_in else None,
            demo=demo,
            classes="-screen-reader" if terminal.screen_reader else None,
        )
        self._connection: Connection | None = None
        self._agents_missing: tuple[str, ...] = ()
        self._side: SidePane | None = None
        self.startup = Startup(self, snapshot)

    def compose(self) -> ComposeResult:
        """The top bar, the tree, the conversation pane and the key hints."""
        yield TopBar(id="top")
        with Horizontal(id="body"):
            with Vertical(id="projects"):
                yield self.startup.tree()
                yield PlaceDetail(id="detail")
            yield Chat(id="chat", moves=self.terminal.motion)
        if self.terminal.screen_reader:
            yield Announcements(id="announcements")
        yield KeyHints(id="keys")
        yield Static(id="too-small", markup=False)

    def palette_entries(self, query: str, style: Style) -> "Iterable[Entry]":
        """The command palette's entries on this screen."""
        from tui.shell.palette_entries import main_entries

        return main_entries(self, query, style)

    def session_entries(self, query: str, style: Style) -> "Iterable[Entry]":
        """The entries of the command palette for sessions only."""
        from tui.shell.palette_entries import session_entries

        return session_entries(self, query, style)

    def action_open_number(self, number: int) -> None:
        """Open the session with this number in the tree."""
        if self.is_connected:
            open_number(self, number)

    def on_mount(self) -> None:
        """Lay out the first frame, which waits for the client."""
        self._fit(*self.app.size)  # so that the first layout is the first frame's
        self.set_interval(SAVE_INTERVAL, self._each_minute)
        self.chat.welcome.focus()
        bars.update_key_hints(self)

    async def _each_minute(self) -> None:
        """Save what changed, and show new ages; rows whose text is the same are not drawn."""
        self.projects.redraw_ages()
        await self.startup.save_if_changed()

    # The client ---------------------------------------------------------------------------------

    def connect(self, client: "Client", connection: "type[Connection]") -> None:
        """Use a client from now on; `connection` is the class, imported in a thread."""
        self._mirror = connection.mirror_of(client, self.terminal, self.follow)
        self._connection = connection(
            self, agents_changed=self._agents_changed, show_server=self.show_server
        )

    async def run_startup_checks(self) -> None:
        """Read agents, problems, server status and installed programs once at startup."""
        await self._connected.run_startup_checks(self)

    @property
    def _connected(self) -> "Connection":
        assert self._connection is not None
        return self._connection

    @property
    def agents(self) -> "AgentCatalog":
        """Agents and models."""
        return self._connected.agents

    @property
    def outbox(self) -> "Outbox":
        """Messages and answers."""
        return self._connected.outbox

    @property
    def conversation(self) -> "Conversation":
        """The open conversation."""
        return self._connected.conversation

    @property
    def drafts(self) -> "DialogDrafts":
        """Unused input of dialogs."""
        return self._connected.drafts

    @property
    def pending(self) -> "Pending":
        """Requests that are not confirmed yet."""
        return self._connected.pending

    @property
    def palette(self) -> "Palette":
        """The colors of conversations and diffs."""
        return self._connected.palette

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run in the background; errors become notifications."""
        self._connected.runner.start(work)

    def run_once(self, action_id: str, subject: Hashable, work: Coroutine[Any, Any, None]) -> None:
        """Run an action, unless it is still running for the same subject."""
        self._connected.runner.run_once(action_id, subject, work)

    # Following the mirror -----------------------------------------------------------------------

    def follow(self, change: "Change") -> None:
        """Show a change; called at most once a frame."""
        if not self.app.is_running:
            return  # widgets are being removed one at a time
        if change.loaded or change.preferences:
            preferences = change.state.preferences
            self.key_overrides = overrides.normalize_overrides(preferences.keybindings)
            self.application.follow_preferences(preferences, self.key_overrides)
            self.recolor()
        if change.loaded:
            self.start(self._connected.reports.read_server())
            self._fit_side(self.size.width)
        self.projects.follow(change)
        self.chat.apply_change(change)
        # Text streams at thirty frames a second; skip everything that it does not change.
        if not change.is_only_text:
            if change.lost is None:
                self._follow_place(change)
            bars.follow(self)
        if self._side is not None:
            self._side.follow(change)
        self.startup.mark_changed()
        self._connected.reports.report(change.events)

    def recolor(self) -> None:
        """Redraw the conversation in the current colors."""
        if self._connection is not None and self.chat.transcript is not None:
            self.chat.transcript.set_palette(self.palette)
        if self._side is not None:
            self._side.recolor()

    def _agents_changed(self) -> None:
        """Redraw the open session with the new labels."""
        if self.session is not None and self.chat.transcript is not None:
            self._read(self.session)
            self.follow_session()

    def _follow_place(self, change: "Change") -> None:
        place = self.place
        if place is not None and not is_shown(place, change.state):
            from tui.shell.departed import report_draft  # not before the first frame

            report_draft(self, place, change)
            self.place = None
            self._show_step()
            parent = find_nearest_shown(place, change.state, change.before)
            if parent is not None and self.focused is self.projects:
                self.projects.move_cursor_to(parent)
                self.point_to(parent)  # focus stays in the tree
            elif parent is not None:
                self.open_place(parent)
        elif self.session is not None:
            if change.loaded:
                self._read(self.session)
            worktree = self.worktree
            if worktree is not None and (worktree.id in change.worktrees or change.sessions):
                self._connected.conversation.update_card(self.session, worktree)
            self.follow_session()
        else:
            self._show_step()
            if change.loaded and place is None:
                self.startup.open_first(change.state)

    def follow_session(self) -> None:
        """Redraw the open session from the state."""
        session = self.session
        assert session is not None
        self.chat.follow(self.state, self.agents.labels(session), self.key_of("show_scripts"))
        if session.unread and self.app.app_focus and bars.is_conversation_visible(self):
            self._connected.outbox.mark_read(session.id)

    def on_unmount(self) -> None:
        """Restore the terminal's title."""
        if self._connection is not None:
            self._connection.notifier.close()

    def on_screen_resume(self) -> None:
        """Focus the message box if the focused widget was removed behind a dialog."""
        self.projects.wake()
        if self.session is not None:
            self.follow_session()  # its run may have ended meanwhile, and it is visible now
        if self.focused is None:
            self.focus_chat()

    def on_descendant_focus(self) -> None:
        """Show the key hints of the newly focused pane."""
        bars.update_key_hints(self)
        self.startup.release_keys()

    # Opening ------------------------------------------------------------------------------------

    def open_place(self, place: Place) -> None:
        """Open a session; the newest session of a worktree; or the next step."""
        place = self._newest_session(place)
        if place.kind == "session":
            self.open_session(place.id)
            return
        self.place = place
        self.remove_class("tree-open")
        self.projects.move_cursor_to(place)
        self._show_step()
        self._follow_opened()
        self.focus_chat()

    def _newest_session(self, place: Place) -> Place:
        """Return the newest session of a worktree that has one, otherwise the place itself."""
        sessions = self.state.sessions_of(place.id) if place.kind == "worktree" else []
        newest = max(sessions, key=lambda session: session.updated_at, default=None)
        return Place("session", newest.id) if newest is not None else place

    def point_to(self, place: Place) -> None:
        """Make this the place that actions apply to, without moving the focus."""
        self.place = self._newest_session(place)
        if (session := self.session) is not None:
            self._show_session(session)
        else:
            self._show_step()
            self._follow_opened()

    def _follow_opened(self) -> None:
        """Show what is open now around the conversation."""
        bars.follow(self)
        if self._side is not None:
            self._side.follow_place()

    def open_session(self, session_id: str) -> None:
        """Open a session and read its newest messages."""
        if not self.is_connected or (session := self.state.sessions.get(session_id)) is None:
            return
        self.place = Place("session", session_id)
        self.recent_sessions = [session_id, *(s for s in self.recent_sessions if s != session_id)]
        del self.recent_sessions[MAX_RECENT:]
        self.startup.save_soon()
        self.remove_class("tree-open")
        self._show_session(session)
        self.focus_chat()

    def _show_session(self, session: "Session") -> None:
        worktree = self.worktree
        self.chat.open_session(session, worktree.project_id if worktree is not None else "")
        if worktree is not None:
            self._connected.outbox.mark_opened(worktree.id)
        unfold = self.startup.is_over
        self.projects.move_cursor_to(Place("session", session.id), expand=unfold)
        self._read(session)
        self.follow_session()
        self._follow_opened()

    def _read(self, session: "Session") -> None:
        self.mirror.histories.open_session_id = session.id
        show = partial(self._connected.conversation.show, session)
        self.run_worker(cast("WorkType[None]", show), group="opening", exclusive=True)

    def _show_step(self) -> None:
        """Show the next step in place of a conversation."""
        step = self._step()
        key = self.place.id if self.place and self.place.kind == "worktree" else ""
        project = self.project
        if (
            self.chat.session_id is not None
            or step != self.chat.welcome.step
            or key != self.chat.key
        ):
            self.chat.open_step(step, key=key, project_id=project.id if project else "")
        self.chat.follow(self.state, ("", ""), "")

    def _step(self) -> Step:
        return next_step(
            self.state,
            self.place or self._pointed_project,
            is_sending=self.place is not None and self.chat.drafts.is_sending(self.place.id),
            offered=self.offered,
            started_in=self.started_in,
            agents_missing=self._agents_missing,
            key_of=self.key_of,
        )

    @property
    def _pointed_project(self) -> Place | None:
        """The project that the top bar names while nothing is open."""
        project = get_project(self.projects.place, self.state)
        if project is None or (self.offered and find_project_id(self.state, self.offered) is None):
            return None
        return Place("project", project.id)

    def focus_chat(self) -> None:
        """Focus the message box, or the next step."""
        if self.app.screen is self:
            (self.chat.composer if self.chat.key else self.chat.welcome).focus()

    # Messages from widgets ----------------------------------------------------------------------

    @on(ProjectTree.Opened)
    def _row_opened(self, event: ProjectTree.Opened) -> None:
        if self.is_connected:
            self.open_place(event.place)
        else:
            self.startup.chosen = event.place

    @on(ProjectTree.NodeHighlighted)
    def _row_pointed(self) -> None:
        """Update the details, and top bar and pane for the row while nothing is open."""
        if self.is_connected and self.mirror.is_loaded:
            bars.show_detail(self)
            if self.place is None:
                self._show_step()
                bars.follow(self)

    @on(ProjectTree.Filtered)
    def _rows_filtered(self) -> None:
        bars.show_detail(self)

    @on(ProjectTree.Resized)
    def _tree_dragged(self, event: ProjectTree.Resized) -> None:
        self.set_tree_width(event.width)

    def set_tree_width(self, width: int) -> None:
        """Give the tree this width, as far as both panes stay usable, and keep it."""
        if not self.has_class("narrow"):
            self.tree_width = max(MIN_TREE, min(width, self.size.width - MIN_CHAT))
            self._apply_tree_width()
            self.startup.save_soon()

    def _apply_tree_width(self) -> None:
        pane = self.query_one("#projects")
        wanted = None if self.has_class("narrow") else self.tree_width
        for name in ("width", "min_width", "max_width"):
            pane.styles.__setattr__(name, wanted)

    def on_key(self, event: events.Key) -> None:
        """Hold keys that are typed before the message box exists."""
        self.startup.hold_key(event)

    @on(Welcome.Accepted)
    def _step_accepted(self, event: Welcome.Accepted) -> None:
        self.perform(event.action)

    @on(Welcome.Opened)
    def _recent_opened(self, event: Welcome.Opened) -> None:
        self.open_session(event.session_id)

    @on(Chat.Ready)
    def _first_frame_painted(self) -> None:
        self.application.first_frame_painted()

    @on(Chat.MessageSent)
    def _message_sent(self, event: Chat.MessageSent) -> None:
        self.start(self.outbox.send_draft(event.key, event.text, event.images))

    @on(Chat.ShellChanged)
    def _shell_changed(self) -> None:
        bars.update_key_hints(self)

    @on(Chat.CommandGiven)
    def _command_given(self, event: Chat.CommandGiven) -> None:
        self._connected.perform_command(self, event)

    def on_transcript_older_wanted(self) -> None:
        """Read the page of older messages."""
        self.start(self.conversation.read_older())

    def on_transcript_opened(self, event: "Transcript.Opened") -> None:
        """Open a file or a page."""
        self.start(self.open_targets(event.targets))

    def on_request_panel_chosen(self, event: "RequestPanel.Chosen") -> None:
        """Deliver a decision about the current request."""
        self.start(self.outbox.decide(event))

    def on_request_panel_answered(self, event: "RequestPanel.Answered") -> None:
        """Deliver the answers to the current questions."""
        self.start(self.outbox.answer(event))

    # Actions ------------------------------------------------------------------------------------

    def perform(self, action_id: str) -> None:
        """Run an action of the key map by its id."""
        is_loaded = self.is_connected and self.mirror.is_loaded
        if action_id in LOCAL and (is_loaded or action_id != "remove_here"):
            LOCAL[action_id](self)
        elif self._connection is None or not (is_loaded or action_id == "canvas"):
            # Until then the tree shows the rows of the last run.
            self.say("Spinney is still starting. Try again in a moment.")
        else:
            subject = self.place, self.projects.place
            self.run_once(action_id, subject, self._connection.actions[action_id](self))

    async def open_targets(self, targets: "Sequence[Target]") -> None:
        """Open a file or page named in a message; ask which if there are several."""
        await self._connected.open_targets(self, targets)

    def step_back(self) -> bool:
        """Do what escape does before it stops a run; return whether there was anything to do."""
        return step_back(self)

    def action_scroll_chat(self, pages: int) -> None:
        """Scroll the conversation while the message box has the focus."""
        transcript = self.chat.transcript
        if transcript is not None:
            transcript.action_page_up() if pages < 0 else transcript.action_page_down()

    # Dialogs, server, size ----------------------------------------------------------------------

    async def ask(self, dialog: Screen[R]) -> R:
        """Show a dialog and wait for its result."""
        return await self.app.push_screen_wait(dialog)

    def show(self, screen: Screen[None]) -> None:
        """Show a full screen, unless one of its kind is open."""
        if not any(type(other) is type(screen) for other in self.app.screen_stack):
            self.app.push_screen(screen)

    def show_server(self, status: dict[str, Any], problem: str = "") -> None:
        """Show the server's address while it runs; `problem`: why it is not as requested."""
        address = str(status.get("base_url") or "").removeprefix("http://").rstrip("/")
        self.server_address = address if status.get("running") else ""
        bars.follow(self)
        self.application.server_changed.publish((status, problem))

    def set_agents(self, reports: "list[BackendReport]") -> None:
        """Update the first step with which agent programs are installed."""
        self._agents_missing = missing_agents(reports)
        if self.session is None:
            self._show_step()

    def on_resize(self, event: events.Resize) -> None:
        """Hide the projects on a narrow screen; show a notice if it is too small for anything."""
        self._fit(*event.size)
        # The first frame follows the screen's first size, not the conversation's: in a terminal
        # that is too small the conversation is hidden and never gets a resize event.
        self.chat.follow_first_frame()

    def _fit(self, width: int, height: int) -> None:
        problem = size_problem(width, height)
        if problem is None and self.has_class("too-small"):
            self.call_after_refresh(self.focus_chat)  # hidden widgets lost the focus
        self.set_class(problem is not None, "too-small")
        self.query_one("#too-small", Static).update(problem or "")
        # Screen-reader mode shows one pane at a time, too.
        self.set_class(width < WIDE or self.terminal.screen_reader, "narrow")
        self.set_class(height < LOW, "low")
        self._apply_tree_width()
        self._fit_side(width)

    # The side pane ------------------------------------------------------------------------------

    def toggle_side(self) -> None:
        """Show changes, then a second session, then nothing in the side pane; and keep that."""
        if self.size.width < MIN_SIDE or self.terminal.screen_reader:
            self.say(f"The side pane needs a terminal of at least {MIN_SIDE} columns.")
            return
        at = SIDE_CONTENTS.index(self._find_side(self.size.width))
        self.side_wanted = SIDE_CONTENTS[(at + 1) % len(SIDE_CONTENTS)]
        self._fit_side(self.size.width)
        self.startup.save_soon()

    def _fit_side(self, width: int) -> None:
        wanted = self._find_side(width)
        is_shown = wanted != "hidden" and self.is_connected and self.mirror.is_loaded
        self.set_class(is_shown, "side")
        if is_shown and self._side is None:
            from tui.side.pane import SidePane  # after the first frame

            self._side = SidePane(self)
            self.query_one("#body").mount(self._side)
        if self._side is not None:
            self._side.switch(wanted if is_shown else "hidden")
            if is_shown:
                self._side.read_soon()

    def _find_side(self, width: int) -> SideContent:
        """What the side pane shows on a screen of this width."""
        if width < MIN_SIDE or self.terminal.screen_reader:
            return "hidden"
        return self.side_wanted or ("changes" if width >= ROOMY else "hidden")
