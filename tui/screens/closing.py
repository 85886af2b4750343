"""How screens over the main one close: once, and with all that lies over them.

Textual's own way takes whatever screen is on top. A second enter, which comes in one piece with the
first over a slow line, would take the screen below, and the last one is the end of the program.
"""

from typing import TYPE_CHECKING, Generic, TypeVar

from textual.await_complete import AwaitComplete

if TYPE_CHECKING:
    from textual.screen import Screen as _Screen
else:
    _Screen = Generic  # Of several bases Textual styles only the first that is a widget.

R = TypeVar("R")


class Closing(_Screen[R]):
    """For screens that are dismissed; stands before what else they are."""

    def dismiss(self, result: R | None = None) -> AwaitComplete:
        """Close, unless that was done already."""
        if self not in self.app.screen_stack:
            return AwaitComplete()
        while self.app.screen is not self:  # Its work may end below a palette or a question.
            self.app.screen.dismiss()
        return super().dismiss(result)
