"""The worktrees of the sweep as rows: size, last use, and what deleting each would lose."""

import time
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.segment import Segment
from textual.content import Content

from model.base.amounts import format_age, format_size
from model.base.plural import count
from model.base.text import clean_line
from tui.draw.colors import Palette
from tui.draw.line_parts import fit, one_line
from tui.terminal import screen_reader
from tui.widgets.marked_list import MarkedList

if TYPE_CHECKING:
    from model.domain.landing import SweepRow

_SIZE: Final = 9
_USED: Final = 10
_WIDE: Final = 110
"""Columns from which the project is a column of its own."""
_PROJECT: Final = 18


class SweepList(MarkedList["SweepRow"]):
    """Worktrees, those that can go without a loss first."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette, id="sweep")
        self.results: Mapping[str, tuple[bool, str]] = {}
        """Whether the last action succeeded, and what it says, by the worktree's id."""
        self.projects: Mapping[str, str] = {}
        """The names of the projects by their ids; empty if there is only one."""

    def key(self, item: "SweepRow") -> Hashable:
        """Return the worktree's id."""
        return item.worktree_id

    @property
    def heads(self) -> Content:
        """The titles of the columns, above their cells."""
        if screen_reader.is_enabled() or not self.items:
            return Content("")
        name, project = self._widths(self.size.width)
        titles = f"  {'Size':>{_SIZE}}  {'Last used':<{_USED}}  {'Worktree':<{name}}  "
        titles += f"{'Project':<{project}}  " if project else ""
        return Content.styled(f"{titles}What would be lost", "$text-muted")

    def _widths(self, width: int) -> tuple[int, int]:
        """The cells for the name and the project."""
        project = _PROJECT if self.projects and width >= _WIDE else 0
        longest = max((cell_len(clean_line(item.name)) for item in self.items), default=8)
        return max(8, min(longest, width // 3)), project

    def draw(self, item: "SweepRow", width: int) -> list[Segment]:
        """Draw mark, size, last use, name, and what speaks against it; or the last result."""
        palette, is_marked = self.palette, item.worktree_id in self.marked
        used = format_age(item.last_used_at, time.time())
        name, losses = clean_line(item.name), describe_losses(item)
        result = self.results.get(item.worktree_id)
        if screen_reader.is_enabled():
            said = result[1] if result is not None else losses
            size = describe_size(item)
            words = f"{'marked ' if is_marked else ''}{name}, {size}, used {used} ago, {said}"
            return [Segment(words.replace("now ago", "just now"), palette.text)]
        tone = palette.warning if loses_anything(item) else palette.success
        if result is not None:
            losses, tone = result[1], palette.success if result[0] else palette.error
        name_width, project = self._widths(width)
        in_project = ""
        if project:
            in_project = (
                f"{one_line(clean_line(self.projects[item.project_id]), project):<{project}}  "
            )
        used_up = 6 + _SIZE + _USED + name_width + 2 + len(in_project)
        return [
            Segment("✓ " if is_marked else "  ", palette.accent),
            Segment(f"{describe_size(item):>{_SIZE}}  ", palette.text),
            Segment(f"{used:<{_USED}}  ", palette.muted),
            Segment(f"{fit(name, name_width)}  ", palette.strong),
            Segment(in_project, palette.muted),
            Segment(one_line(losses, max(8, width - used_up - 1)), tone),
        ]  # fmt: skip


def loses_anything(row: "SweepRow") -> bool:
    """Whether deleting it would lose work, or stop something."""
    is_unmerged = row.merged is None and bool(row.unpushed)
    return bool(row.uncommitted or is_unmerged or row.besides or row.is_running)


def describe_losses(row: "SweepRow") -> str:
    """What is in it that is nowhere else, or why nothing would be lost."""
    parts = ["a session is running"] if row.is_running else []
    if row.uncommitted:
        parts.append(f"{count(row.uncommitted, 'uncommitted file')}")
    if row.unpushed and row.merged is None:
        parts.append(f"{count(row.unpushed, 'commit')} nowhere else")
    parts += map(clean_line, row.besides)
    if not parts:
        parts.append("nothing: merged" if row.merged is not None else "nothing")
    if row.reverted:
        parts.append("its base has taken its changes back")
    if row.archived:
        parts.append("archived")
    if row.adopted:
        parts.append("its directory is not Spinney's and stays")
    return ", ".join(parts)


def describe_size(row: "SweepRow") -> str:
    """Its size on disk; `…` while that is not known."""
    return "…" if row.size is None else format_size(row.size)


def total_size(rows: "Sequence[SweepRow]") -> int:
    """The bytes on disk of several, as far as they are known."""
    return sum(row.size or 0 for row in rows)
