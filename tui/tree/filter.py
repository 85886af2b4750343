"""Filtering of the tree's rows by name."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tui.store.places import ROOT, Place
from tui.tree.rows import Children


@dataclass(frozen=True, slots=True)
class FilterResult:
    """Matching rows, and all rows that are shown because of them."""

    matches: tuple[Place, ...]
    """From top to bottom."""
    shown: frozenset[Place]
    """The matches with their ancestors and descendants; limited if there are very many."""


def find_occurrences(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Starts and ends of the text in the name, ignoring case."""
    # A pattern, because lowercasing can change the length of a text.
    return (match.span() for match in re.finditer(re.escape(text), name, re.IGNORECASE))


@dataclass(slots=True)
class Outline:
    """All places from top to bottom as flat lists, so that a filter is one pass over names."""

    places: list[Place] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    """The position of each place's parent; -1 for the root."""
    ends: list[int] = field(default_factory=list)
    """The position after each place's last descendant."""

    @classmethod
    def of(cls, children: Children, get_name: Callable[[Place], str]) -> "Outline":
        """Build the outline of everything below the root."""
        outline = cls()

        def add(place: Place, parent: int) -> None:
            position = len(outline.places)
            outline.places.append(place)
            outline.names.append(get_name(place))
            outline.parents.append(parent)
            outline.ends.append(position)
            for child in children.get(place, ()):
                add(child, position)
            outline.ends[position] = len(outline.places)

        for place in children.get(ROOT, ()):
            add(place, -1)
        return outline

    def find(self, text: str, limit: int) -> FilterResult:
        """Search all names; at most about `limit` rows are shown."""
        search = re.compile(re.escape(text), re.IGNORECASE).search
        matches = [position for position, name in enumerate(self.names) if search(name)]
        shown: set[int] = set()
        for position in matches:
            if len(shown) >= limit:
                break
            ancestors_of = self.parents[position]
            while ancestors_of >= 0 and ancestors_of not in shown:
                shown.add(ancestors_of)
                ancestors_of = self.parents[ancestors_of]
            shown.update(range(position, min(self.ends[position], position + limit)))
        places = self.places
        return FilterResult(
            tuple(places[position] for position in matches),
            frozenset({ROOT, *(places[position] for position in shown)}),
        )
