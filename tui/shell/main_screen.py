"""The one screen where work is done: projects on the left, a conversation on the right.

It follows the mirror, knows what is open, and hands actions to `tui.actions`. Before the client is
there it shows its empty frame; everything that costs time to import comes after that.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.command import Provider
from textual.containers import Horizontal
from textual.widgets import Static

from model.base.git_layout import repository_around
from tui.actions.local import LOCAL
from tui.keys import keymap
from tui.keys.names import shown
from tui.shell import bars
from tui.shell.departed import keep_words
from tui.shell.onboarding import is_project, missing_agents, next_step
from tui.shell.selection import Here
from tui.shell.startup import EVERY, Beginning
from tui.store.places import Place, is_shown, nearest, project_of
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

    from model.commands.doctor import BackendReport
    from model.domain.resources import Session
    from tui.shell.app import SpinneyApp
    from tui.store.mirror import Change
    from tui.transcript.widget import Transcript


def _action_commands() -> type[Provider]:
    from tui.shell.palette_commands import ActionCommands

    return ActionCommands


def _session_commands() -> type[Provider]:
    from tui.shell.palette_commands import SessionCommands

    return SessionCommands


class MainScreen(Here):
    """Projects, a conversation, and the bars around them."""

    BINDINGS: ClassVar[list[BindingType]] = [*keymap.bindings()]
    AUTO_FOCUS = ""  # Textual's choice would be the tree, which nobody asked for.
    COMMANDS: ClassVar[set[Callable[[], type[Provider]]]] = {_action_commands, _session_commands}  # type: ignore[assignment]

    def __init__(self, terminal: Terminal, *, started_in: Path | None, demo: bool) -> None:
        super().__init__(classes="for-ears" if terminal.plain else None)
        self.terminal = terminal
        self.demo = demo
        self.started_in = started_in
        self.offered = repository_around(started_in) if started_in else None
        """The repository that Spinney was started in."""
        self.key_overrides: Mapping[str, str] = {}
        self.wanted_modes: dict[str, Any] = {}
        """Modes that were asked for and are not confirmed yet, by session."""
        self.server_address = ""
        """Where the server answers, while it runs."""
        self._agents_missing: tuple[str, ...] = ()
        self.beginning = Beginning(self, None)

    def compose(self) -> ComposeResult:
        """The whole frame."""
        yield TopBar(id="top")
        with Horizontal(id="body"):
            yield self.beginning.tree()
            with Chat(id="chat"):
                yield from self.beginning.picture()
        if self.terminal.plain:
            yield Announcements(id="announcements")
        yield KeyHints(id="keys")
        yield Static(id="too-small", markup=False)

    def on_mount(self) -> None:
        """Frame the tree, and wait for the client."""
        self._fit(*self.app.size)  # the first layout is that of the first frame
        self.projects.border_title = "Projects"
        self.set_interval(EVERY, self.beginning.keep)
        self.chat.welcome.focus()
        bars.name_keys(self)

    # Following the mirror -----------------------------------------------------------------------

    def follow(self, change: "Change") -> None:
        """Show a change; called at most once a frame."""
        assert self.link is not None
        if not self.app.is_running:
            return  # it is being taken down, a widget at a time
        if change.loaded or change.preferences:
            preferences = change.state.preferences
            self.key_overrides = keymap.normalised(preferences.keybindings)
            self.spinney.follow_preferences(preferences, self.key_overrides)
            self.recolor()
        self.projects.follow(change)
        first_changed = self.link.fold(change, self.chat.session_id)
        self.chat.tell(change, first_changed)
        # Text streams at thirty frames a second; what it does not change is not looked at.
        if not change.is_only_text:
            if change.lost is None:
                self._follow_place(change)
            bars.follow(self)
        self.beginning.changed()
        if self.session is None or change.lost is not None:
            self.beginning.lift()
        self.link.tell_events(change.events)

    def recolor(self) -> None:
        """Draw the conversation in the colours that are on."""
        if self.link is not None and self.chat.transcript is not None:
            self.chat.transcript.set_palette(self.link.palette)

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
                self.beginning.begin(change.state)

    def follow_session(self) -> None:
        """Show the open session as it is."""
        session = self.session
        assert session is not None and self.link is not None
        self.chat.follow(self.state, self.link.labels(session), self.key_of("show_scripts"))
        if session.unread and self.app.app_focus and bars.is_in_sight(self):
            self.link.mark_read(session.id)

    def on_unmount(self) -> None:
        """Give the terminal its title back."""
        if self.link is not None:
            self.link.notices.close()

    def on_screen_resume(self) -> None:
        """Behind a dialog the keys go on where they went; if that is gone, to the message box."""
        if self.session is not None:
            self.follow_session()  # which may have ended meanwhile, and is seen now
        if self.focused is None:
            self.focus_chat()

    def on_descendant_focus(self) -> None:
        """Other keys matter in another pane."""
        bars.name_keys(self)
        self.beginning.focused()

    # Opening ------------------------------------------------------------------------------------

    def open_place(self, place: Place) -> None:
        """Open a session; a worktree with its newest session; or the step that comes next."""
        place = self._inmost(place)
        if place.kind == "session":
            self.action_open_session(place.id)
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

    def action_open_session(self, session_id: str) -> None:
        """Open a session and read its newest messages."""
        if self.link is None or (session := self.state.sessions.get(session_id)) is None:
            return
        self.place = Place("session", session_id)
        self.beginning.keep_soon()
        self.remove_class("tree-open")
        self._show_session(session)
        self.focus_chat()

    def _show_session(self, session: "Session") -> None:
        worktree = self.worktree
        self.chat.open_session(session, worktree.project_id if worktree is not None else "")
        if worktree is not None and self.link is not None:
            self.link.mark_opened(worktree.id)
        unfold = self.beginning.is_over
        self.projects.point_at(Place("session", session.id), unfold=unfold)
        self._read(session)
        self.follow_session()
        bars.follow(self)

    def _read(self, session: "Session") -> None:
        assert self.link is not None
        show = partial(self.link.show, session)
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

    def key_of(self, action_id: str) -> str:
        """The keys of an action, as people read them."""
        return shown(keymap.keys_of(action_id, self.key_overrides))

    def focus_chat(self) -> None:
        """The keys go to the message box, or to the step that comes next."""
        if self.app.screen is self:
            (self.chat.composer if self.chat.key else self.chat.welcome).focus()

    # What widgets tell --------------------------------------------------------------------------

    @on(ProjectTree.Opened)
    def _row_opened(self, event: ProjectTree.Opened) -> None:
        if self.link is None:
            self.beginning.chosen = event.place
        else:
            self.open_place(event.place)

    @on(ProjectTree.NodeHighlighted)
    def _row_pointed(self) -> None:
        """While nothing is open, both the bar at the top and the pane follow the cursor."""
        if self.link is not None and self.place is None and self.mirror.is_loaded:
            self._show_step()
            bars.follow(self)

    def on_key(self, event: events.Key) -> None:
        """What is typed before there is anything to write to is not lost."""
        self.beginning.keep_key(event)

    @on(Welcome.Accepted)
    def _step_accepted(self, event: Welcome.Accepted) -> None:
        self.action_do(event.action)

    @on(Chat.Shown)
    def _first_frame_stands(self) -> None:
        self.spinney.first_frame_stands()

    @on(Chat.Said)
    def _said(self, event: Chat.Said) -> None:
        if self.link is not None:
            self.link.start(self.link.said(event.key, event.text, event.images))

    def on_transcript_older_wanted(self) -> None:
        """Read on into the past."""
        if self.link is not None:
            self.link.start(self.link.older())

    def on_transcript_opened(self, event: "Transcript.Opened") -> None:
        """Open a file or a page."""
        if self.link is not None:
            self.link.start(self.link.open_one(event.targets))

    @on(RequestPanel.Chosen)
    def _chosen(self, event: RequestPanel.Chosen) -> None:
        if self.link is not None:
            self.link.start(self.link.decide(event))

    @on(RequestPanel.Answered)
    def _answered(self, event: RequestPanel.Answered) -> None:
        if self.link is not None:
            self.link.start(self.link.answer(event))

    # Actions ------------------------------------------------------------------------------------

    def action_do(self, action_id: str) -> None:
        """Do an action of the key map."""
        is_loaded = self.link is not None and self.mirror.is_loaded
        if action_id in LOCAL and (is_loaded or action_id != "remove_here"):
            LOCAL[action_id](self)
        elif self.link is None or not (is_loaded or action_id == "canvas"):
            # The rows that stand meanwhile are those of the last time.
            self.say("Spinney is still starting; try again in a moment.")
        else:
            here = self.place, self.projects.place
            self.link.perform(action_id, here, self.link.do(action_id))

    def action_scroll_chat(self, pages: int) -> None:
        """Scroll the conversation while the message box has the focus."""
        transcript = self.chat.transcript
        if transcript is not None:
            transcript.action_page_up() if pages < 0 else transcript.action_page_down()

    # Small things -------------------------------------------------------------------------------

    @property
    def spinney(self) -> "SpinneyApp":
        """The application."""
        return cast("SpinneyApp", self.app)

    def say(self, sentence: str, *, bad: bool = False) -> None:
        """A passing word; never markup."""
        self.app.notify(
            sentence,
            severity="error" if bad else "information",
            markup=False,
            timeout=8 if bad else 4,
        )

    def show_server(self, status: dict[str, Any], problem: str = "") -> None:
        """Name the server's address while it runs; `problem`: why it is not as was wanted."""
        address = str(status.get("base_url") or "").removeprefix("http://").rstrip("/")
        self.server_address = address if status.get("running") else ""
        bars.follow(self)
        self.spinney.server_changed.publish((status, problem))

    def agents_found(self, reports: "list[BackendReport]") -> None:
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
