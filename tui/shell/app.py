"""The terminal application: paints its first frame, then connects and follows the state."""

import asyncio
import gc
import inspect
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast
from weakref import WeakKeyDictionary

from textual import events
from textual.binding import Binding, BindingType
from textual.errors import NoWidget
from textual.screen import Screen
from textual.signal import Signal
from textual.theme import Theme
from textual.widget import AwaitMount

from model.base.errors import SpinneyError
from themes.loader import load_chrome
from themes.terminal import theme_colors
from tui.keys.keymap import BY_ID
from tui.keys.overrides import find_conflicts, find_unknown_actions, is_bound
from tui.shell import failure
from tui.shell.interrupt import Interrupt, StopGuard
from tui.shell.main_screen import MainScreen
from tui.shell.startup_snapshot import snapshot_path
from tui.shell.type_ahead import TypeAhead
from tui.terminal import screen_reader
from tui.terminal.background import TerminalDriver
from tui.terminal.bursts import split_burst
from tui.terminal.capabilities import Terminal, exit_on_hangup
from tui.terminal.input_parser import BackgroundReported
from tui.terminal.terminal_app import TerminalApp

if TYPE_CHECKING:
    from textual.widget import Widget

    from model.client.base import Client
    from model.preferences.schema import Preferences
    from tui.composer.draft_store import DraftStore
    from tui.shell.connection import Connection
    from tui.shell.leave import Ending
    from tui.store.mirror import Mirror
    from tui.terminal.supervisor import ForegroundProcess

_DIALOGS = Path(__file__).with_name("dialogs.tcss")
"""Styles of all other screens."""
Connect = Callable[[], "Client | Awaitable[Client]"]


