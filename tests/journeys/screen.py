"""What a person reads on the terminal's main screen, taken from its drawn rows."""

import re
from dataclasses import dataclass

from tests.journeys.ledger import MARK

_TITLE = re.compile(r"╭─+ ([^─╮]+?) ─")
_TOAST = re.compile(r"“[^”]*”?")
_CURSOR = re.compile(r"│ *❯ +(?:\w +)?(\S.*)")
_QUEUED = re.compile(r"(?:^|│) ?\d+ .* (?:edit  remove|enter edit  del remove)\b")
_RULE = re.compile("─{20,}")
EXPECTED_BOXES = frozenset({"Projects", "Plan", "Permission", "Question"})
"""Titles of what stands on the main screen; any other box lies over it."""
TREE_FROM = 100
"""Columns from which the tree of projects stands beside the conversation."""
TREE = 34
"""Columns that it takes."""
FIRST_ROW = 3
"""The row of the screen, from 1, in which the tree begins."""


@dataclass(frozen=True)
class View:
    """The drawn rows, read."""

    rows: list[str]

    @property
    def session(self) -> str:
        """The name at the end of the path in the first row; empty where no session is open."""
        return self._path[2] if len(self._path) > 2 else ""

    @property
    def project(self) -> str:
        """The name at the beginning of that path."""
        return self._path[0]

    @property
    def _path(self) -> list[str]:
        path = re.split(r"\s{2,}", self.rows[0].strip().removeprefix("Spinney").strip())[0]
        return [name.strip() for name in path.split(" ▸ ")]

    @property
    def over(self) -> list[str]:
        """Titles of boxes that lie over the main screen."""
        titles = [title.strip() for row in self.rows for title in _TITLE.findall(row)]
        return [title for title in titles if title not in EXPECTED_BOXES]

    @property
    def has_palette(self) -> bool:
        return any("Search for commands" in row for row in self.rows)

    @property
    def is_canvas(self) -> bool:
        """Whether all sessions are shown on one screen."""
        return self.rows[0].startswith(" Canvas ")

    @property
    def conversation(self) -> str:
        """What stands right of the tree and below the tabs; without the names in toasts."""
        left = TREE if len(self.rows[0]) >= TREE_FROM else 0
        return _TOAST.sub("", "\n".join(row[left:] for row in self.rows[3:-1]))

    @property
    def marks(self) -> set[str]:
        """The marks in the conversation, its queue, its request and its box."""
        return set(MARK.findall(self.conversation))

    @property
    def chosen(self) -> str:
        """The choice that the cursor of a request is on, without the key that may stand there."""
        found = _CURSOR.findall("\n".join(self.rows))
        return found[-1] if found else ""

    @property
    def box(self) -> tuple[int, int] | None:
        """Where the message box begins, as column and row from 1."""
        left = TREE if len(self.rows[0]) >= TREE_FROM else 0
        rules = [at for at, row in enumerate(self.rows) if _RULE.fullmatch(row[left:].strip(" │"))]
        return (left + 4, rules[-1] + 2) if rules else None

    @property
    def written(self) -> set[str]:
        """The marks of what stands in the message box."""
        place = self.box
        return set(MARK.findall("\n".join(self.rows[place[1] - 1 :]))) if place else set()

    @property
    def queue(self) -> str:
        """The messages that wait, a row for each."""
        return "\n".join(row for row in self.rows if _QUEUED.search(row))

    @property
    def marked_in_queue(self) -> str:
        """The row of the queue that keys are about; empty if none is."""
        return next((row for row in self.queue.splitlines() if "enter edit" in row), "")

    def word_in_queue(self, mark: str, word: str) -> tuple[int, int] | None:
        """Where to click on a word behind the waiting message with this mark."""
        for number, row in enumerate(self.rows, 1):
            if mark in row and _QUEUED.search(row):
                return row.rindex(word) + 1, number
        return None

    @property
    def holes(self) -> list[str]:
        """Rows in which something was drawn over the frame."""
        if len(self.rows[0]) < TREE_FROM or self.over:
            return []
        return [row for row in self.rows[1:-1] if row[0] not in "╭│╰" or row[-1] not in "╮│╯"]

    def row_of(self, name: str) -> int | None:
        """The row, from 1, in which the tree shows a session; none where the tree is not drawn."""
        if len(self.rows[0]) < TREE_FROM:
            return None
        for number, row in list(enumerate(self.rows, 1))[1:]:
            if name in row[:TREE].split():
                return number
        return None
