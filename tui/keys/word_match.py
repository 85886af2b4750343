"""Which titles a person means who types a few letters: words and their beginnings, no stray ones.

Textual's own search takes letters wherever they stand, so that a title of some length has nearly
any word in it: `look` found “Go to the sheLl fOr a while; … cOmes bacK”.
"""

import re

from textual.content import Content
from textual.style import Style

_BEGINS, _WITHIN, _PARTS = 3.0, 2.0, 1.0
"""What a letter counts in a word that begins like it, that has it, or in parts of words."""


class WordMatch:
    """Every word that was typed must be found: whole, or as parts of words that follow each other.

    `cm` is found in `Commit` and `nw` in `New worktree`, for a part may begin with a word or go on
    in the word that the one before it stands in.
    """

    def __init__(self, query: str, style: Style | None) -> None:
        self._words = query.casefold().split()
        self._style = style or Style(reverse=True)

    def match(self, title: str) -> float:
        """How well it is found; 0: not at all. Of equals the shorter title comes first."""
        found = [_found(word, title) for word in self._words]
        if not found or not all(places for _, places in found):
            return 0.0
        return sum(score for score, _ in found) + 1 / (len(title) + 1)

    def highlight(self, title: str) -> Content:
        """The title with what was found marked; it is never read as markup."""
        shown = Content(title)
        for word in self._words:
            for place in _found(word, title)[1]:
                shown = shown.stylize(self._style, place, place + 1)
        return shown


def _found(word: str, title: str) -> tuple[float, tuple[int, ...]]:
    """What this word counts in the title, and where its letters stand."""
    whole = re.escape(word)
    for pattern, value in ((rf"\b{whole}", _BEGINS), (whole, _WITHIN)):
        if place := re.search(pattern, title, re.IGNORECASE):
            return value * len(word), tuple(range(*place.span()))
    places = _parts(word, title)
    return _PARTS * len(places), places


def _parts(word: str, title: str) -> tuple[int, ...]:
    """Where the letters stand if each begins a word, or goes on in that of the one before it."""
    paths: dict[int, tuple[int, ...]] = {-1: ()}  # by the place of their last letter
    spans = [match.span() for match in re.finditer(r"\w+", title)]
    for letter in word:
        longer: dict[int, tuple[int, ...]] = {}
        for start, end in spans:
            for place in range(start, end):
                if title[place].casefold() != letter:
                    continue
                # Not a pattern: its search would take for ever where letters repeat.
                first = -1 if place == start else start
                before = max((last for last in paths if first <= last < place), default=None)
                if before is not None:
                    longer[place] = (*paths[before], place)
        paths = longer
    return max(paths.values(), default=())
