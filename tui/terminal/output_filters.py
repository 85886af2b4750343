"""Line filters for limited terminals.

They are applied to finished rows, so they work for every screen: ASCII instead of icons, no boxes,
and readable colors if there are only 16 or 256.
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

from themes.contrast import MIN_TEXT_CONTRAST, contrast_ratio, ensure_contrast

_SYMBOLS: Final = {
    **dict(zip("·•◦▪…◐◌●○◆✗✓■□‖", "-*-+.~~*o*x+#o=", strict=True)),
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

ASCII_SIGNS: Final[Mapping[int, str]] = str.maketrans(_LINES | _BLOCKS | _SYMBOLS)
"""Replacements of our icons and all box characters by ASCII characters of one cell."""

NO_BOXES: Final[Mapping[int, str]] = str.maketrans(
    dict.fromkeys([*_LINES, *_BLOCKS], " ") | _SYMBOLS
)
"""The same without boxes, for screen-reader mode: they would be read aloud."""


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
"""The 16 colors from which Rich chooses the nearest one."""


class CharacterFilter(LineFilter):
    """Replaces characters by others of the same width."""

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


class ContrastFilter(LineFilter):
    """Keeps text readable when both of its colors are mapped to the nearest of a few."""

    def __init__(self, system: ColorSystem) -> None:
        super().__init__()
        self._system = system

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The row with its text colors adjusted where necessary."""
        return [
            segment
            if segment.style is None
            else Segment(segment.text, make_legible(segment.style, self._system), segment.control)
            for segment in segments
        ]


@lru_cache(maxsize=4096)
def make_legible(style: Style, system: ColorSystem) -> Style:
    """The style, with its text color adjusted so that it is readable in nearest colors."""
    if style.color is None or style.bgcolor is None or style.bgcolor.triplet is None:
        return style
    if style.color.triplet is None:
        return style
    background_color = nearest_color(style.bgcolor, system)
    if contrast_ratio(nearest_color(style.color, system), background_color) >= MIN_TEXT_CONTRAST:
        return style
    # With higher targets than needed, because the nearest color may be a darker one.
    for ratio in (MIN_TEXT_CONTRAST, MIN_TEXT_CONTRAST + 1, MIN_TEXT_CONTRAST + 2):
        adjusted = RichColor.parse(
            ensure_contrast(style.color.triplet.hex, background_color, ratio=ratio)
        )
        if contrast_ratio(nearest_color(adjusted, system), background_color) >= MIN_TEXT_CONTRAST:
            return style + Style(color=adjusted)
    end = max("#ffffff", "#000000", key=lambda color: contrast_ratio(color, background_color))
    return style + Style(color=end)


def nearest_color(color: RichColor, system: ColorSystem) -> str:
    """The nearest color in a color system, as `#rrggbb`."""
    drawn = color.downgrade(system)
    return drawn.get_truecolor(_VGA).hex


_MANY_COLORS: Final = re.compile(
    r"(alacritty|contour|foot|foot-extra|ghostty|iterm2?|konsole|mintty|rio|st|wezterm|xterm-ghostty"
    r"|xterm-kitty)(-direct)?|(xterm|tmux|screen|vte|mlterm|gnome)-direct"
)
"""Values of `TERM` without `256color`, of terminals with at least that many colors."""


def detect_color_system(term: str, detected: ColorSystem | None) -> ColorSystem | None:
    """The color system of a terminal: Rich only knows those whose name includes it.

    SSH does not forward `COLORTERM`, with which the terminal reports it.
    """
    if detected is not ColorSystem.STANDARD or not _MANY_COLORS.fullmatch(term.lower()):
        return detected
    return ColorSystem.TRUECOLOR if term.endswith("-direct") else ColorSystem.EIGHT_BIT


def make_filters(
    *, ascii_signs: bool, screen_reader: bool, color_system: ColorSystem | None
) -> list[LineFilter]:
    """The filters that this terminal needs."""
    line_filters: list[LineFilter] = []
    if screen_reader or ascii_signs:
        line_filters.append(CharacterFilter(NO_BOXES if screen_reader else ASCII_SIGNS))
    if color_system in (ColorSystem.STANDARD, ColorSystem.EIGHT_BIT):
        line_filters.append(ContrastFilter(color_system))
    return line_filters
