"""What the title of the diff screen says: whose changes, which side of them, and how many."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from tui.widgets.line import clickable

if TYPE_CHECKING:
    from model.commands.changes import ChangedFile, Changes


def title(
    worktree: str, sides: Sequence[str], here: str, changes: "Changes | None", path: str
) -> Content:
    """The worktree, the sides (a click shows one), a file, and what waits to be finished."""
    base = changes.base if changes is not None else "base"
    names = {"unstaged": "not staged", "staged": "staged", "branch": f"against {base}"}
    parts = [Content.styled(worktree, "bold $accent"), Content("  ")]
    for side in sides:
        word = f"[{names[side]}]" if side == here else f" {names[side]} "
        tone = "bold $foreground" if side == here else "$text-muted"
        parts.append(clickable(Content.styled(word, tone), f"screen.look_at('{side}')"))
    if path:
        parts.append(Content.styled(f" {path}", "bold $foreground"))
    if changes is not None and changes.operation is not None:
        words = f"  a {changes.operation} waits to be finished"
        parts.append(Content.styled(words, "bold $warning"))
    return Content.assemble(*parts)


def counts(files: "Sequence[ChangedFile]", comments: int) -> Content:
    """Comments that wait, files and their lines."""
    said = f"{comments} comment{'' if comments == 1 else 's'} · " if comments else ""
    added = sum(file.added or 0 for file in files)
    removed = sum(file.removed or 0 for file in files)
    number = f"{len(files)} file{'' if len(files) == 1 else 's'}  "
    lines = (f"+{added}", "$success"), (f" −{removed}", "$error")
    return Content.assemble((said, "$warning"), number, *lines)
