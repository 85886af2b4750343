"""What the bars of the diff screen say: whose changes, which side of them, and the keys."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from tui import keymap
from tui.key_names import shown
from tui.widgets.line import clickable

if TYPE_CHECKING:
    from model.commands.changes import ChangedFile, Changes
    from tui.screens.diff import Diff


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


def keys(screen: "Diff") -> tuple[Content, Content]:
    """The keys that are of use now, and the one that leads back."""
    hints = [
        _hint(action, screen)
        for action in keymap.ACTIONS
        if action.where == "diff" and action.hint and _is_useful(action.id, screen)
    ]
    return Content("  ").join(hints[:-1]), hints[-1]


def _hint(action: keymap.Action, screen: "Diff") -> Content:
    key = shown(keymap.keys_of(action.id, screen.key_overrides))
    hint = Content.assemble((key, "bold $accent"), (f" {action.hint}", "$text-muted"))
    return clickable(hint, f"screen.do('{action.id}')")


def _is_useful(action_id: str, screen: "Diff") -> bool:
    has_files = bool(screen.files.files)
    match action_id:
        case "diff_stage" | "diff_discard":
            return screen.side == "unstaged" and has_files
        case "diff_stage_all":
            return screen.side != "branch" and has_files
        case "diff_unstage":
            return screen.side == "staged" and has_files
        case "diff_comment" | "diff_next_hunk" | "diff_previous_hunk":
            return not screen.is_in_files and bool(screen.view.text.rows)
        case "diff_resolve_conflicts" | "diff_abort_merge":
            return screen.changes is not None and screen.changes.operation is not None
        case "diff_comments":
            return bool(screen.comments)
    return True
