"""The main screen: projects on the left, a conversation on the right. It is the `Desk` of actions.

Before a client is connected it shows its empty frame; everything that costs time to import comes
after that.
"""

from collections.abc import Coroutine, Hashable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.screen import Screen
from textual.style import Style
from textual.widgets import Static

from model.base.git_layout import repository_around
from tui.keys import keymap
from tui.shell import bars
from tui.shell.departed import keep_words
from tui.shell.local_actions import LOCAL, step_back
from tui.shell.onboarding import missing_agents, next_step
from tui.shell.selection import Selection
from tui.shell.startup import EVERY, Startup
from tui.store.places import Place, is_project, is_shown, nearest, project_of
from tui.terminal.capabilities import WIDE, Terminal, size_problem
from tui.terminal.plain import Announcements
from tui.tree.widget import ProjectTree
from tui.widgets.chat import Chat
from tui.widgets.key_hints import KeyHints
from tui.widgets.request_panel import RequestPanel
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
    from tui.store.agent_catalog import AgentCatalog
    from tui.store.dialog_drafts import DialogDrafts
    from tui.store.mirror import Change
    from tui.store.pending import Pending
    from tui.transcript.targets import Target
    from tui.transcript.widget import Transcript

R = TypeVar("R")


class MainScreen(Selection):
    """Projects, a conversation, and the bars around them."""

    BINDINGS: ClassVar[list[BindingType]] = [*keymap.bindings()]
    AUTO_FOCUS = ""  # Textual's choice would be the tree, which nobody asked for.

    def __init__(
        self, terminal: Terminal, *, started_in: Path | None, demo: bool, snapshot: Path | None
    ) -> None:
        super().__init__(
            terminal,
            started_in=started_in,
            offered=repository_around(started_in) if started_in else None,
            demo=demo,
            classes="-screen-reader" if terminal.plain else None,
        )
        self._connection: Connection | None = None
        self._agents_missing: tuple[str, ...] = ()
        self.startup = Startup(self, snapshot)

    def compose(self) -> ComposeResult:
        """The whole frame."""
        yield TopBar(id="top")
        with Horizontal(id="body"):
            yield self.startup.tree()
            yield Chat(id="chat")
        if self.terminal.plain:
            yield Announcements(id="announcements")
        yield KeyHints(id="keys")
        yield Static(id="too-small", markup=False)

    def palette_entries(self, words: str, style: Style) -> "Iterable[Entry]":
        """What the command palette shows here."""
        from tui.shell.palette_entries import main_entries

        return main_entries(self, words, style)

    def on_mount(self) -> None:
        """Frame the tree, and wait for the client."""
        self._fit(*self.app.size)  # the first layout is that of the first frame
        self.projects.border_title = "Projects"
        self.set_interval(EVERY, self.startup.keep)
        self.chat.welcome.focus()
        bars.name_keys(self)

    # The client ---------------------------------------------------------------------------------

    def connect(self, client: "Client", connection: "type[Connection]") -> None:
        """Use a client from now on; `connection` was imported meanwhile."""
        self._mirror = connection.mirror_of(client, self.terminal, self.follow)
        self._connection = connection(
            self, agents_changed=self._agents_changed, show_server=self.show_server
        )

    async def first_look(self) -> None:
        """Ask once what only the model knows: agents, problems, the server, what is installed."""
        await self._connected.first_look(self)

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
            return  # it is being taken down, a widget at a time
        if change.loaded or change.preferences:
            preferences = change.state.preferences
            self.key_overrides = keymap.normalised(preferences.keybindings)
            self.application.follow_preferences(preferences, self.key_overrides)
            self.recolor()
        if change.loaded:
            self.start(self._connected.reports.read_server())
        self.projects.follow(change)
        self.chat.tell(change)
        # Text streams at thirty frames a second; what it does not change is not looked at.
        if not change.is_only_text:
            if change.lost is None:
                self._follow_place(change)
            bars.follow(self)
        self.startup.changed()
        self._connected.reports.report(change.events)

    def recolor(self) -> None:
        """Draw the conversation in the colors that are on."""
        if self._connection is not None and self.chat.transcript is not None:
            self.chat.transcript.set_palette(self.palette)

    def _agents_changed(self) -> None:
        """Show the open session under the new labels."""
        if self.session is not None and self.chat.transcript is not None:
            self._read(self.session)
            self.follow_session()

    def _follow_place(self, change: "Change") -> None:
        place = self.place
        if place is not None and not is_shown(place, change.state):
            keep_words(self, place, change)
            self.place = None
            self._show_step()
            held_by = nearest(place, change.state, change.before)
            if held_by is not None and self.focused is self.projects:
                self.projects.point_at(held_by)
                self.point_to(self._inmost(held_by))  # who goes through the tree goes on there
            elif held_by is not None:
                self.open_place(held_by)
        elif self.session is not None:
            if change.loaded:
                self._read(self.session)
            self.follow_session()
        else:
            self._show_step()
            if change.loaded and place is None:
                self.startup.begin(change.state)

    def follow_session(self) -> None:
        """Show the open session as it is."""
        session = self.session
        assert session is not None
        self.chat.follow(self.state, self.agents.labels(session), self.key_of("show_scripts"))
        if session.unread and self.app.app_focus and bars.is_in_sight(self):
            self._connected.outbox.mark_read(session.id)

    def on_unmount(self) -> None:
        """Give the terminal its title back."""
        if self._connection is not None:
            self._connection.notifier.close()

    def on_screen_resume(self) -> None:
        """Behind a dialog the keys go on where they went; if that is gone, to the message box."""
        if self.session is not None:
            self.follow_session()  # which may have ended meanwhile, and is seen now
        if self.focused is None:
            self.focus_chat()

    def on_descendant_focus(self) -> None:
        """Other keys matter in another pane."""
        bars.name_keys(self)
        self.startup.focused()

    # Opening ------------------------------------------------------------------------------------

    def open_place(self, place: Place) -> None:
        """Open a session; a worktree with its newest session; or the step that comes next."""
        place = self._inmost(place)
        if place.kind == "session":
            self.open_session(place.id)
            return
        self.place = place
        self.remove_class("tree-open")
        self.projects.point_at(place)
        self._show_step()
        bars.follow(self)
        self.focus_chat()

    def _inmost(self, place: Place) -> Place:
        """The newest session of a worktree that has one; the place itself otherwise."""
        sessions = self.state.sessions_of(place.id) if place.kind == "worktree" else []
        newest = max(sessions, key=lambda session: session.updated_at, default=None)
        return Place("session", newest.id) if newest is not None else place

    def point_to(self, place: Place) -> None:
        """Make this place the one that actions are about, and leave the focus where it is."""
        self.place = place
        if (session := self.session) is not None:
            self._show_session(session)
        else:
            self._show_step()
            bars.follow(self)

    def open_session(self, session_id: str) -> None:
        """Open a session and read its newest messages."""
        if not self.is_connected or (session := self.state.sessions.get(session_id)) is None:
            return
        self.place = Place("session", session_id)
        self.startup.keep_soon()
        self.remove_class("tree-open")
        self._show_session(session)
        self.focus_chat()

    def _show_session(self, session: "Session") -> None:
        worktree = self.worktree
        self.chat.open_session(session, worktree.project_id if worktree is not None else "")
        if worktree is not None:
            self._connected.outbox.mark_opened(worktree.id)
        unfold = self.startup.is_over
        self.projects.point_at(Place("session", session.id), unfold=unfold)
        self._read(session)
        self.follow_session()
        bars.follow(self)

    def _read(self, session: "Session") -> None:
        self.mirror.histories.shown = session.id
        show = partial(self._connected.conversation.show, session)
        self.run_worker(cast("WorkType[None]", show), group="opening", exclusive=True)

    def _show_step(self) -> None:
        """What comes next, where no conversation is open."""
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
        """The one that the bar at the top names while nothing is open."""
        project = project_of(self.projects.place, self.state)
        if project is None or (self.offered and is_project(self.state, self.offered) is None):
            return None
        return Place("project", project.id)

    def focus_chat(self) -> None:
        """The keys go to the message box, or to the step that comes next."""
        if self.app.screen is self:
            (self.chat.composer if self.chat.key else self.chat.welcome).focus()

    # What widgets tell --------------------------------------------------------------------------

    @on(ProjectTree.Opened)
    def _row_opened(self, event: ProjectTree.Opened) -> None:
        if self.is_connected:
            self.open_place(event.place)
        else:
            self.startup.chosen = event.place

    @on(ProjectTree.NodeHighlighted)
    def _row_pointed(self) -> None:
        """While nothing is open, both the bar at the top and the pane follow the cursor."""
        if self.is_connected and self.place is None and self.mirror.is_loaded:
            self._show_step()
            bars.follow(self)

    def on_key(self, event: events.Key) -> None:
        """What is typed before there is anything to write to is not lost."""
        self.startup.keep_key(event)

    @on(Welcome.Accepted)
    def _step_accepted(self, event: Welcome.Accepted) -> None:
        self.perform(event.action)

    @on(Chat.Shown)
    def _first_frame_painted(self) -> None:
        self.application.first_frame_painted()

    @on(Chat.MessageSent)
    def _message_sent(self, event: Chat.MessageSent) -> None:
        self.start(self.outbox.send_draft(event.key, event.text, event.images))

    def on_transcript_older_wanted(self) -> None:
        """Read on into the past."""
        self.start(self.conversation.read_older())

    def on_transcript_opened(self, event: "Transcript.Opened") -> None:
        """Open a file or a page."""
        self.start(self.open_targets(event.targets))

    @on(RequestPanel.Chosen)
    def _chosen(self, event: RequestPanel.Chosen) -> None:
        self.start(self.outbox.decide(event))

    @on(RequestPanel.Answered)
    def _answered(self, event: RequestPanel.Answered) -> None:
        self.start(self.outbox.answer(event))

    # Actions ------------------------------------------------------------------------------------

    def perform(self, action_id: str) -> None:
        """Run an action of the key map by its id."""
        is_loaded = self.is_connected and self.mirror.is_loaded
        if action_id in LOCAL and (is_loaded or action_id != "remove_here"):
            LOCAL[action_id](self)
        elif self._connection is None or not (is_loaded or action_id == "canvas"):
            # Until then the tree shows the rows of the last run.
            self.say("Spinney is still starting; try again in a moment.")
        else:
            subject = self.place, self.projects.place
            self.run_once(action_id, subject, self._connection.actions[action_id](self))

    async def open_targets(self, targets: "Sequence[Target]") -> None:
        """Open a file or page that a message names; ask which if there are several."""
        await self._connected.open_targets(self, targets)

    def step_back(self) -> bool:
        """What escape does before it stops a run; whether there was anything to do."""
        return step_back(self)

    def action_scroll_chat(self, pages: int) -> None:
        """Scroll the conversation while the message box has the focus."""
        transcript = self.chat.transcript
        if transcript is not None:
            transcript.action_page_up() if pages < 0 else transcript.action_page_down()

    # Small things -------------------------------------------------------------------------------

    async def ask(self, dialog: Screen[R]) -> R:
        """Show a dialog and wait for its result."""
        return await self.app.push_screen_wait(dialog)

    def show(self, screen: Screen[None]) -> None:
        """Show a full screen, unless one of its kind is open."""
        if not any(type(known) is type(screen) for known in self.app.screen_stack):
            self.app.push_screen(screen)

    def show_server(self, status: dict[str, Any], problem: str = "") -> None:
        """Name the server's address while it runs; `problem`: why it is not as was wanted."""
        address = str(status.get("base_url") or "").removeprefix("http://").rstrip("/")
        self.server_address = address if status.get("running") else ""
        bars.follow(self)
        self.application.server_changed.publish((status, problem))

    def set_agents(self, reports: "list[BackendReport]") -> None:
        """Teach the first step when no agent is installed."""
        self._agents_missing = missing_agents(reports)
        if self.session is None:
            self._show_step()

    def on_resize(self, event: events.Resize) -> None:
        """Fold the projects away where there is no room; say so where there is none at all."""
        self._fit(*event.size)
        # The screen's first size is followed by the first frame. The conversation's own is none of
        # it: in a terminal that is too small it is hidden, and hears of no size.
        self.chat.follow_first_frame()

    def _fit(self, width: int, height: int) -> None:
        problem = size_problem(width, height)
        if problem is None and self.has_class("too-small"):
            self.call_after_refresh(self.focus_chat)  # what was hidden has lost the focus
        self.set_class(problem is not None, "too-small")
        self.query_one("#too-small", Static).update(problem or "")
        # For ears there is one thing at a time, too.
        self.set_class(width < WIDE or self.terminal.plain, "narrow")
        self.set_class(width >= 180, "roomy")
