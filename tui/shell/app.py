"""The terminal program: paints its first frame, then fetches the client and follows it."""

import asyncio
import gc
import inspect
import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast
from weakref import WeakKeyDictionary

from rich.console import COLOR_SYSTEMS
from textual import events
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.geometry import Offset
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.signal import Signal
from textual.theme import Theme

from model.base.errors import SpinneyError
from themes.loader import chrome
from themes.terminal import theme_colors
from tui.keys.keymap import BY_ID, clashes, is_bound, strangers
from tui.shell import failure
from tui.shell.interrupt import Interrupt
from tui.shell.leave import Ending
from tui.shell.main_screen import MainScreen
from tui.shell.startup_snapshot import file_of
from tui.shell.type_ahead import TypeAhead
from tui.terminal import plain
from tui.terminal.background import TerminalDriver
from tui.terminal.bursts import divided
from tui.terminal.capabilities import Terminal, exit_on_hang_up
from tui.terminal.clipboard import copied, copy_sequence, too_long
from tui.terminal.compositor import RowCompositor
from tui.terminal.input_parser import BackgroundTold
from tui.terminal.output import PaintedApp
from tui.terminal.output_filters import color_system, filters
from tui.terminal.sanitize import Harmless
from tui.terminal.textual_internals import use_compositor

if TYPE_CHECKING:
    from model.client.base import Client
    from model.preferences.schema import Preferences
    from tui.composer.draft_store import Drafts
    from tui.shell.connection import Connection
    from tui.store.mirror import Mirror
    from tui.terminal.supervisor import Leash

_HARMLESS = Harmless()
_DIALOGS = Path(__file__).with_name("dialogs.tcss")
"""How the screens look that nobody opens before the first frame."""
_MOUSE = "\x1b[?1000{0}\x1b[?1003{0}\x1b[?1015{0}\x1b[?1006{0}"
"""Switches mouse reporting on (`h`) or off (`l`)."""
Connect = Callable[[], "Client | Awaitable[Client]"]


