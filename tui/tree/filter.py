"""Which rows of the tree remain while a filter is typed."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tui.store.places import ROOT, Place
from tui.tree.rows import Children


@dataclass(frozen=True, slots=True)
class Found:
    """Rows whose names hold the text, and those that stay on their account."""

    matches: tuple[Place, ...]
    """From top to bottom."""
    shown: frozenset[Place]
    """The matches with all that holds them and all that they hold; the first ones of very many."""


def occurrences(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Where the text is in the name, in small or capital letters: starts and ends."""
    # A pattern, because lower case may be of another length, and starts would be wrong then.
    return (match.span() for match in re.finditer(re.escape(text), name, re.IGNORECASE))


@dataclass(slots=True)
class Outline:
    """Every place from top to bottom, so that a letter costs one pass over a list of names."""

    places: list[Place] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    """The position of what holds each place; -1 for the root."""
    ends: list[int] = field(default_factory=list)
    """The position behind the last of what each place holds."""

    @classmethod
    def of(cls, children: Children, name_of: Callable[[Place], str]) -> "Outline":
        """The outline of all that is below the root."""
        made = cls()

        def put(place: Place, parent: int) -> None:
            position = len(made.places)
            made.places.append(place)
            made.names.append(name_of(place))
            made.parents.append(parent)
            made.ends.append(position)
            for child in children.get(place, ()):
                put(child, position)
            made.ends[position] = len(made.places)

        for place in children.get(ROOT, ()):
            put(place, -1)
        return made

    def find(self, text: str, limit: int) -> Found:
        """Look for the text in every name; of the rows about `limit` are shown at most."""
        search = re.compile(re.escape(text), re.IGNORECASE).search
        matches = [position for position, name in enumerate(self.names) if search(name)]
        shown: set[int] = set()
        for position in matches:
            if len(shown) >= limit:
                break
            above = self.parents[position]
            while above >= 0 and above not in shown:
                shown.add(above)
                above = self.parents[above]
            shown.update(range(position, min(self.ends[position], position + limit)))
        places = self.places
        return Found(
            tuple(places[position] for position in matches),
            frozenset({ROOT, *(places[position] for position in shown)}),
        )
