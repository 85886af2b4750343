"""The terminal program: paints its first frame, then fetches the client and follows it."""

import asyncio
import gc
import inspect
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from textual.app import App
from textual.binding import BindingType
from textual.command import Provider
from textual.filter import LineFilter
from textual.signal import Signal
from textual.theme import Theme

from model.errors import SpinneyError
from themes.loader import chrome
from themes.terminal import theme_colors
from tui.background import BackgroundTold, TerminalDriver
from tui.clipboard import copied, copy_sequence, too_long
from tui.keymap import clashes
from tui.marks import counts
from tui.output_filters import filters
from tui.screens.main import MainScreen
from tui.terminal import Terminal, exit_on_hang_up, know_alt_enter

if TYPE_CHECKING:
    from model.client.base import Client
    from model.preferences import Preferences
    from tui.drafts import Drafts
    from tui.link import Link

Connect = Callable[[], "Client | Awaitable[Client]"]


class SpinneyApp(App[None]):
    """Spinney in a terminal.

    `connect` gives the client. It is called in a thread once the first frame stands (or awaited,
    if it is a coroutine function); a `SpinneyError` of it becomes a full screen with its sentence.
    `offer_path` is where Spinney was started; `demo` lets people choose the demo agent. Below
    `data` is kept what people write.
    """

    CSS_PATH = "style.tcss"
    TITLE = "Spinney"
    COMMAND_PALETTE_BINDING = "ctrl+p"
    COMMANDS: ClassVar[set[Callable[[], type[Provider]]]] = set()  # type: ignore[assignment]
    BINDINGS: ClassVar[
        list[BindingType]
    ] = []  # All keys are those of the key map, on the main screen.

    def __init__(
        self,
        connect: Connect,
        *,
        offer_path: Path | None = None,
        demo: bool = False,
        data: Path | None = None,
        elsewhere: str = "",
        environ: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(driver_class=TerminalDriver)
        self.terminal = Terminal.of(os.environ if environ is None else environ)
        self._wanted_theme: Literal["system", "light", "dark"] = "system"
        self._output_filters = filters(
            ascii_signs=self.terminal.ascii_signs,
            plain=self.terminal.plain,
            color_system=self.console.color_system,
        )
        self.animation_level = "none"
        self.main = MainScreen(self.terminal, started_in=offer_path, demo=demo)
        self.elsewhere = elsewhere
        """The address of a Spinney on another machine; the files are there."""
        self._connect = connect
        self._data = data
        self.preferences_changed: Signal[Preferences] = Signal(self, "preferences changed")
        """For screens that show preferences; whoever changed them."""
        self.use_theme("system")

    def get_default_screen(self) -> MainScreen:
        """The main screen is the ground: one under it would be styled and laid out for nothing."""
        return self.main

    def on_mount(self) -> None:
        """The rest follows once the frame is painted."""
        if not self.is_headless:
            exit_on_hang_up(self.exit)
        know_alt_enter()

    def first_frame_stands(self) -> None:
        """Fetch the client; called once, by the main screen."""
        # What stands by now stays to the end. The front door may have switched collecting off
        # while it imported, which saves a tenth of the time to the first frame.
        gc.freeze()
        gc.enable()
        self.run_worker(self._run(), exit_on_error=True)

    async def _run(self) -> None:
        """Fetch the client, then follow it until the end."""
        try:
            client = await self._client()
            link_class = await asyncio.to_thread(_import_link)
            self.main.chat.drafts = await asyncio.to_thread(_drafts, self._data)
        except SpinneyError as error:
            self._show_problem(error.message)
            return
        link = self.main.link = link_class(self.main, client)
        link.start(link.first_look())
        try:
            await link.mirror.run()
        finally:
            await client.close()

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
        if dict(key_overrides) != self._keymap:
            self.set_keymap(key_overrides)
            for sentence in clashes(key_overrides):
                self.notify(sentence, severity="warning", markup=False)
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

    def on_background_told(self, event: BackgroundTold) -> None:
        """Follow the terminal, where nothing else is wanted."""
        self.terminal = replace(self.terminal, dark=event.dark)
        self.use_theme(self._wanted_theme)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What is changed in every row that is drawn."""
        return [*super().get_line_filters(), *self._output_filters]

    @property
    def is_dark(self) -> bool:
        """Whether the dark colours are on."""
        return self.current_theme.dark

    def copy(self, text: str) -> None:
        """Copy through the terminal, and say what was copied."""
        sequence = copy_sequence(text, self.terminal)
        if sequence is None:
            self.notify(too_long(text), severity="warning", markup=False)
            return
        if self._driver is not None:
            self._driver.write(sequence)
        self.notify(copied(text), markup=False, timeout=2)

    def copy_to_clipboard(self, text: str) -> None:
        """What Textual's own widgets copy goes the same way."""
        self._clipboard = text
        self.copy(text)

    def leave(self) -> None:
        """Quit; asks first if something runs, because it would be interrupted."""
        link = self.main.link
        running = counts(link.mirror.state)[1] if link is not None else 0
        if not running:
            self.exit()
            return
        self.run_worker(self._leave_running(running))

    async def _leave_running(self, running: int) -> None:
        from tui.screens.dialog import Confirm

        what = "A run goes on" if running == 1 else f"{running} runs go on"
        sentence = f"{what} and would be interrupted. What has arrived is kept."
        if await self.push_screen_wait(Confirm("Quit Spinney", sentence, "quit")):
            self.exit()

    async def action_quit(self) -> None:
        """Quit, by Textual's own ways, too."""
        self.leave()


def _drafts(data: Path | None) -> "Drafts":
    from tui.drafts import Drafts

    drafts = Drafts(data / "terminal" if data is not None else None)
    drafts.load()
    return drafts


def _import_link() -> "type[Link]":
    from tui.link import Link

    return Link
