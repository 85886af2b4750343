"""The last change to what is drawn, for terminals that cannot show it as it is.

It is made to finished rows, so it holds for every screen alike: plain ASCII instead of signs, no
boxes, colours that can be told apart where there are only 16 or 256.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual.color import Color
from textual.filter import LineFilter

from themes.contrast import TEXT, contrast, readable

_SIGNS: Final = {
    **dict(zip("·•◦▪…◐◌●○✗✓■□", "-*-+.~~*ox+#o", strict=True)),
    **dict(zip("▸▾▶▼▲◀❯›‹→←↑↓↪⇧", ">v>v^<>><><^v\\+", strict=True)),
    **dict(zip("“”‘’−–—×═", "\"\"''---x=", strict=True)),
}
_LINES: Final = {
    chr(code): "-" if chr(code) in "─━╌╍┄┅┈┉═╴╶╸╺╼╾" else "|" if chr(code) in "│┃╎╏┆┇┊┋║" else "+"
    for code in range(0x2500, 0x2580)
}
_BLOCKS: Final = {
    **{chr(code): " " for code in range(0x2580, 0x25A0)},
    **dict(zip("█▌▎▏▍▐", "#|||||", strict=True)),
}

ASCII_SIGNS: Final[Mapping[int, str]] = str.maketrans(_LINES | _BLOCKS | _SIGNS)
"""Our signs, and all that boxes are drawn with, each by a character of one cell."""

NO_BOXES: Final[Mapping[int, str]] = str.maketrans(dict.fromkeys([*_LINES, *_BLOCKS], " ") | _SIGNS)
"""The same without boxes, for ears: a screen reader would read them out."""


_VGA: Final = TerminalTheme(
    (0, 0, 0),
    (170, 170, 170),
    [
        (0, 0, 0),
        (170, 0, 0),
        (0, 170, 0),
        (170, 85, 0),
        (0, 0, 170),
        (170, 0, 170),
        (0, 170, 170),
        (170, 170, 170),
    ],
    [
        (85, 85, 85),
        (255, 85, 85),
        (85, 255, 85),
        (255, 255, 85),
        (85, 85, 255),
        (255, 85, 255),
        (85, 255, 255),
        (255, 255, 255),
    ],
)
"""The 16 colors between which Rich chooses the nearest one."""


class OtherSigns(LineFilter):
    """Draws some characters as others of the same width."""

    def __init__(self, table: Mapping[int, str]) -> None:
        super().__init__()
        self._table = table

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The row with these characters replaced."""
        return [
            segment
            if segment.text.isascii()
            else Segment(segment.text.translate(self._table), segment.style, segment.control)
            for segment in segments
        ]


class LegibleColors(LineFilter):
    """Keeps text apart from its ground where both are drawn in the nearest of a few colours."""

    def __init__(self, system: ColorSystem) -> None:
        super().__init__()
        self._system = system

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The row with the colours of its text moved where they must be."""
        return [
            segment
            if segment.style is None
            else Segment(segment.text, legible(segment.style, self._system), segment.control)
            for segment in segments
        ]


@lru_cache(maxsize=4096)
def legible(style: Style, system: ColorSystem) -> Style:
    """The style, or one whose text can be read once both its colours are the nearest ones."""
    if style.color is None or style.bgcolor is None or style.bgcolor.triplet is None:
        return style
    if style.color.triplet is None:
        return style
    ground = nearest(style.bgcolor, system)
    if contrast(nearest(style.color, system), ground) >= TEXT:
        return style
    # More than is needed, because the nearest colour may be a darker one.
    for ratio in (TEXT, TEXT + 1, TEXT + 2):
        moved = RichColor.parse(readable(style.color.triplet.hex, ground, ratio=ratio))
        if contrast(nearest(moved, system), ground) >= TEXT:
            return style + Style(color=moved)
    end = max("#ffffff", "#000000", key=lambda color: contrast(color, ground))
    return style + Style(color=end)


def nearest(color: RichColor, system: ColorSystem) -> str:
    """The colour that a terminal with so many colours draws, as `#rrggbb`."""
    drawn = color.downgrade(system)
    return drawn.get_truecolor(_VGA).hex


_MANY_COLORS: Final = re.compile(
    r"(alacritty|contour|foot|foot-extra|ghostty|iterm2?|konsole|mintty|rio|st|wezterm|xterm-ghostty"
    r"|xterm-kitty)(-direct)?|(xterm|tmux|screen|vte|mlterm|gnome)-direct"
)
"""Values of `TERM` that do not say `256color`, of terminals with that many colors or more."""


def color_system(term: str, detected: ColorSystem | None) -> ColorSystem | None:
    """The colors that a terminal has: Rich knows only those whose name says it.

    SSH does not carry `COLORTERM`, which says it in the terminal's own words.
    """
    if detected is not ColorSystem.STANDARD or not _MANY_COLORS.fullmatch(term.lower()):
        return detected
    return ColorSystem.TRUECOLOR if term.endswith("-direct") else ColorSystem.EIGHT_BIT


def filters(
    *, ascii_signs: bool, plain: bool, color_system: ColorSystem | None
) -> list[LineFilter]:
    """Those that this terminal needs."""
    found: list[LineFilter] = []
    if plain or ascii_signs:
        found.append(OtherSigns(NO_BOXES if plain else ASCII_SIGNS))
    if color_system in (ColorSystem.STANDARD, ColorSystem.EIGHT_BIT):
        found.append(LegibleColors(color_system))
    return found
