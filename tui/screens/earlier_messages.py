"""The dialog that searches the messages written before in a project, newest first."""

from collections.abc import Sequence
from typing import ClassVar, Final

from textual.binding import Binding, BindingType

from model.base.text import clean_line
from tui.screens.choose import Choice
from tui.screens.pick import Pick

_MAX_SHOWN: Final = 400
"""Characters of a message that its row may show."""
_MAX_SEARCHED: Final = 4_000
"""Characters of a message that are searched."""


class EarlierMessages(Pick):
    """Type a part of a message, enter chooses it. `ctrl+r` again goes to the next older one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "move(1)", show=False, priority=True),
    ]

    def __init__(self, messages: Sequence[str]) -> None:
        entries = [Choice(text, clean_line(text[:_MAX_SHOWN])) for text in messages]
        super().__init__("Earlier messages", entries)
        self._searched = {text: text[:_MAX_SEARCHED].casefold() for text in messages}

    def find(self, entries: Sequence[Choice], query: str) -> list[Choice]:
        """The messages that contain the query; after them those with its letters in this order."""
        wanted = " ".join(query.casefold().split())
        if not wanted:
            return list(entries)
        letters = wanted.replace(" ", "")
        whole, scattered = [], []
        for entry in entries:
            text = self._searched[entry.value]
            if wanted in text:
                whole.append(entry)
            elif _has_in_order(text, letters):
                scattered.append(entry)
        return whole + scattered

    def empty(self) -> str:
        """The text in place of an empty list."""
        return "No earlier message matches."


def _has_in_order(text: str, letters: str) -> bool:
    position = 0
    for letter in letters:
        position = text.find(letter, position) + 1
        if not position:
            return False
    return True
