"""A terminal emulator in memory: the screen that results from a program's output.

It supports the sequences that Spinney writes; any other one is an error. With `erases`, erased
cells get the background color, as with `bce` in terminfo.
"""

import re
from collections.abc import Callable
from typing import Final

from rich.cells import split_graphemes

from tui.terminal.sgr import PLAIN, Pen, change, pen_of

_SEQUENCE: Final = re.compile(
    r"\x1b\[(?P<mark>[?>=<]?)(?P<numbers>[\d;]*)(?P<between>[$ ]?)(?P<final>[@-~])"
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1bP[^\x1b]*\x1b\\|\x1b[78M]|[\r\n\x07]"
)
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
Cell = tuple[str, Pen]


class Emulator:
    """One screen of a fixed size, without automatic line breaks."""

    def __init__(self, width: int, height: int, *, erases: bool = True) -> None:
        self.width, self.height, self._erases = width, height, erases
        self._rows: list[list[Cell]] = [self._blank_row() for _ in range(height)]
        self._x = self._y = 0
        self._pen = PLAIN
        self._region = (0, height)
        self._rest = ""
        self.on_question: Callable[[], object] = lambda: None
        """Called when a program requests the device status."""

    @property
    def text(self) -> list[str]:
        """The text of each row."""
        return ["".join(cell for cell, _ in row) for row in self._rows]

    @property
    def cells(self) -> list[list[tuple[str, str]]]:
        """The text and style of each cell; for a blank only the visible part of the style."""
        return [
            [(text, change(PLAIN, pen.blank if text == " " else pen)) for text, pen in row]
            for row in self._rows
        ]

    def feed(self, data: str) -> None:
        """Process output, in pieces of any size."""
        data = self._rest + data
        at = 0
        for found in _SEQUENCE.finditer(data):
            self._print(data[at : found.start()])
            self._execute(found)
            at = found.end()
        rest = data[at:]
        begun = rest.find("\x1b")
        self._print(rest if begun < 0 else rest[:begun])
        self._rest = "" if begun < 0 else rest[begun:]
        assert len(self._rest) < 100, f"unknown sequence: {self._rest[:100]!r}"

    def _print(self, text: str) -> None:
        assert not _CONTROLS.search(text), f"controls in {text!r}"
        for start, end, width in split_graphemes(text)[0]:
            self._clear(self._x, min(self._x + width, self.width))
            cells = [text[start:end], ""][:width]
            if self._x + width <= self.width:
                self._rows[self._y][self._x : self._x + width] = [(c, self._pen) for c in cells]
            self._x = min(self._x + width, self.width - 1)

    def _clear(self, start: int, end: int) -> None:
        """Clear these cells and the other halves of wide characters."""
        row = self._rows[self._y]
        while start > 0 and row[start][0] == "":
            start -= 1
        while end < self.width and row[end][0] == "":
            end += 1
        row[start:end] = [self._blank] * (end - start)

    @property
    def _blank(self) -> Cell:
        return " ", pen_of(self._pen.ground) if self._erases else PLAIN

    def _blank_row(self) -> list[Cell]:
        return [(" ", PLAIN)] * self.width

    def _execute(self, found: "re.Match[str]") -> None:
        match found.group():
            case "\r":
                self._x = 0
                return
            case "\n":
                self._feed_line()
                return
            case "\x1bM":
                self._scroll_down()
                return
        if (final := found["final"]) is None or found["mark"] or found["between"]:
            return  # a title, a mode, a query
        numbers = [int(number or 0) for number in found["numbers"].split(";")]
        first = max(numbers[0], 1)
        match final:
            case "m":
                self._set_style(found["numbers"])
            case "H":
                self._y = min(first, self.height) - 1
                self._x = min(max(numbers[1] if len(numbers) > 1 else 1, 1), self.width) - 1
            case "C":
                self._x = min(self._x + first, self.width - 1)
            case "K":
                self._clear(self._x, self.width)
            case "X":
                self._clear(self._x, min(self._x + first, self.width))
            case "r":
                is_whole = not found["numbers"]
                self._region = (0, self.height) if is_whole else (numbers[0] - 1, numbers[1])
                self._x = self._y = 0
            case "n":
                self.on_question()
            case "u" | "t" | "q":
                pass
            case _:
                raise AssertionError(f"unknown: {found.group()!r}")

    def _set_style(self, numbers: str) -> None:
        pens = {"22": "12", "23": "3", "24": "4", "25": "56", "27": "7", "28": "8", "29": "9"}
        rest = re.findall(r"[34]8;2;\d+;\d+;\d+|[34]8;5;\d+|\d+", numbers) or ["0"]
        for code in rest:
            attributes, color, ground = self._pen.attributes, self._pen.color, self._pen.ground
            if code == "0":
                attributes, color, ground = frozenset(), "", ""
            elif code in pens:
                attributes -= frozenset(pens[code])
            elif code in ("39", "49"):
                color, ground = ("", ground) if code == "39" else (color, "")
            else:
                new = pen_of(code)
                attributes |= new.attributes
                color, ground = new.color or color, new.ground or ground
            self._pen = pen_of(";".join([*sorted(attributes), *filter(None, (color, ground))]))

    def _feed_line(self) -> None:
        top, bottom = self._region
        if self._y + 1 == bottom:
            self._rows[top:bottom] = [*self._rows[top + 1 : bottom], self._blank_row()]
        else:
            self._y = min(self._y + 1, self.height - 1)

    def _scroll_down(self) -> None:
        top, bottom = self._region
        if self._y == top:
            self._rows[top:bottom] = [self._blank_row(), *self._rows[top : bottom - 1]]
        else:
            self._y = max(self._y - 1, 0)
