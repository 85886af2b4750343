"""An address as a QR code in half blocks: two rows of the code per row of the terminal."""

from collections.abc import Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from model.base.qr import half_blocks, qr_rows
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line

QUIET = 4
"""Width of the quiet zone in modules, as the standard requires."""
LEAST_QUIET = 2
"""Smallest quiet zone that phones still read, for small terminals."""
_CHROME = (2, 4)
"""Columns and rows of the border and the two lines of text."""


class QrScreen(Dialog[None]):
    """The code, dark on light in every theme, because phones expect that.

    `codes` has what a code contains by the sentence below it, the best one first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("n", "next_address", show=False)]
    CSS = """
    QrScreen > .dialog { width: auto; max-width: 100%; max-height: 100%; padding: 0; }
    QrScreen .dialog Static { width: auto; }
    QrScreen .dialog .keys { margin: 0; }
    """

    def __init__(self, codes: Mapping[str, str]) -> None:
        super().__init__("Open on a phone")
        self._codes = list(codes.items())
        self._at = 0
        self._modules = qr_rows(self._codes[0][1])

    def body(self) -> list[Widget]:
        """Code, warning and keys."""
        keys = [("n", "another address")] if len(self._codes) > 1 else []
        line = keys_line(*keys, ("esc", "close"))
        return [
            Static(id="code", markup=False),
            Static(id="about", markup=False),
            Static(Content.assemble(" ", line), classes="keys"),
        ]

    def action_next_address(self) -> None:
        """Show the code of the next address."""
        self._at = (self._at + 1) % len(self._codes)
        self._modules = qr_rows(self._codes[self._at][1])
        self._draw()

    def on_mount(self) -> None:
        """Draw the code."""
        self._draw()

    def on_resize(self) -> None:
        """Draw the code with the widest quiet zone that fits."""
        self._draw()

    def _draw(self) -> None:
        columns, rows = self.app.size.width - _CHROME[0], self.app.size.height - _CHROME[1]
        code = self.query_one("#code", Static)
        about = self.query_one("#about", Static)
        about.update(f" {self._codes[self._at][0]}")
        for quiet in range(QUIET, LEAST_QUIET - 1, -1):
            lines = half_blocks(self._modules, quiet)
            if len(lines) <= rows and len(lines[0]) <= columns:
                code.update(Content.styled("\n".join(lines), "#000000 on #ffffff"))
                return
        least = half_blocks(self._modules, LEAST_QUIET)
        needed = f"{len(least[0]) + _CHROME[0]}×{len(least) + _CHROME[1]}"
        size = f"{self.app.size.width}×{self.app.size.height}"
        code.update(
            f"The code needs {needed}, but the terminal is {size}.\n"
            "Enlarge the terminal, reduce the font size,\nor copy the address."
        )
