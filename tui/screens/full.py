"""The base class of full screens over the main one: bars, shared keys, colors, mirror."""

from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen
from textual.widget import Widget

from tui.desk import Desk
from tui.keys import keymap
from tui.keys.action import Scope
from tui.screens.closing import Closing
from tui.terminal import screen_reader
from tui.terminal.screen_reader import Announcements
from tui.widgets.key_hints import KeyHints
from tui.widgets.line import Line

if TYPE_CHECKING:
    from tui.draw.colors import Palette
    from tui.store.mirror import Change

_SHARED = ("commands", "help", "next_waiting", "quit", "show_landing", "open_work")


def bindings(where: Scope, *shared: str, only: Container[str] | None = None) -> list[Binding]:
    """Return the keys of a full screen, and those of the main screen that work on it, too.

    `only`: the actions of the screen that this one has, if not all.
    """
    global_keys = keymap.make_bindings(only=(*_SHARED, *shared))
    return [*keymap.make_bindings(where, only), *global_keys]


class FullScreen(Closing[None], Screen[None]):
    """A title, a body and key hints that follow the mirror; the main screen stays below."""

    LAST: ClassVar[tuple[str, ...]] = ("help",)
    """The actions whose keys are always shown at the right of the footer."""
    OPENED_BY: ClassVar[str] = ""
    """The shared action that shows the screen, if one does; on the screen it closes it."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk

    def compose(self) -> ComposeResult:
        """Title, body, announcements and key hints."""
        yield Line(id="top")
        yield from self.body(self.desk.palette)
        if screen_reader.is_enabled():
            yield Announcements(id="announcements")
        yield KeyHints(id="keys")

    def body(self, palette: "Palette") -> Iterable[Widget]:
        """Return the widgets between the bars."""
        raise NotImplementedError

    def recolor(self, palette: "Palette") -> None:
        """Redraw the body in other colors."""
        raise NotImplementedError

    def follow(self, change: "Change") -> None:
        """Show a change; called at most once a frame."""
        raise NotImplementedError

    def show_keys(self) -> None:
        """Show the keys that are useful now."""
        raise NotImplementedError

    def do(self, action_id: str) -> None:
        """Run an action of this screen."""
        raise NotImplementedError

    @property
    def key_overrides(self) -> Mapping[str, str]:
        """The user's own keys."""
        return self.desk.key_overrides

    def on_mount(self) -> None:
        """Follow the mirror and the theme."""
        self._follow_preferences()
        self.desk.mirror.followers.append(self._follow)
        self.app.theme_changed_signal.subscribe(self, lambda _: self._recolor())

    def on_unmount(self) -> None:
        """Stop following the mirror."""
        self.desk.mirror.followers.remove(self._follow)

    @property
    def _is_open(self) -> bool:
        """Whether the screen is open; a closing one loses its widgets before it is unmounted."""
        return self in self.app.screen_stack

    def _recolor(self) -> None:
        if self._is_open:
            self.recolor(self.desk.palette)

    def _follow(self, change: "Change") -> None:
        if not self._is_open:
            return
        if change.preferences:
            self._follow_preferences()
            self.show_keys()
            self._recolor()
        self.follow(change)

    def _follow_preferences(self) -> None:
        self.set_class(not self.desk.state.preferences.show_keybinding_hints, "no-hints")

    def update_key_hints(
        self,
        actions: Iterable[str],
        *,
        first: Iterable[tuple[str, str]] = (),
        without: frozenset[str] = frozenset(),
    ) -> None:
        """Show key hints, the most useful first, with the arguments of `KeyHints.follow`."""
        self.query_one(KeyHints).follow(
            self.key_overrides, actions, first=first, last=self.LAST, unavailable=without
        )

    def action_do(self, action_id: str) -> None:
        """Run an action of the key map: one of this screen, or a shared one."""
        match action_id:
            case "commands":
                self.app.action_command_palette()
            case "next_waiting":
                self.dismiss(None)
                self.desk.perform(action_id)
            case "help" | "quit":
                self.desk.perform(action_id)
            case "show_landing" | "open_work":
                self._switch_to(action_id)
            case _:
                self.do(action_id)

    def _switch_to(self, action_id: str) -> None:
        """Show another screen. Those above it close: a session opened there would be below them."""
        stack = [screen for screen in self.app.screen_stack if isinstance(screen, FullScreen)]
        there = next((at for at, one in enumerate(stack) if action_id == one.OPENED_BY), None)
        if action_id == self.OPENED_BY or there is None:
            above = self if there is not None else stack[0]
        else:
            above = stack[there + 1]
        above.dismiss(None)
        if there is None:
            self.desk.perform(action_id)
