"""A base class for screens that close exactly once, together with the screens above them.

Textual dismisses whatever screen is on top. A second enter, which arrives together with the first
over a slow line, would then close the screen below; closing the last screen ends the program.
"""

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from textual.await_complete import AwaitComplete

if TYPE_CHECKING:
    from textual.events import Key
    from textual.screen import Screen as _Screen
else:
    _Screen = Generic  # Of several bases, Textual takes styles only from the first widget class.

R = TypeVar("R")


class ScreenHost(Protocol):
    """The application, as far as screens use it."""

    def screen_painted(self, screen: "_Screen[Any]") -> None:
        """Called when a screen was painted for the first time."""

    def screen_closing(self) -> None:
        """Called when a screen is about to close."""

    def press_key(self, key: "Key") -> None:
        """Deliver a key that a click or a command stands for, before those typed behind it."""


class Closing(_Screen[R]):
    """Base class for screens that are dismissed; must be the first base."""

    is_painted = False
    """Whether the screen has been painted; earlier keys wait."""

    def on_screen_resume(self) -> None:
        """Report the first paint."""
        if not self.is_painted:
            self.call_after_refresh(self._note_painted)

    def _note_painted(self) -> None:
        self.is_painted = True
        cast("ScreenHost", self.app).screen_painted(self)

    def dismiss(self, result: R | None = None) -> AwaitComplete:
        """Close, unless already closed."""
        if self not in self.app.screen_stack:
            return AwaitComplete()
        cast("ScreenHost", self.app).screen_closing()
        while self.app.screen is not self:  # It can close below the palette or a dialog.
            self.app.screen.dismiss()
        return super().dismiss(result)
