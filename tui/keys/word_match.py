"""Fuzzy matching of titles by words and their beginnings, never by scattered letters.

Textual's own matcher accepts letters anywhere, so nearly every word matches a title of some
length: `look` matched 'Go to the sheLl fOr a while; … cOmes bacK'.
"""

import re

from textual.content import Content
from textual.style import Style

_AT_WORD_START, _INSIDE_WORD, _IN_PARTS = 3.0, 2.0, 1.0
"""Score per letter of a match at the start of a word, inside a word, or in parts of words."""


class WordMatch:
    """Matches titles that contain every typed word, whole or as parts of successive words.

    `cm` matches `Commit` and `nw` matches `New worktree`: each letter begins a word, or continues
    in the word of the letter before it.
    """

    def __init__(self, query: str, style: Style | None) -> None:
        self._words = query.casefold().split()
        self._style = style or Style(reverse=True)

    def match(self, title: str) -> float:
        """The score of a title; 0 is no match. Equal matches rank by length, shorter first.

        What follows a colon does not count: 'Server: stop' must not precede the server's screen.
        """
        found = [_match_word(word, title) for word in self._words]
        if not found or not all(positions for _, positions in found):
            return 0.0
        return sum(score for score, _ in found) + 1 / (len(title.partition(":")[0]) + 1)

    def is_in(self, text: str) -> bool:
        """Whether each typed word begins a word of the text, which is a sentence and no title."""
        return bool(self._words) and all(
            re.search(rf"\b{re.escape(word)}", text, re.IGNORECASE) for word in self._words
        )

    def highlight(self, title: str) -> Content:
        """The title with the matched letters highlighted; it is never parsed as markup."""
        shown = Content(title)
        for word in self._words:
            for position in _match_word(word, title)[1]:
                shown = shown.stylize(self._style, position, position + 1)
        return shown


def _match_word(word: str, title: str) -> tuple[float, tuple[int, ...]]:
    """The score of a word in the title, and the positions of its letters."""
    literal = re.escape(word)
    for pattern, value in ((rf"\b{literal}", _AT_WORD_START), (literal, _INSIDE_WORD)):
        if match := re.search(pattern, title, re.IGNORECASE):
            return value * len(word), tuple(range(*match.span()))
    positions = _match_word_parts(word, title)
    return _IN_PARTS * len(positions), positions


def _match_word_parts(word: str, title: str) -> tuple[int, ...]:
    """Letter positions, each at a word start or later in the word of the letter before it."""
    matches: dict[int, tuple[int, ...]] = {-1: ()}  # by the position of their last letter
    spans = [match.span() for match in re.finditer(r"\w+", title)]
    for letter in word:
        longer: dict[int, tuple[int, ...]] = {}
        for start, end in spans:
            for position in range(start, end):
                if title[position].casefold() != letter:
                    continue
                # Not a regular expression: it would backtrack exponentially on repeated letters.
                first = -1 if position == start else start
                previous = max((last for last in matches if first <= last < position), default=None)
                if previous is not None:
                    longer[position] = (*matches[previous], position)
        matches = longer
    return max(matches.values(), default=())
