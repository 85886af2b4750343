"""The main screen's base class: the selection and the state, without any drawing."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from textual.reactive import Reactive
from textual.screen import Screen

from tui.desk import Host
from tui.keys import overrides
from tui.keys.names import format_key
from tui.store.places import Place, SideContent, get_project, get_worktree
from tui.tree.widget import ProjectTree
from tui.widgets.chat import Chat

if TYPE_CHECKING:
    from textual.widget import Widget

    from model.client.base import Client
    from model.domain.projects import Project
    from model.domain.sessions import Session
    from model.domain.worktrees import Worktree
    from model.preferences.schema import Preferences
    from model.state import State
    from tui.shell.type_ahead import TypeAhead
    from tui.store.mirror import Mirror
    from tui.store.task_choices import TaskChoices
    from tui.terminal.capabilities import Terminal


class Application(Host, Protocol):
    """The application, as far as the main screen uses it."""

    type_ahead: "TypeAhead"

    def may_stop(self) -> bool:
        """Whether the key that was pressed last may stop a run."""

    @property
    def is_dark(self) -> bool:
        """Whether a dark theme is on."""

    def first_frame_painted(self) -> None:
        """Connect; called once."""

    def follow_preferences(
        self, preferences: "Preferences", key_overrides: Mapping[str, str]
    ) -> None:
        """Apply theme, keys and hints."""

    def write(self, sequence: str) -> None:
        """Send a control sequence, if there is a terminal."""

    def leave_running(self) -> None:
        """Close the screen and keep the agents running."""

    def action_to_shell(self) -> None:
        """Suspend to the shell."""

    def action_command_palette(self) -> None:
        """Open the command palette."""


class Selection(Screen[None]):
    """The selection: what is open, and the row under the cursor while the tree has the focus."""

    focused: Reactive["Widget | None"] = Reactive(None, repaint=False)
    """Replaces Textual's reactive, which draws the whole screen whenever the focus moves."""

    def __init__(
        self,
        terminal: "Terminal",
        *,
        started_in: Path | None,
        offered: Path | None,
        demo: bool,
        classes: str | None = None,
    ) -> None:
        super().__init__(classes=classes)
        self.terminal = terminal
        self.demo = demo
        self.started_in = started_in
        self.offered = offered
        """The repository that Spinney was started in."""
        self.key_overrides: Mapping[str, str] = {}
        self.server_address = ""
        """The HTTP server's address while it runs."""
        self.place: Place | None = None
        """The open place, or the one selected last."""
        self.seen_release = ""
        """The newest published version that was reported."""
        self.recent_sessions: list[str] = []
        """The ids of sessions, the one opened last first."""
        self.task_choices: dict[str, TaskChoices] = {}
        """What was chosen for the last new task of each project, by its id."""
        self.side_wanted: SideContent | None = None
        """What the user wants in the side pane; `None` until that was chosen."""
        self.tree_width: int | None = None
        """The width in cells that the user gave the tree."""
        self._mirror: Mirror | None = None

    # Implemented by the main screen ---------------------------------------------------------------

    def open_place(self, place: Place) -> None:
        """Open a session; the newest session of a worktree; or the next step."""
        raise NotImplementedError

    def open_session(self, session_id: str) -> None:
        """Open a session and read its newest messages."""
        raise NotImplementedError

    def point_to(self, place: Place) -> None:
        """Make this the place that actions apply to, without moving the focus."""
        raise NotImplementedError

    def perform(self, action_id: str) -> None:
        """Run an action of the key map by its id."""
        raise NotImplementedError

    def toggle_side(self) -> None:
        """Show or hide the side pane, and keep that."""
        raise NotImplementedError

    def action_do(self, action_id: str) -> None:
        """Run an action of the key map: Textual's name for `perform`."""
        self.perform(action_id)

    def focus_chat(self) -> None:
        """Focus the message box, or the next step."""
        raise NotImplementedError

    def follow_session(self) -> None:
        """Draw the open session again."""
        raise NotImplementedError

    # State and selection --------------------------------------------------------------------------

    @property
    def is_connected(self) -> bool:
        """Whether there is a client; the properties below that need one fail without it."""
        return self._mirror is not None

    @property
    def mirror(self) -> "Mirror":
        """The state and its changes."""
        assert self._mirror is not None
        return self._mirror

    @property
    def client(self) -> "Client":
        """Calls commands."""
        return self.mirror.client

    @property
    def state(self) -> "State":
        """The mirror's state."""
        return self.mirror.state

    @property
    def projects(self) -> ProjectTree:
        """The tree."""
        return self.query_one("#tree", ProjectTree)

    @property
    def chat(self) -> Chat:
        """The conversation pane."""
        return self.query_one("#chat", Chat)

    @property
    def session(self) -> "Session | None":
        """The open session."""
        if not self.is_connected or self.place is None or self.place.kind != "session":
            return None
        return self.state.sessions.get(self.place.id)

    @property
    def worktree(self) -> "Worktree | None":
        """The worktree that actions apply to, always of the same project as `project`."""
        if not self.is_connected:
            return None
        first, second = self._places
        found, other = get_worktree(first, self.state), get_worktree(second, self.state)
        if found is not None or other is None:
            return found
        project = get_project(first, self.state)
        return other if project is None or project.id == other.project_id else None

    @property
    def project(self) -> "Project | None":
        """The project that actions apply to."""
        if not self.is_connected:
            return None
        first, second = self._places
        return get_project(first, self.state) or get_project(second, self.state)

    @property
    def _places(self) -> tuple[Place | None, Place | None]:
        """The open place and the tree's cursor, the focused one first."""
        opened, pointed = self.place, self.projects.place
        return (pointed, opened) if self.focused is self.projects else (opened, pointed)

    # The application ------------------------------------------------------------------------------

    @property
    def application(self) -> Application:
        """The application."""
        return cast("Application", self.app)

    @property
    def host(self) -> Host:
        """The application, as far as actions use it."""
        return self.application

    def key_of(self, action_id: str) -> str:
        """The keys of an action, as displayed."""
        return format_key(overrides.get_keys(action_id, self.key_overrides))

    def say(self, sentence: str, *, bad: bool = False) -> None:
        """Show a notification; never parsed as markup."""
        self.app.notify(
            sentence,
            severity="error" if bad else "information",
            markup=False,
            timeout=8 if bad else 4,
        )
