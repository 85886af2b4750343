"""What the full screens over the main one share: their bars, its keys, its colours, its mirror."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen
from textual.widget import Widget

from tui.desk import Desk
from tui.keys import keymap
from tui.screens.closing import Closing
from tui.terminal import plain
from tui.terminal.plain import Announcements
from tui.widgets.key_hints import KeyHints
from tui.widgets.line import Line

if TYPE_CHECKING:
    from tui.draw.colors import Palette
    from tui.store.mirror import Change

_SHARED = ("commands", "help", "next_waiting", "quit")


def bindings(where: keymap.Where, *shared: str) -> list[Binding]:
    """The keys of a full screen, and those of the main one that work on it as well."""
    everywhere = (bound for bound in keymap.bindings() if bound.id in (*_SHARED, *shared))
    return [*keymap.bindings(where), *everywhere]


class FullScreen(Closing[None], Screen[None]):
    """A title, a body and the keys, all kept true; the main screen stays below it."""

    LAST: ClassVar[tuple[str, ...]] = ("help",)
    """The actions whose keys stand at the right of the foot, however little room there is."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk

    def compose(self) -> ComposeResult:
        """Title, body, what is told in passing, and keys."""
        yield Line(id="top")
        yield from self.body(self.desk.palette)
        if plain.is_on():
            yield Announcements(id="announcements")
        yield KeyHints(id="keys")

    def body(self, palette: "Palette") -> Iterable[Widget]:
        """What stands between the bars."""
        raise NotImplementedError

    def recolor(self, palette: "Palette") -> None:
        """Draw the body in other colours."""
        raise NotImplementedError

    def follow(self, change: "Change") -> None:
        """Show a change; called at most once a frame."""
        raise NotImplementedError

    def show_keys(self) -> None:
        """Name the keys that are of use now."""
        raise NotImplementedError

    def do(self, action_id: str) -> None:
        """Do an action that is this screen's own."""
        raise NotImplementedError

    @property
    def key_overrides(self) -> Mapping[str, str]:
        """Keys of a person's own."""
        return self.desk.key_overrides

    def on_mount(self) -> None:
        """Follow the mirror, and the colours of the terminal, from now on."""
        self._follow_preferences()
        self.desk.mirror.followers.append(self._follow)
        self.app.theme_changed_signal.subscribe(self, lambda _: self._recolor())

    def on_unmount(self) -> None:
        """Follow no more."""
        self.desk.mirror.followers.remove(self._follow)

    @property
    def _is_open(self) -> bool:
        """What stands in a screen that closes goes before the screen is told that it goes."""
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
        """Name the keys at the foot, those that are wanted most first, as `KeyHints` takes them."""
        self.query_one(KeyHints).follow(
            self.key_overrides, actions, first=first, last=self.LAST, without=without
        )

    def action_do(self, action_id: str) -> None:
        """Do an action of the key map: one of this screen, or one that is shared."""
        match action_id:
            case "commands":
                self.app.action_command_palette()
            case "next_waiting":
                self.dismiss(None)
                self.desk.perform(action_id)
            case "help" | "quit":
                self.desk.perform(action_id)
            case _:
                self.do(action_id)
