"""Parses the drawn rows of the terminal's main screen."""

import re
from dataclasses import dataclass

from tests.journeys.ledger import MARK

_TITLE = re.compile(r"╭─+ ([^─╮]+?) ─")
_TABS = re.compile(r" (?:‹ \d+  )?[ ▌][·…◐‖●✗?] ")
_OPEN_TAB = re.compile(r"▌[·…◐‖●✗?] (.*?)(?:  |$)")
_TOAST = re.compile(r"“[^”]*”?")
_CURSOR = re.compile(r"┃ *❯ +(?:\w +)?(\S.*)")
_QUEUED = re.compile(r"(?:^|│) ?\d+ .* (?:edit  time  remove|enter edit  t time  del remove)\b")
_BAR = " ┃ "
"""What is left of each row of the message box, and of a request above it."""
EXPECTED_BOXES = frozenset({"Projects", "Plan", "Permission", "Question"})
"""Titles of boxes on the main screen; a box with another title is an overlay."""
TREE_MIN_COLUMNS = 100
"""Width of the screen from which on the project tree is shown beside the conversation."""
TREE_FIRST_ROW = 2
"""First row of the tree on the screen, counted from 1."""


@dataclass(frozen=True)
class View:
    """The main screen, parsed from its rows."""

    rows: list[str]

    @property
    def session(self) -> str:
        """The name of the open session: in the path in the first row, or of several in the tabs."""
        if len(self._path) > 2:
            return self._path[2]
        tab = _OPEN_TAB.search(self.rows[1][self._left :])
        return tab[1].strip() if tab is not None else ""

    @property
    def project(self) -> str:
        """The project's name in that path."""
        return self._path[0]

    @property
    def _path(self) -> list[str]:
        path = re.split(r"\s{2,}", self.rows[0].strip().removeprefix("▲").strip())[0]
        return [name.strip() for name in path.split(" ▸ ")]

    @property
    def overlays(self) -> list[str]:
        """Titles of boxes over the main screen."""
        titles = [title.strip() for row in self.rows for title in _TITLE.findall(row)]
        return [title for title in titles if title not in EXPECTED_BOXES]

    @property
    def has_palette(self) -> bool:
        return any("Search for commands" in row for row in self.rows)

    @property
    def shows_canvas(self) -> bool:
        """Whether all sessions are shown on one screen."""
        return self.rows[0].startswith(" ▲ All sessions")

    @property
    def conversation(self) -> str:
        """The text right of the tree and below the tabs, without the quoted names in toasts."""
        rows = [row[self._left :] for row in self.rows[1:-1]]
        return _TOAST.sub("", "\n".join(rows[1:] if _TABS.match(rows[0]) else rows))

    @property
    def _left(self) -> int:
        """The first column, from 0, right of the rule behind the tree."""
        is_wide = len(self.rows[0]) >= TREE_MIN_COLUMNS
        return self.rows[-2].find("│") + 1 if is_wide else 0

    @property
    def marks(self) -> set[str]:
        """The marks in the conversation, the queue, the request and the message box."""
        return set(MARK.findall(self.conversation))

    @property
    def selected_choice(self) -> str:
        """The choice under the cursor of a request, without its shortcut key."""
        choices = _CURSOR.findall("\n".join(self.rows))
        return choices[-1] if choices else ""

    @property
    def box_position(self) -> tuple[int, int] | None:
        """Column and row, from 1, of the first character in the message box."""
        left, first = self._left, len(self.rows) - 2  # the row of the status line, from 0
        while first and self.rows[first - 1][left:].startswith(_BAR):
            first -= 1
        return (left + len(_BAR) + 1, first + 1) if first < len(self.rows) - 2 else None

    @property
    def box_end(self) -> tuple[int, int] | None:
        """Column and row, from 1, of the start of the last row of the message box."""
        position = self.box_position
        return (position[0], len(self.rows) - 2) if position is not None else None

    @property
    def box_marks(self) -> set[str]:
        """The marks in the message box."""
        position = self.box_position
        return set(MARK.findall("\n".join(self.rows[position[1] - 1 :]))) if position else set()

    @property
    def queue(self) -> str:
        """The rows of the queued messages."""
        return "\n".join(row for row in self.rows if _QUEUED.search(row))

    @property
    def selected_queue_row(self) -> str:
        """The selected row of the queue; empty if none is selected."""
        return next((row for row in self.queue.splitlines() if "enter edit" in row), "")

    def find_queue_action(self, mark: str, word: str) -> tuple[int, int] | None:
        """Column and row of a word such as `edit` in the queue's row with this mark."""
        for number, row in enumerate(self.rows, 1):
            if mark in row and _QUEUED.search(row):
                return row.rindex(word) + 1, number
        return None

    @property
    def broken_rows(self) -> list[str]:
        """Rows in which the rule between the panes is overdrawn."""
        if len(self.rows[0]) < TREE_MIN_COLUMNS or self.overlays:
            return []
        return [row for row in self.rows[1:-1] if row[self._left - 1] != "│"]

    def find_tree_row(self, name: str) -> int | None:
        """The row, from 1, in which the tree shows a session; `None` if it does not."""
        if len(self.rows[0]) < TREE_MIN_COLUMNS:
            return None
        for number, row in list(enumerate(self.rows, 1))[1:]:
            if name in row[: self._left].split():
                return number
        return None
