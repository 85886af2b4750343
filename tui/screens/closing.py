"""How screens over the main one come and close: once, and with all that lies over them.

Textual's own way takes whatever screen is on top. A second enter, which comes in one piece with the
first over a slow line, would take the screen below, and the last one is the end of the program.
"""

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from textual.await_complete import AwaitComplete

if TYPE_CHECKING:
    from textual.screen import Screen as _Screen
else:
    _Screen = Generic  # Of several bases Textual styles only the first that is a widget.

R = TypeVar("R")


class ScreenHost(Protocol):
    """The application, as far as screens report to it."""

    def screen_painted(self, screen: "_Screen[Any]") -> None:
        """A screen was painted for the first time."""

    def screen_closing(self) -> None:
        """A screen is about to close."""


class Closing(_Screen[R]):
    """For screens that are dismissed; stands before what else they are."""

    is_painted = False
    """Whether it has been seen; keys that come before wait."""

    def on_screen_resume(self) -> None:
        """Tell when it has been painted for the first time."""
        if not self.is_painted:
            self.call_after_refresh(self._note_painted)

    def _note_painted(self) -> None:
        self.is_painted = True
        cast("ScreenHost", self.app).screen_painted(self)

    def dismiss(self, result: R | None = None) -> AwaitComplete:
        """Close, unless that was done already."""
        if self not in self.app.screen_stack:
            return AwaitComplete()
        cast("ScreenHost", self.app).screen_closing()
        while self.app.screen is not self:  # Its work may end below a palette or a question.
            self.app.screen.dismiss()
        return super().dismiss(result)
