"""Two branches, commits or worktrees side by side, by file."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content

from model.api.code_reviews import compare_branches, get_compared_diff
from model.base.text import clean_line
from tui.desk import Desk
from tui.diff.bars import changed_lines
from tui.diff.fixed_diff import READING_ACTIONS, FixedDiff
from tui.screens.full import bindings
from tui.widgets.line import Line
from tui.widgets.top_bar import MARK

if TYPE_CHECKING:
    from model.api.changes import ChangedFile, FileDiff
    from model.api.code_reviews import Comparison


class CompareDiff(FixedDiff):
    """The files that differ, and the diff of one.

    Args:
        desk: The desk.
        project_id: The project of both.
        left: A branch, a commit, or the id of a worktree; `right` likewise.
        right: What has the new lines.
        names: How both are shown until they are read.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("diff", only=READING_ACTIONS)]

    def __init__(
        self, desk: Desk, project_id: str, left: str, right: str, names: tuple[str, str]
    ) -> None:
        super().__init__(desk)
        self._project_id = project_id
        self._left, self._right = left, right
        self._names = names
        self._comparison: Comparison | None = None

    async def list_files(self) -> "Sequence[ChangedFile]":
        """Compare, and return the files that differ."""
        self._comparison = await self.desk.client.call(
            compare_branches, project_id=self._project_id, left=self._left, right=self._right
        )
        self._names = self._comparison.left, self._comparison.right
        return self._comparison.files

    @property
    def source(self) -> tuple[str, str]:
        """Both sides."""
        return self._left, self._right

    async def fetch(self, file: "ChangedFile") -> "FileDiff":
        """Get the diff of a file."""
        known = self._comparison
        return await self.desk.client.call(
            get_compared_diff,
            project_id=self._project_id,
            left=known.left_commit if known is not None else self._left,
            right=known.right_commit if known is not None else self._right,
            path=file.path,
        )

    def nothing(self) -> str:
        """Both may be the same."""
        left, right = map(clean_line, self._names)
        return f"'{left}' and '{right}' have the same files."

    def update_bars(self) -> None:
        """Show both names and the keys."""
        left, right = map(clean_line, self._names)
        title = Content.assemble((f"{MARK} ", "bold $accent"), ("comparison", "bold $foreground"))
        self.query_one("#top", Line).show(title, changed_lines(self.files.files))
        names = Content.assemble(
            (f"− {left}", "$error"), ("  →  ", "$text-muted"), (f"+ {right}", "$success")
        )
        self.query_one("#sides", Line).show(names)
        self.show_keys()
