"""Which rows of the tree remain while a filter is typed."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tui.places import ROOT, Place
from tui.tree_rows import Children


@dataclass(frozen=True, slots=True)
class Found:
    """Rows whose names hold the text, and those that stay on their account."""

    matches: tuple[Place, ...]
    """From top to bottom."""
    shown: frozenset[Place]
    """The matches with all that holds them and all that they hold."""


def occurrences(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Where the text is in the name, in small or capital letters: starts and ends."""
    # A pattern, because lower case may be of another length, and starts would be wrong then.
    return (match.span() for match in re.finditer(re.escape(text), name, re.IGNORECASE))


def find(text: str, children: Children, name_of: Callable[[Place], str]) -> Found:
    """Look for the text in the name of every place."""
    matches: list[Place] = []
    shown: set[Place] = set()

    def look(place: Place, is_held: bool) -> bool:
        is_match = place != ROOT and any(occurrences(text, name_of(place)))
        if is_match:
            matches.append(place)
        # A list, because `any` would stop at the first child that stays.
        below = [look(child, is_held or is_match) for child in children.get(place, ())]
        stays = is_held or is_match or any(below)
        if stays:
            shown.add(place)
        return stays

    look(ROOT, False)
    return Found(tuple(matches), frozenset(shown))
