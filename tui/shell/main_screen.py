"""The main screen: projects on the left, a conversation on the right. Implements `Desk`.

Until a client is connected it shows an empty frame; expensive imports happen after that.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

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
from tui.shell.opening import Opening
from tui.shell.startup import SAVE_INTERVAL, Startup
from tui.terminal.capabilities import Terminal
from tui.terminal.screen_reader import Announcements
from tui.tree.detail import PlaceDetail
from tui.tree.widget import ProjectTree
from tui.widgets.chat import Chat
from tui.widgets.key_hints import KeyHints
from tui.widgets.top_bar import TopBar
from tui.widgets.welcome import Welcome

if TYPE_CHECKING:
    from model.client.base import Client
    from tui.screens.palette import Entry
    from tui.shell.connection import Connection
    from tui.store.mirror import Change
    from tui.transcript.targets import Target
    from tui.transcript.widget import Transcript
    from tui.widgets.request_panel import RequestPanel

R = TypeVar("R")


class MainScreen(Opening):
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
        self.startup = Startup(self, snapshot)

    def compose(self) -> ComposeResult:
        """The top bar, the tree, the conversation pane and the key hints."""
        self._classify(*self.app.size)  # while there is nothing else to style
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
        self.set_focus(self.chat.welcome)  # at once, so that the first frame shows it
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

    def on_unmount(self) -> None:
        """Restore the terminal's title."""
        if self._connection is not None:
            self._connection.notifier.close()

    def on_descendant_focus(self) -> None:
        """Show the key hints of the newly focused pane."""
        bars.update_key_hints(self)
        self.startup.release_keys()

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
        self.start(self.outbox.send_draft(event.key, event.text, event.images, steers=event.steers))

    @on(Chat.ShellChanged)
    def _shell_changed(self) -> None:
        bars.update_key_hints(self)

    @on(Chat.CommandGiven)
    def _command_given(self, event: Chat.CommandGiven) -> None:
        from tui.composer.slash_commands import SLASH_COMMANDS

        if event.argument:
            began = self._connected.perform_command(self, event)
        else:
            began = self._begin(SLASH_COMMANDS[event.name].action)
        if began:
            return
        self.chat.return_message(event.key, event.line)
        if self._is_loaded:
            self.say(f"/{event.name} is still running. It is in the message box again.")

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
        self._begin(action_id)

    @property
    def _is_loaded(self) -> bool:
        return self.is_connected and self.mirror.is_loaded

    def _begin(self, action_id: str) -> bool:
        """Run an action; return whether it began."""
        if action_id in LOCAL and (self._is_loaded or action_id != "remove_here"):
            LOCAL[action_id](self)
            return True
        if self._connection is None or not (self._is_loaded or action_id == "canvas"):
            # Until then the tree shows the rows of the last run.
            self.say("Spinney is still starting. Try again in a moment.")
            return False
        subject = self.place, self.projects.place
        return self.run_once(action_id, subject, self._connection.actions[action_id](self))

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