class SpinneyApp(PaintedApp):
    """Spinney in a terminal.

    `connect` gives the client. It is called in a thread once the first frame stands (or awaited,
    if it is a coroutine function); a `SpinneyError` of it becomes a full screen with its sentence.
    `offer_path` is where Spinney was started; `demo` lets people choose the demo agent. `attached`
    says that the client's Spinney lives elsewhere and goes on whatever happens here, `outlived`
    that it lives here and can go on without this screen; `leash` holds the process in front of this
    one, which gives the terminal back to the shell. Below `data` is kept what people write.
    """

    CSS_PATH = "style.tcss"
    TITLE = "Spinney"
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[
        list[BindingType]
    ] = [  # All keys are those of the key map. One of them is nobody else's, on any screen.
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
        leash: "Leash | None" = None,
        data: Path | None = None,
        elsewhere: str = "",
        environ: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(driver_class=TerminalDriver)
        self.attached = attached
        self.outlived = outlived
        self.leash = leash
        self.ending: Ending = "quit"
        """What the program does once this screen has closed."""
        self.terminal = Terminal.of(os.environ if environ is None else environ)
        plain.switch(self.terminal.plain)
        self.set_class(self.terminal.plain, "-screen-reader")
        use_compositor(RowCompositor)
        self._mouse_is_free = False
        self._wanted_theme: Literal["system", "light", "dark"] = "system"
        self._told_of_keys: list[str] = []
        self._key_overrides: Mapping[str, str] = {}
        self._copied = ""
        term = os.environ.get("TERM", "")
        self.color_system = color_system(term, COLOR_SYSTEMS.get(self.console.color_system or ""))
        self._output_filters = filters(
            ascii_signs=self.terminal.ascii_signs,
            plain=self.terminal.plain,
            color_system=self.color_system,
        )
        self.animation_level = "none"
        snapshot = file_of(data, elsewhere) if data is not None else None
        self.main = MainScreen(self.terminal, started_in=offer_path, demo=demo, snapshot=snapshot)
        self.remote_address = elsewhere
        """The address of a Spinney on another machine, whose files are there."""
        self.type_ahead = TypeAhead(self, self.main, self.take)
        self.interrupt = Interrupt(self.main, self.leave)
        self._screen_of_key: WeakKeyDictionary[events.Key, Screen[Any]] = WeakKeyDictionary()
        """The screen that each key was for which is still on its way."""
        self._connect = connect
        self._data = data
        self.preferences_changed: Signal[Preferences] = Signal(self, "preferences changed")
        """For screens that show preferences; whoever changed them."""
        self.server_changed: Signal[tuple[dict[str, Any], str]] = Signal(self, "server changed")
        """For screens that show the server: its new status, and why it is not as was wanted."""
        self.use_theme(self.main.startup.last.theme)

    def get_default_screen(self) -> MainScreen:
        """The main screen is the ground: one under it would be styled and laid out for nothing."""
        return self.main

    def on_mount(self) -> None:
        """The rest follows once the frame is painted."""
        if isinstance(self.driver, TerminalDriver):
            self.driver.is_bound = lambda key: is_bound(key, self.main.key_overrides)
        if not self.is_headless:
            exit_on_hang_up(self._told_to_end, self.exit, self.leash)
            self._stop_by_signal()
            if self.terminal.plain:
                self.write(plain.SHOW_CURSOR)

    def failed(self, error: Exception | None) -> bool:
        """Say it in a sentence; the traceback is for the log, where there is one."""
        if (sentence := failure.log(error, self._data)) is not None:
            self.panic(sentence)
        return sentence is not None

    async def on_event(self, event: events.Event) -> None:
        """Let no key overtake those that wait, and none act below the screen that it was for."""
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            if not self.main.startup.holds_back(event) and not self.type_ahead.holds(event):
                await self.take(event)
        # What closes its screen comes up here all the same, and the screen below has keys of the
        # same name.
        elif (
            not isinstance(event, events.Key)
            or self._screen_of_key.get(event, self.screen) is self.screen
        ):
            await super().on_event(event)

    async def take(self, event: events.Key | events.Paste) -> None:
        """Give a key to what has the focus; of a burst that is divided the first, others wait."""
        target = self.focused or self.screen
        if isinstance(event, events.Key):
            event, *rest = divided(event, target)
            self.type_ahead.put_first(rest)
            self._screen_of_key[event] = self.screen
        await super().on_event(event)
        self.type_ahead.sent(event, target)

    def screen_painted(self, screen: Screen[Any]) -> None:
        """A screen was painted for the first time: keys that waited for it go on."""
        self.type_ahead.opened(self.drawn_at.get(screen, inf))

    def screen_closing(self) -> None:
        """A screen is about to close: keys that waited behind it go on."""
        self.type_ahead.look()

    def first_frame_painted(self) -> None:
        """Fetch the client; called once, by the main screen."""
        self.stylesheet.read(_DIALOGS)
        self.stylesheet.parse()
        # What stands by now stays to the end. The front door may have switched collecting off
        # while it imported, which saves a tenth of the time to the first frame.
        gc.freeze()
        gc.enable()
        self.run_worker(self._run(), exit_on_error=True)

    async def _run(self) -> None:
        """Fetch the client, then follow it until the end."""
        try:
            client = await self._client()
            connection = await asyncio.to_thread(_import_connection)
            self.main.chat.drafts = await asyncio.to_thread(_drafts, self._data)
        except SpinneyError as error:
            self._show_problem(error.message)
            return
        self.main.connect(client, connection)
        self.main.start(self.main.first_look())
        self.run_worker(self._settle(self.main.mirror))
        try:
            await self.main.mirror.run()
        finally:
            await client.close()

    async def _settle(self, mirror: "Mirror") -> None:
        """Load what the first conversation needs, and let the collector of garbage pass by it.

        All that Spinney has imported and knows by then stays to the end. A full collection that
        looks at it holds screen and core, which is 40 ms in the middle of a stream.
        """
        from tui.shell.preload import warm_up

        await asyncio.to_thread(warm_up)
        if not self.is_running:
            return  # it closed meanwhile, and takes nothing any more
        self.main.chat.made_transcript()
        with suppress(TimeoutError):
            await mirror.until(lambda _: True)
            gc.collect(1)
            gc.freeze()
            # The rows of a stream would have it done every few seconds.
            gc.set_threshold(*gc.get_threshold()[:2], 50)

    async def _client(self) -> "Client":
        if inspect.iscoroutinefunction(self._connect):
            return cast("Client", await self._connect())
        return await asyncio.to_thread(cast("Callable[[], Client]", self._connect))

    def _show_problem(self, sentence: str) -> None:
        from tui.screens.problem import Problem

        self.push_screen(Problem(sentence))

    # What the main screen asks for --------------------------------------------------------------

    def follow_preferences(
        self, preferences: "Preferences", key_overrides: Mapping[str, str]
    ) -> None:
        """Take up colours, keys and what is shown."""
        self.use_theme(preferences.theme)
        self.main.set_class(not preferences.show_keybinding_hints, "no-hints")
        if key_overrides != self._key_overrides:
            self._key_overrides = dict(key_overrides)
            self.set_keymap(key_overrides)
        wrong = [*clashes(key_overrides), *strangers(preferences.keybindings)]
        for sentence in wrong:
            if sentence not in self._told_of_keys:
                self.notify(sentence, severity="warning", markup=False)
        self._told_of_keys = wrong
        self.preferences_changed.publish(preferences)

    def use_theme(self, wanted: Literal["system", "light", "dark"]) -> None:
        """Show these colours; what the preferences say is not changed."""
        self._wanted_theme = wanted
        is_dark = self.terminal.dark if wanted == "system" else wanted == "dark"
        colors = chrome("dark" if is_dark else "light")
        if colors.name not in self.available_themes:
            self.register_theme(Theme(**asdict(theme_colors(colors))))
        if self.theme != colors.name:
            self.theme = colors.name
            self.main.recolor()

    def refresh_css(self, animate: bool = True) -> None:
        """Have everything follow the colours. The first ones have nothing yet that they change."""
        if self.screen_stack:
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def on_background_told(self, event: BackgroundTold) -> None:
        """Follow the terminal, where nothing else is wanted."""
        self.terminal = replace(self.terminal, dark=event.dark)
        self.use_theme(self._wanted_theme)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What is changed in every row that is drawn."""
        return [_HARMLESS, *super().get_line_filters(), *self._output_filters]

    def on_descendant_focus(self) -> None:
        """Nothing blinks: each blink is sent over the line, and would be read out for ears."""
        widget = self.focused if self.screen_stack else None  # it may be told when all have closed
        if widget is not None and hasattr(widget, "cursor_blink"):
            widget.cursor_blink = False

    @property
    def cursor_position(self) -> Offset:
        """Where the terminal's cursor stands: with whoever listens, always where the keys go."""
        place = None
        if plain.is_on() and self.is_running and self.screen_stack:
            place = plain.cursor_of(self.focused or plain.dialog_of(self.screen))
        return place or self._cursor_position

    @cursor_position.setter
    def cursor_position(self, place: Offset) -> None:
        self._cursor_position = place

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Tell something in passing; for ears at the bottom, where it stays."""
        places = plain.announcements(self.screen_stack) if self.terminal.plain else []
        for place in places:
            place.tell(message if severity == "information" else f"{severity}: {message}")
        if not places:
            super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)

    @property
    def is_dark(self) -> bool:
        """Whether the dark colours are on."""
        return self.current_theme.dark

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """No palette opens that would be empty: its key is the screen's then."""
        if action == "command_palette" and not hasattr(self.screen, "palette_entries"):
            return False
        return super().check_action(action, parameters)

    def copy(self, text: str) -> None:
        """Copy through the terminal, and say what was copied."""
        sequence = copy_sequence(text, self.terminal)
        if sequence is None:
            self.notify(too_long(text), severity="warning", markup=False)
            return
        self.write(sequence)
        self.notify(copied(text), markup=False, timeout=2)

    def toggle_mouse(self) -> bool:
        """Leave the mouse to the terminal, or capture it again; whether it is the terminal's."""
        self._mouse_is_free = not self._mouse_is_free
        self.write(_MOUSE.format("l" if self._mouse_is_free else "h"))
        return self._mouse_is_free

    def copy_to_clipboard(self, text: str) -> None:
        """What Textual's own widgets copy goes the same way."""
        self._copied = text
        self.copy(text)

    @property
    def clipboard(self) -> str:
        """What was copied last, which Textual's own widgets paste."""
        return self._copied

    def leave(self) -> None:
        """Close the screen; asks first if that would interrupt something.

        A screen that is attached leaves the work alone.
        """
        at_work = len(self.main.state.at_work()) if self.main.is_connected else 0
        if not at_work or self.attached:
            self.exit()
        else:
            self.run_worker(self._leave_at_work(at_work), group="leaving", exclusive=True)

    async def _leave_at_work(self, at_work: int) -> None:
        from tui.shell.leave import Leave

        chosen = await self.push_screen_wait(Leave(at_work, can_leave=self.outlived))
        if chosen is not None:
            self.ending = chosen
            self.exit()

    def leave_running(self) -> None:
        """Close the screen; whatever runs goes on."""
        if not (self.outlived or self.attached):
            self.main.say("This Spinney ends with its screen.", bad=True)
            return
        self.ending = "leave"
        self.exit()

    def _told_to_end(self, number: int) -> None:
        """Heard in the middle of anything: by the terminal (SIGHUP), or by a person (SIGTERM)."""
        self.ending = "leave" if number == signal.SIGHUP and self.outlived else "quit"
        if self.leash is not None:
            self.leash.go_on()

    def _stop_by_signal(self) -> None:
        """SIGTSTP gives the terminal to the shell and stops nothing else, as ctrl+z does."""
        loop = asyncio.get_running_loop()

        def handle(_number: int, _frame: object) -> None:
            loop.call_soon_threadsafe(self.action_to_shell)

        signal.signal(signal.SIGTSTP, handle)

    def action_to_shell(self) -> None:
        """Give the terminal back to the shell until it says `fg`; agents go on meanwhile."""
        if self.leash is None:
            self.main.say("There is no shell to go back to here.", bad=True)
            return
        with self.suspend():
            self.leash.stop()

    def action_command_palette(self) -> None:
        """Show the palette; what it is made of is loaded now."""
        from tui.screens.palette import Palette

        find = getattr(self.screen, "palette_entries", None)
        if find is not None:
            self.push_screen(Palette(find))

    def exit(self, *given: Any, **named: Any) -> None:
        """End; what was written in the last moment is kept first, and what is on the screen."""
        try:
            if self.main.is_connected:  # else there was nothing to write to
                self.main.chat.put_down()
            self.main.startup.keep_at_once()
        finally:
            # Whatever cannot be kept: nobody is left who could end it otherwise.
            super().exit(*given, **named)
            # From now on a widget refuses what is mounted in it: who works behind the screen and
            # went on would fail, and a farewell be a traceback.
            self.workers.cancel_all()

    def action_help_quit(self) -> None:
        """What ctrl+c does where nothing is selected that it could copy."""
        self.interrupt.press()

    async def action_quit(self) -> None:
        """Quit, by Textual's own ways, too."""
        self.leave()


def _drafts(data: Path | None) -> "Drafts":
    from tui.composer.draft_store import Drafts

    drafts = Drafts(data / "terminal" if data is not None else None)
    drafts.load()
    return drafts


def _import_connection() -> "type[Connection]":
    from tui.shell.connection import Connection

    return Connection
