"""SGR text attributes and colors, and the shortest change between two of them.

Rich writes a reset and all colors for each piece of text; most neighbors differ in one of them.
"""

from functools import lru_cache
from typing import Final

_END_CODES: Final = {
    "1": "22", "2": "22", "3": "23", "4": "24", "5": "25", "6": "25", "7": "27", "8": "28",
    "9": "29",
}  # fmt: skip
"""Codes that end an attribute. Others need a reset: their codes are not widely supported."""
_VISIBLE_ON_BLANKS: Final = frozenset(("4", "5", "6", "7", "9", "21", "51", "52", "53"))
_EXTENDED: Final = {"38": 0, "48": 1}
_EXTENDED_LENGTHS: Final = {"2": 5, "5": 3}
"""The number of parameters of an extended color, by its second one."""


class Pen:
    """Attributes and colors of a cell. Equal pens are one object, so compare them by identity."""

    __slots__ = ("attributes", "blank", "color", "ground")

    def __init__(self, attributes: frozenset[str], color: str, ground: str) -> None:
        self.attributes = attributes
        self.color = color
        self.ground = ground
        self.blank = self if self._is_blank_pen or self._marks_blanks else pen_of(ground)
        """The pen that draws a space the same: only its background is visible."""

    @property
    def _is_blank_pen(self) -> bool:
        return not self.attributes and not self.color

    @property
    def _marks_blanks(self) -> bool:
        return not self.attributes.isdisjoint(_VISIBLE_ON_BLANKS)

    @property
    def is_erasing(self) -> bool:
        """Whether erased cells look like spaces drawn with this pen."""
        return not self._marks_blanks

    @property
    def codes(self) -> list[str]:
        """The codes to set after a reset."""
        return [*sorted(self.attributes), *filter(None, (self.color, self.ground))]


@lru_cache(maxsize=4096)
def pen_of(codes: str) -> Pen:
    """The pen for the parameters of an SGR sequence, such as `1;38;2;255;0;0`."""
    attributes: set[str] = set()
    colors = ["", ""]
    numbers = codes.split(";") if codes else []
    while numbers:
        first = numbers[0]
        count = 1
        if first in _EXTENDED and len(numbers) > 1:
            count = _EXTENDED_LENGTHS.get(numbers[1], 1)
            colors[_EXTENDED[first]] = ";".join(numbers[:count])
        elif len(first) > 1 and first[:-1] in ("3", "9"):
            colors[0] = "" if first == "39" else first
        elif len(first) > 1 and first[:-1] in ("4", "10"):
            colors[1] = "" if first == "49" else first
        else:
            attributes.add(first)
        del numbers[:count]
    return Pen(frozenset(attributes), *colors)


PLAIN: Final = pen_of("")


@lru_cache(maxsize=4096)
def change(old: Pen, new: Pen) -> str:
    """The shortest sequence that switches a terminal from one pen to another."""
    if old is new:
        return ""
    full = _sequence(["0", *new.codes]) if new.codes else "\x1b[m"
    removed = old.attributes - new.attributes
    if not removed <= _END_CODES.keys():
        return full
    end_codes = {_END_CODES[code] for code in removed}
    remaining = {code for code in old.attributes if _END_CODES.get(code) not in end_codes}
    codes = [*sorted(end_codes), *sorted(new.attributes - remaining)]
    if new.color != old.color:
        codes.append(new.color or "39")
    if new.ground != old.ground:
        codes.append(new.ground or "49")
    return min(_sequence(codes), full, key=len)


def _sequence(codes: list[str]) -> str:
    return f"\x1b[{';'.join(codes)}m" if codes else ""
