"""The bars of the diff screen: worktree, sides, counts and keys."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.content import Content

from model.base.plural import count
from model.base.text import clean_line
from tui.diff.state import SIDES, DiffState
from tui.terminal import screen_reader
from tui.widgets.line import clickable
from tui.widgets.top_bar import MARK

if TYPE_CHECKING:
    from model.api.changes import ChangedFile

FOOTER: Final = (
    "diff_ours", "diff_theirs", "diff_both", "diff_continue", "diff_resolve_conflicts",
    "diff_abort_merge", "diff_send", "diff_send_verdicts", "diff_fix", "diff_accept",
    "diff_reject", "diff_comment", "diff_stage", "diff_unstage", "diff_discard", "diff_commit",
    "diff_next_side", "diff_next_hunk", "diff_next_finding", "diff_review", "diff_edit",
    "diff_undo_verdict", "diff_findings", "diff_compare", "diff_comments", "diff_stage_all",
    "diff_mark", "diff_why", "diff_push", "diff_pull_request", "diff_layout", "diff_log",
    "diff_stash", "diff_undo",
)  # fmt: skip
"""The actions in the footer, the most useful first."""


def title(screen: DiffState) -> Content:
    """Return the worktree, and a merge or rebase in progress."""
    parts = [
        Content.styled(f"{MARK} ", "bold $accent"),
        Content.styled(clean_line(screen.worktree.name), "bold $foreground"),
        Content.styled("  changes", "$text-muted"),
    ]
    if others := screen.also_changed:
        parts.append(Content.styled(f"  also changed in {others}", "$warning"))
    if state := _operation_state(screen):
        parts.append(Content.styled(f"  {state}", "bold $warning"))
    return Content.assemble(*parts)


def tabs(screen: DiffState) -> tuple[Content, Content]:
    """Return the sides (clickable) with the files of each, and the changed lines of this one."""
    base = next((clean_line(changes.base) for changes in screen.sides.values()), "base")
    names = {"unstaged": "unstaged", "staged": "staged", "branch": f"vs {base}"}
    parts: list[Content] = []
    for side in SIDES:
        known = screen.sides.get(side)
        number = f" {len(known.files)}" if known is not None else ""
        is_here = side == screen.side
        label = f"{names[side]}{number}"
        label = f"[{label}]" if is_here else f" {label} "
        tone = "bold $accent" if is_here else "$text-muted"
        parts.append(clickable(Content.styled(label, tone), f"screen.show_side('{side}')"))
    return Content.assemble(*parts), changed_lines(screen.files.files)


def changed_lines(files: "Sequence[ChangedFile]") -> Content:
    """Return how many files there are, and how many lines of them were added and removed."""
    added = sum(file.added or 0 for file in files)
    removed = sum(file.removed or 0 for file in files)
    if not files:
        return Content("")
    return Content.assemble(
        count(len(files), "file"),
        (f"  {screen_reader.format_count(added, '+', 'added')}", "$success"),
        (f" {screen_reader.format_count(removed, '−', 'removed')}", "$error"),
    )


def _operation_state(screen: DiffState) -> str:
    """Return the merge or rebase in progress, and what it waits for."""
    if screen.changes is None or screen.changes.operation is None:
        return ""
    left = _conflicts(screen)
    state = f"stopped: {count(left, 'conflict')}" if left else "ready to continue"
    return f"{screen.changes.operation} {state}"


def _is_stopped(screen: DiffState) -> bool:
    return screen.changes is not None and screen.changes.operation is not None


def _conflicts(screen: DiffState) -> int:
    """Return the number of files with conflicts; only the unstaged side lists them."""
    unstaged = screen.sides.get("unstaged")
    if unstaged is None:
        return screen.worktree.cached_conflict_count or 0
    return sum(file.status == "conflicted" for file in unstaged.files)


def counts(screen: DiffState) -> Content:
    """Return the progress of the review, its findings, marked lines and pending comments."""
    parts = [text for text in (screen.review.status, screen.review.progress) if text]
    if marked := len(screen.view.marked):
        parts.append(f"{count(marked, 'line')} marked")
    if comments := len(screen.comments):
        lost = sum(comment in screen.lost for comment in screen.comments)
        parts.append(f"{count(comments, 'comment')}{f', {lost} outdated' if lost else ''}")
    return Content.styled(" · ".join(parts), "$accent")


def own_keys(screen: DiffState) -> tuple[tuple[str, str], ...]:
    """Return the keys of the focused pane with their labels."""
    if not screen.files.files:
        return ()
    if screen.is_in_files:
        return (("enter", "diff"),)
    if screen.finding_here is not None:
        return (("enter", "edit"), ("del", "dismiss"))
    if screen.view.note_here is not None and screen.comment_here is not None:
        return (("enter", "edit"), ("del", "remove"))
    return (("tab", "files"),)


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
        case "diff_accept" | "diff_reject":
            return screen.side != "staged" and has_files
        case "diff_send_verdicts":
            return screen.review.unsent > 0
        case "diff_undo_verdict":
            return bool(screen.review.verdicts)
        case "diff_fix":
            return bool(screen.review.open_findings)
        case "diff_next_finding":
            return bool(screen.review.findings)
        case "diff_findings":
            return screen.review.by_agent is not None and bool(screen.review.by_agent.findings)
        case "diff_comment" | "diff_edit":
            return has_files
        case "diff_mark" | "diff_next_hunk" | "diff_why":
            return not screen.is_in_files and bool(screen.view.text.rows)
        case "diff_ours" | "diff_theirs" | "diff_both":
            file = screen.files.file
            has_both = file is not None and (action_id != "diff_both" or file.deleted_by is None)
            return file is not None and file.status == "conflicted" and has_both
        case "diff_continue":
            return _is_stopped(screen) and not _conflicts(screen)
        case "diff_resolve_conflicts":
            return _conflicts(screen) > 0
        case "diff_abort_merge":
            return _is_stopped(screen)
        case "diff_comments" | "diff_send":
            return bool(screen.comments)
    return True
