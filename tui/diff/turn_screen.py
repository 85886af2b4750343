"""What one turn of a session changed, by file."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content

from model.api.turns import TurnSummary, get_turn_diff, get_turn_file_diff
from model.base.amounts import format_age
from model.base.text import clean_line
from tui.desk import Desk
from tui.diff.bars import changed_lines
from tui.diff.fixed_diff import READING_ACTIONS, FixedDiff
from tui.screens.full import bindings
from tui.widgets.line import Line
from tui.widgets.top_bar import MARK

if TYPE_CHECKING:
    from model.api.changes import ChangedFile, FileDiff
    from model.domain.worktrees import Worktree


class TurnDiff(FixedDiff):
    """The files that a turn changed, and the diff of one."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("diff", only=READING_ACTIONS)]

    def __init__(self, desk: Desk, worktree: "Worktree", turn: TurnSummary) -> None:
        super().__init__(desk)
        self.worktree = worktree
        self.turn = turn

    async def list_files(self) -> "Sequence[ChangedFile]":
        """The files that the turn changed."""
        diff = await self.desk.client.call(get_turn_diff, turn_id=self.turn.turn_id)
        return diff.files

    @property
    def source(self) -> str:
        """The turn."""
        return self.turn.turn_id

    async def fetch(self, file: "ChangedFile") -> "FileDiff":
        """Get what the turn changed in a file."""
        return await self.desk.client.call(
            get_turn_file_diff, turn_id=self.turn.turn_id, path=file.path
        )

    def nothing(self) -> str:
        """Many turns change nothing."""
        return "This turn changed no file."

    def update_bars(self) -> None:
        """Show the prompt, the time and the keys."""
        ended = self.turn.ended_at or self.turn.started_at
        about = (f"turn {self.turn.number}", format_age(ended, time.time()))
        title = Content.assemble(
            (f"{MARK} ", "bold $accent"),
            (clean_line(self.worktree.name), "bold $foreground"),
            (f"  {' · '.join(about)}", "$text-muted"),
        )
        self.query_one("#top", Line).show(title, changed_lines(self.files.files))
        prompt = clean_line(self.turn.prompt) or "The agent began by itself"
        self.query_one("#sides", Line).show(Content.styled(prompt, "bold $foreground"))
        self.show_keys()