class SpinneyApp(TerminalApp):
    """Spinney in a terminal.

    `connect` returns the client. It is called in a thread once the first frame is painted (or
    awaited, if it is a coroutine function); if it raises `SpinneyError`, a full screen shows the
    message. `offer_path` is the directory in which Spinney was started; `demo` offers the demo
    agent. `attached`: the client's Spinney runs in another process and continues whatever happens
    here; `outlived`: it runs in this one and can continue without this screen. `foreground`
    controls the process in front of this one, which returns the terminal to the shell. Drafts are
    saved below `data`.
    """

    CSS_PATH = "style.tcss"
    TITLE = "Spinney"
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[
        list[BindingType]
    ] = [  # All keys are in the key map. This one has priority on every screen.
        Binding(BY_ID["to_shell"].keys, "to_shell", show=False, priority=True, id="to_shell"),
    ]

    def __init__(
        self,
        connect: Connect,
        *,
        offer_path: Path | None = None,
        demo: bool = False,
        attached: bool = False,
        outlived: bool = False,
        foreground: "ForegroundProcess | None" = None,
        data: Path | None = None,
        elsewhere: str = "",
        environ: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(Terminal.from_environ(os.environ if environ is None else environ))
        self.attached = attached
        self.outlived = outlived
        self.foreground = foreground
        self.ending: Ending = "quit"
        """What the program does after this screen has closed."""
        self._wanted_theme: Literal["system", "light", "dark"] = "system"
        self._key_warnings: list[str] = []
        self._key_overrides: Mapping[str, str] = {}
        self.animation_level = "none"
        snapshot = snapshot_path(data, elsewhere) if data is not None else None
        self.main = MainScreen(self.terminal, started_in=offer_path, demo=demo, snapshot=snapshot)
        self.remote_address = elsewhere
        """The address of the Spinney on another machine that has the files."""
        self.type_ahead = TypeAhead(self, self.main, self.deliver_key)
        self.stop_guard = StopGuard()
        self.interrupt = Interrupt(self.main, self.leave)
        self._screen_of_key: WeakKeyDictionary[events.Key, Screen[Any]] = WeakKeyDictionary()
        """The target screen of each key that is still being delivered."""
        self._connect = connect
        self._data = data
        self.preferences_changed: Signal[Preferences] = Signal(self, "preferences changed")
        """For screens that show preferences, whichever client changed them."""
        self.server_changed: Signal[tuple[dict[str, Any], str]] = Signal(self, "server changed")
        """For screens that show the server: its new status, and why it is not as requested."""
        self.use_theme(self.main.startup.last.theme)

    def get_default_screen(self) -> MainScreen:
        """Use the main screen: a default one below it would be styled and laid out for nothing."""
        return self.main

    async def on_mount(self) -> None:
        """Set up signals and the driver; the rest follows once the frame is painted."""
        if isinstance(self.driver, TerminalDriver):
            self.driver.is_bound = lambda key: is_bound(key, self.main.key_overrides)
        if not self.is_headless:
            exit_on_hangup(self._on_end_signal, self.exit, self.foreground)
            self._stop_by_signal()
            if self.terminal.screen_reader:
                self.write(screen_reader.SHOW_CURSOR)
        # Everything that the terminal sends waits until this returns. A local one answers the
        # first queries at once, when the main screen has no widgets yet.
        await AwaitMount(self.main, [self.main])

    def report_failure(self, error: Exception | None) -> bool:
        """Show one message; the traceback goes to the log, if there is one."""
        if (message := failure.log(error, self._data)) is not None:
            self.panic(message)
        return message is not None

    async def on_event(self, event: events.Event) -> None:
        """Keep keys and clicks in order, and never apply a key to a screen below its target."""
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            if not self.main.startup.hold_early(event) and not self.type_ahead.hold(event):
                await self.deliver_key(event)
        elif isinstance(event, events.MouseUp) and not event.is_forwarded:
            clicked = self._find_widget(event)
            self.stop_guard.click_sent()
            await super().on_event(event)
            self.type_ahead.click_sent(clicked)
        # A key that closed its screen still bubbles up to here, and the screen below has bindings
        # of the same name.
        elif (
            not isinstance(event, events.Key)
            or self._screen_of_key.get(event, self.screen) is self.screen
        ):
            await super().on_event(event)

    async def deliver_key(self, event: events.Key | events.Paste) -> None:
        """Send a key to the focused widget; of a divided burst only the first, the rest wait."""
        target = self.focused or self.screen
        if isinstance(event, events.Key):
            event, *rest = split_burst(event, target)
            self.type_ahead.put_first(rest)
            self._screen_of_key[event] = self.screen
            self.stop_guard.key_sent(event)
        await super().on_event(event)
        self.type_ahead.key_sent(event, target)

    def _find_widget(self, event: events.MouseEvent) -> "Widget":
        try:
            return self.screen.get_widget_at(*event.screen_offset)[0]
        except NoWidget:  # a position that the terminal does not have
            return self.screen

    def screen_drawn(self, screen: Screen[Any]) -> None:
        """Complete the main screen after its first frame."""
        if screen is self.main:
            self.main.chat.complete_later()

    def screen_painted(self, screen: Screen[Any]) -> None:
        """Release the keys that waited for a screen; called after its first paint."""
        self.type_ahead.screen_opened(self.drawn_at.get(screen, inf))

    def screen_closing(self) -> None:
        """Release the keys that waited behind a screen; called before it closes."""
        self.stop_guard.screen_closed()
        self.type_ahead.release()

    def may_stop(self) -> bool:
        """Whether the key that was pressed last may stop a run."""
        return self.stop_guard.may_stop()

    def press_key(self, key: events.Key) -> None:
        """Deliver a key that a click or a command stands for, before those typed behind it."""
        # From the application, so that it bubbles up to it from any widget.
        self.call_later(self.deliver_key, key.set_sender(self))

    def first_frame_painted(self) -> None:
        """Start connecting; called once, by the main screen."""
        # Objects created so far live until exit. The entry point may have disabled the garbage
        # collector during imports, which saves a tenth of the time to the first frame.
        gc.freeze()
        gc.enable()
        self.run_worker(self._run(), exit_on_error=True)

    async def _run(self) -> None:
        """Connect, then follow the client's updates until exit."""
        try:
            client = await self._client()
            connection = await asyncio.to_thread(_import_connection)
            self.main.chat.drafts = await asyncio.to_thread(_drafts, self._data)
        except SpinneyError as error:
            self._show_problem(error.message)
            return
        try:
            if self.is_running:  # else closed meanwhile: the screen has no widgets any more
                if self.foreground is not None:
                    self.foreground.report_running()
                await self._follow_client(client, connection)
        finally:
            await client.close()

    async def _follow_client(self, client: "Client", connection: "type[Connection]") -> None:
        self.main.connect(client, connection)
        self.main.start(self.main.run_startup_checks())
        self.run_worker(self._settle(self.main.mirror))
        await self.main.mirror.run()

    async def _settle(self, mirror: "Mirror") -> None:
        """Load what the first conversation needs, and exclude it from garbage collection.

        Everything imported and loaded by then lives until exit. A full collection that scans it
        blocks screen and core for 40 ms in the middle of a stream.
        """
        from tui.shell.preload import warm_up

        await asyncio.to_thread(warm_up)
        if not self.is_running:
            return  # closed meanwhile: nothing can be mounted any more
        self.main.chat.ensure_transcript()
        with suppress(TimeoutError):
            await mirror.wait_for(lambda _: True)
            gc.collect(1)
            gc.freeze()
            # Streamed rows would otherwise trigger a full collection every few seconds.
            gc.set_threshold(*gc.get_threshold()[:2], 50)

    async def _client(self) -> "Client":
        if inspect.iscoroutinefunction(self._connect):
            return cast("Client", await self._connect())
        return await asyncio.to_thread(cast("Callable[[], Client]", self._connect))

    def push_screen(self, *given: Any, **named: Any) -> Any:
        """Push a screen; the first one reads the styles of all, which take 10 ms to parse."""
        if not self.stylesheet.has_source(str(_DIALOGS)):
            self.stylesheet.read(_DIALOGS)
        return super().push_screen(*given, **named)

    def _show_problem(self, message: str) -> None:
        from tui.screens.problem import Problem

        self.push_screen(Problem(message))

    # Called by the main screen ------------------------------------------------------------------

    def follow_preferences(
        self, preferences: "Preferences", key_overrides: Mapping[str, str]
    ) -> None:
        """Apply theme, keys and hints."""
        self.use_theme(preferences.theme)
        self.main.set_class(not preferences.show_keybinding_hints, "no-hints")
        if key_overrides != self._key_overrides:
            self._key_overrides = dict(key_overrides)
            self.set_keymap(key_overrides)
        warnings = [*find_conflicts(key_overrides), *find_unknown_actions(preferences.keybindings)]
        for message in warnings:
            if message not in self._key_warnings:
                self.notify(message, severity="warning", markup=False)
        self._key_warnings = warnings
        self.preferences_changed.publish(preferences)

    def use_theme(self, wanted: Literal["system", "light", "dark"]) -> None:
        """Show a theme without changing the preferences."""
        self._wanted_theme = wanted
        is_dark = self.terminal.dark if wanted == "system" else wanted == "dark"
        colors = load_chrome("dark" if is_dark else "light")
        if colors.name not in self.available_themes:
            self.register_theme(Theme(**asdict(theme_colors(colors))))
        if self.theme != colors.name:
            self.theme = colors.name
            self.main.recolor()

    def refresh_css(self, animate: bool = True) -> None:
        """Restyle everything; before the first screen, only set the variables.

        Without animation, for which each rule would be compared with the one before.
        """
        if self.screen_stack:
            super().refresh_css(animate=False)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def on_background_reported(self, event: BackgroundReported) -> None:
        """Follow the terminal's background if the theme is "system"."""
        self.terminal = replace(self.terminal, dark=event.dark)
        self.use_theme(self._wanted_theme)

    def on_keyboard_reported(self) -> None:
        """Number the first sessions of the tree, for alt and a digit."""
        self.main.projects.show_numbers()

    @property
    def is_dark(self) -> bool:
        """Whether a dark theme is on."""
        return self.current_theme.dark

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the command palette on screens without entries, which may use its key."""
        if action == "command_palette" and not hasattr(self.screen, "palette_entries"):
            return False
        return super().check_action(action, parameters)

    def leave(self) -> None:
        """Close the screen; ask for confirmation if that interrupts a run or makes one late.

        An attached screen interrupts nothing.
        """
        state = self.main.state if self.main.is_connected else None
        active = len(state.interruptible_sessions()) if state is not None else 0
        timed = len(state.timed_sessions()) if state is not None else 0
        if not (active or timed) or self.attached:
            self.exit()
        else:
            self.run_worker(self._confirm_leave(active, timed), group="leaving", exclusive=True)

    async def _confirm_leave(self, active: int, timed: int) -> None:
        from tui.shell.leave import Leave

        chosen = await self.push_screen_wait(Leave(active, timed, can_leave=self.outlived))
        if chosen is not None:
            self.ending = chosen
            self.exit()

    def restart(self) -> None:
        """Close the screen, and start it again in the installed version."""
        self.ending = "restart"
        self.exit()

    def leave_running(self) -> None:
        """Close the screen and keep the agents running."""
        if not (self.outlived or self.attached):
            self.main.say("Spinney cannot keep running without this screen.", bad=True)
            return
        self.ending = "leave"
        self.exit()

    def _on_end_signal(self, number: int) -> None:
        """Handle SIGHUP from the terminal or SIGTERM from a person; can interrupt anything."""
        self.ending = "leave" if number == signal.SIGHUP and self.outlived else "quit"
        if self.foreground is not None:
            self.foreground.resume()

    def _stop_by_signal(self) -> None:
        """Make SIGTSTP suspend to the shell and stop nothing else, as ctrl+z does."""
        loop = asyncio.get_running_loop()

        def handle(_number: int, _frame: object) -> None:
            loop.call_soon_threadsafe(self.action_to_shell)

        signal.signal(signal.SIGTSTP, handle)

    def action_to_shell(self) -> None:
        """Suspend to the shell until `fg`; agents keep running."""
        if self.foreground is None:
            self.main.say("There is no shell to return to.", bad=True)
            return
        with self.suspend():
            self.foreground.suspend()

    def action_command_palette(self) -> None:
        """Show the command palette, which is imported only now."""
        from tui.screens.palette import Palette

        find = getattr(self.screen, "palette_entries", None)
        if find is not None:
            self.push_screen(Palette(find, getattr(self.screen, "session_entries", None)))

    def exit(self, *args: Any, **kwargs: Any) -> None:
        """Exit, after saving unsent text and the state of the screen."""
        try:
            if self.main.is_connected:  # else there was nothing to write to
                self.main.chat.save_drafts()
            self.main.startup.save_now()
        finally:
            # Exit even if saving failed: nothing else could end the program.
            super().exit(*args, **kwargs)
            # From now on widgets refuse to mount children: a worker that continued would fail and
            # the exit would end in a traceback.
            self.workers.cancel_all()

    def action_help_quit(self) -> None:
        """Handle ctrl+c where there is no selected text to copy."""
        self.interrupt.press()

    async def action_quit(self) -> None:
        """Quit; also called by Textual."""
        self.leave()


def _drafts(data: Path | None) -> "DraftStore":
    from tui.composer.draft_store import DraftStore

    drafts = DraftStore(data / "terminal" if data is not None else None)
    drafts.load()
    return drafts


def _import_connection() -> "type[Connection]":
    from tui.shell.connection import Connection

    return Connection
