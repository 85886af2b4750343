"""An address as a QR code in half blocks: two rows of the code per row of the terminal."""

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line

QUIET = 4
"""Width of the quiet zone in modules, as the standard requires."""
LEAST_QUIET = 2
"""Smallest quiet zone that phones still read, for small terminals."""
_CHROME = (2, 4)
"""Columns and rows of the border and the two lines of text."""
_BLOCKS = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


class QrScreen(Dialog[None]):
    """The code, dark on light in every theme, because phones expect that."""

    CSS = """
    QrScreen > .dialog { width: auto; max-width: 100%; max-height: 100%; padding: 0; }
    QrScreen .dialog Static { width: auto; }
    QrScreen .dialog .keys { margin: 0; }
    """

    def __init__(
        self, address: str, warning: str = "The code contains the token. Keep it private."
    ) -> None:
        super().__init__("Open on a phone")
        self._warning = warning
        self._modules = modules(address)

    def body(self) -> list[Widget]:
        """Code, warning and keys."""
        return [
            Static(id="code", markup=False),
            Static(f" {self._warning}", markup=False),
            Static(Content.assemble(" ", keys_line(("esc", "close"))), classes="keys"),
        ]

    def on_mount(self) -> None:
        """Draw the code."""
        self._draw()

    def on_resize(self) -> None:
        """Draw the code with the widest quiet zone that fits."""
        self._draw()

    def _draw(self) -> None:
        columns, rows = self.app.size.width - _CHROME[0], self.app.size.height - _CHROME[1]
        code = self.query_one("#code", Static)
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


def modules(text: str) -> list[list[bool]]:
    """Return the rows of the QR code of `text`, without a margin; true is dark."""
    import segno

    # The lowest error correction, because a small code matters more on a screen.
    code = segno.make_qr(text, error="l", boost_error=False)
    return [[bool(module) for module in row] for row in code.matrix]


def half_blocks(dark: list[list[bool]], quiet: int) -> list[str]:
    """Return the code with a margin of `quiet` modules, as lines of half blocks."""
    width = len(dark[0]) + 2 * quiet
    empty = [False] * width
    margin = [False] * quiet
    rows = [empty] * quiet + [[*margin, *row, *margin] for row in dark] + [empty] * quiet
    if len(rows) % 2:
        rows.append(empty)
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return ["".join(_BLOCKS[cell] for cell in zip(*pair, strict=True)) for pair in pairs]
