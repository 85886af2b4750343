"""The bars of the diff screen: worktree, sides, counts and keys."""

from collections.abc import Sequence
from typing import Final

from textual.content import Content

from model.base.plural import count
from tui.diff.state import DiffState
from tui.terminal import screen_reader
from tui.widgets.line import clickable

FOOTER: Final = (
    "diff_resolve_conflicts", "diff_abort_merge", "diff_comments", "diff_comment", "diff_mark",
    "diff_stage", "diff_unstage", "diff_discard", "diff_next_side", "diff_commit", "diff_next_hunk",
    "diff_stage_all", "diff_undo", "diff_push", "diff_pull_request", "diff_layout",
)  # fmt: skip
"""The actions in the footer, the most useful first."""


def title(screen: DiffState, sides: Sequence[str], path: str) -> Content:
    """Return worktree, sides (clickable), file, and a merge or rebase in progress."""
    base = screen.changes.base if screen.changes is not None else "base"
    names = {"unstaged": "unstaged", "staged": "staged", "branch": f"vs {base}"}
    parts = [Content.styled(screen.worktree.name, "bold $accent"), Content("  ")]
    for side in sides:
        selected = names[side] if screen_reader.is_enabled() else f"[{names[side]}]"
        label = selected if side == screen.side else f" {names[side]} "
        tone = "bold $foreground" if side == screen.side else "$text-muted"
        parts.append(clickable(Content.styled(label, tone), f"screen.show_side('{side}')"))
    if path:
        parts.append(Content.styled(f" {path}", "bold $foreground"))
    if state := _operation_state(screen):
        parts.append(Content.styled(f"  {state}", "bold $warning"))
    return Content.assemble(*parts)


def _operation_state(screen: DiffState) -> str:
    """Return the merge or rebase in progress, and what it waits for."""
    if screen.changes is None or screen.changes.operation is None:
        return ""
    left = _conflicts(screen)
    state = f"stopped: {count(left, 'conflict')}" if left else "ready to commit"
    return f"{screen.changes.operation} {state}"


def _conflicts(screen: DiffState) -> int:
    """Return the number of files with conflicts; only the unstaged side lists them."""
    if screen.side != "unstaged":
        return screen.worktree.cached_conflict_count or 0
    return sum(file.status == "conflicted" for file in screen.files.files)


def counts(screen: DiffState) -> Content:
    """Return marked lines, pending comments, files and their changed lines."""
    files, prefix = screen.files.files, ""
    if marked := len(screen.view.marked):
        prefix = f"{count(marked, 'line')} marked · "
    if comments := len(screen.comments):
        lost = len(screen.lost.intersection(screen.comments))
        outdated = f", {lost} outdated" if lost else ""
        prefix += f"{count(comments, 'comment')}{outdated} · "
    added = sum(file.added or 0 for file in files)
    removed = sum(file.removed or 0 for file in files)
    lines = (
        (f"  {screen_reader.format_count(added, '+', 'added')}", "$success"),
        (f" {screen_reader.format_count(removed, '−', 'removed')}", "$error"),
    )
    return Content.assemble((prefix, "$warning"), count(len(files), "file"), *lines)


def own_keys(screen: DiffState) -> tuple[tuple[str, str], ...]:
    """Return the keys of the focused pane with their labels."""
    if not screen.files.files:
        return ()
    if not screen.is_in_files:
        return (("tab", "files"),)
    return (("enter", "open"),)


def useless(screen: DiffState) -> frozenset[str]:
    """Return the actions of the footer that have no effect now."""
    return frozenset(action for action in FOOTER if not _is_applicable(action, screen))


def _is_applicable(action_id: str, screen: DiffState) -> bool:
    has_files = bool(screen.files.files)
    match action_id:
        case "diff_stage" | "diff_discard":
            return screen.side == "unstaged" and has_files
        case "diff_stage_all":
            return screen.side != "branch" and has_files
        case "diff_unstage":
            return screen.side == "staged" and has_files
        case "diff_comment" | "diff_mark" | "diff_next_hunk":
            return not screen.is_in_files and bool(screen.view.text.rows)
        case "diff_resolve_conflicts":
            return _conflicts(screen) > 0
        case "diff_abort_merge":
            return screen.changes is not None and screen.changes.operation is not None
        case "diff_comments":
            return bool(screen.comments)
    return True
