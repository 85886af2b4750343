"""The interfaces through which actions, dialogs and full screens use the program; no code.

The main screen implements `Desk` and passes itself to actions once a client is connected, so
nothing here is optional because of a missing connection. Tests of actions use a small fake.
"""

from collections.abc import Callable, Coroutine, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen
    from textual.signal import Signal

    from model.api.doctor import BackendReport
    from model.client.base import Client
    from model.domain.projects import Project
    from model.domain.sessions import Session
    from model.domain.worktrees import Worktree
    from model.preferences.schema import Preferences
    from model.state import State
    from tui.draw.colors import Palette
    from tui.store.agent_catalog import AgentCatalog
    from tui.store.dialog_drafts import DialogDrafts
    from tui.store.mirror import Mirror
    from tui.store.pending import Pending
    from tui.store.places import Place
    from tui.store.task_choices import TaskChoices
    from tui.terminal.capabilities import Terminal
    from tui.transcript.targets import Target
    from tui.tree.widget import ProjectTree
    from tui.widgets.chat import Chat
    from tui.widgets.request_panel import RequestPanel

R = TypeVar("R")
ServerStatus = tuple[dict[str, Any], str]
"""The HTTP server's status, and why it differs from what was requested, or ''."""


class Host(Protocol):
    """The application around the main screen."""

    attached: bool
    """Whether the model runs in another process, which outlives this terminal."""
    remote_address: str
    """The address of the Spinney on another machine that has the files; '' for a local one."""
    terminal: "Terminal"
    preferences_changed: "Signal[Preferences]"
    server_changed: "Signal[ServerStatus]"

    def copy(self, text: str) -> None:
        """Copy to the clipboard through the terminal, and confirm it."""

    def use_theme(self, wanted: Literal["system", "light", "dark"]) -> None:
        """Show a theme without changing the preferences."""

    def toggle_mouse(self) -> bool:
        """Release the mouse to the terminal, or capture it again; return whether it is released."""

    def restart(self) -> None:
        """Start this terminal again in the installed version; what it is attached to goes on."""

    def leave(self) -> None:
        """Quit; ask for confirmation if that would interrupt a run."""


class Outbox(Protocol):
    """Messages and answers on their way to sessions."""

    async def send(
        self,
        session_id: str,
        text: str,
        images: tuple[str, ...] = (),
        *,
        steers: bool = False,
        send_at: float | str | None = None,
    ) -> None:
        """Send a message, queue it behind the run or until a time, or send it into the run.

        Raises `SpinneyError`.
        """

    async def send_draft(
        self, key: str, text: str, images: tuple[str, ...] = (), *, steers: bool = False
    ) -> None:
        """Send the draft of a session, or of a worktree, for which a session is created."""

    async def start_session(
        self, worktree_id: str, create: Callable[[], Coroutine[Any, Any, str]]
    ) -> str:
        """Create a session, or wait for the one that is being created; a second message joins it.

        Returns the session's id, or '' if the creation that was waited for failed.
        """

    async def create_session(self, worktree_id: str, **wanted: Any) -> str:
        """Create a session and return its id; what is in the worktree's box moves to its box."""

    async def decide(self, chosen: "RequestPanel.Chosen") -> None:
        """Approve a plan, or decide on a permission."""

    async def answer(self, answered: "RequestPanel.Answered") -> None:
        """Answer the questions of a session."""

    def return_text(self, session_id: str, text: str) -> None:
        """Put text that was not sent into the session's message box."""


class Conversation(Protocol):
    """The open conversation's messages."""

    async def read_older(self) -> None:
        """Read the page before the first loaded message."""

    async def reveal(self, session_id: str, message_id: str) -> None:
        """Scroll to a message of the session just opened, reading the pages before it."""


class Desk(Protocol):
    """The selection, the state, and the means to ask, notify and act."""

    started_in: Path | None
    offered: Path | None
    """The repository that Spinney was started in."""
    demo: bool
    key_overrides: Mapping[str, str]
    task_choices: "dict[str, TaskChoices]"
    """What was chosen for the last new task of each project, by its id."""
    recent_sessions: list[str]
    """The ids of sessions, the one opened last first; they may not exist any more."""

    @property
    def app(self) -> "App[Any]":
        """The Textual application."""

    @property
    def host(self) -> Host:
        """The application, as far as actions use it."""

    @property
    def client(self) -> "Client":
        """Calls commands."""

    @property
    def mirror(self) -> "Mirror":
        """The state and its changes."""

    @property
    def state(self) -> "State":
        """The mirror's state."""

    @property
    def agents(self) -> "AgentCatalog":
        """Agents and models."""

    @property
    def outbox(self) -> Outbox:
        """Messages and answers."""

    @property
    def conversation(self) -> Conversation:
        """The open conversation."""

    @property
    def drafts(self) -> "DialogDrafts":
        """Unused input of dialogs."""

    @property
    def pending(self) -> "Pending":
        """Requests that are not confirmed yet."""

    @property
    def palette(self) -> "Palette":
        """The colors of conversations and diffs."""

    @property
    def chat(self) -> "Chat":
        """The conversation pane."""

    @property
    def projects(self) -> "ProjectTree":
        """The tree."""

    @property
    def place(self) -> "Place | None":
        """The open session, worktree or project."""

    @property
    def session(self) -> "Session | None":
        """The open session."""

    @property
    def worktree(self) -> "Worktree | None":
        """The worktree that actions apply to."""

    @property
    def project(self) -> "Project | None":
        """The project that actions apply to."""

    def key_of(self, action_id: str) -> str:
        """The keys of an action, as displayed."""

    def say(self, sentence: str, *, bad: bool = False) -> None:
        """Show a notification; never parsed as markup."""

    async def ask(self, dialog: "Screen[R]") -> R:
        """Show a dialog and wait for its result."""

    def show(self, screen: "Screen[None]") -> None:
        """Show a full screen, unless one of its kind is open."""

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run in the background; errors become notifications."""

    def run_once(self, action_id: str, subject: Hashable, work: Coroutine[Any, Any, None]) -> bool:
        """Run an action, unless it still runs for the same subject; return whether it began."""

    def perform(self, action_id: str) -> None:
        """Run an action of the key map by its id."""

    def open_place(self, place: "Place") -> None:
        """Open a session, a worktree or a project."""

    def open_session(self, session_id: str) -> None:
        """Open a session and read its newest messages."""

    def point_to(self, place: "Place") -> None:
        """Make this the place that actions apply to, without moving the focus."""

    def focus_chat(self) -> None:
        """Focus the message box, or the next step."""

    def follow_session(self) -> None:
        """Draw the open session again."""

    def set_tree_width(self, width: int) -> None:
        """Give the tree this width in cells, as far as both panes stay usable, and keep it."""

    async def open_targets(self, targets: "Sequence[Target]") -> None:
        """Open a file or page named in a message; ask which if there are several."""

    def step_back(self) -> bool:
        """Do what escape does before it stops a run; return whether there was anything to do."""

    def show_server(self, status: dict[str, Any], problem: str = "") -> None:
        """Show the HTTP server's status on every screen that displays it."""

    def set_agents(self, reports: "list[BackendReport]") -> None:
        """Update the first step with which agent programs are installed."""


ActionFunction = Callable[[Desk], Coroutine[Any, Any, None]]
"""The function behind a key or an entry of the command palette."""
