"""The card at the end of an answer that edited files: which ones, how much, and what to do next."""

from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from model.base.plural import count
from model.domain.messages import Message
from model.domain.worktrees import Worktree
from model.richtext.turn_changes import FileChange, summarize_edits
from tui.draw.line_parts import truncate_start
from tui.draw.wrap import Line
from tui.transcript.parts import RenderContext, Surroundings

_MAX_FILES: Final = 5
"""Files that are listed; the others are counted."""
_BAR: Final = 8
"""Cells of the bar of the file with most changed lines."""
ACTIONS: Final = {
    "open_diff": "review",
    "commit": "commit",
    "push": "push",
    "pull_request": "pr",
    "land": "land",
    "undo_turn": "undo",
}
"""The actions of the card, and what they are called there."""


def offered_actions(worktree: Worktree, ended_at: float) -> list[str]:
    """The actions that still have something to do, as far as git was read since `ended_at`."""
    is_known = (worktree.cached_status_at or 0) > ended_at
    changed = (worktree.cached_uncommitted_added, worktree.cached_uncommitted_removed)
    done: set[str] = {"commit"} if is_known and changed == (0, 0) else set()
    if done and worktree.cached_unpushed_count == 0:
        done.add("push")
    # Only what is committed lands, and only from a branch of its own.
    if not done or not worktree.cached_ahead_count or worktree.session_type == "base":
        done.add("land")
    return [action for action in ACTIONS if action not in done]


def change_rows(message: Message, context: RenderContext, around: Surroundings) -> list[Line]:
    """The rows of the card; none if no file changed. Only the last one has actions.

    Until the turn is recorded these are the files that the agent edited with its tools.
    """
    recorded = [FileChange(f.path, f.added or 0, f.removed or 0) for f in around.files]
    changes = recorded or summarize_edits(message.content)
    if not changes:
        return []
    bar = Segment(f"{context.glyphs.heavy_bar} ", context.styles.success)
    added = sum(change.added for change in changes)
    removed = sum(change.removed for change in changes)
    head = [
        Segment(f"{count(len(changes), 'file')} changed  ", context.styles.strong),
        *_counts(added, removed, context),
    ]
    rows = [head, *_file_rows(changes, context)]
    if around.is_last and context.keys:
        rows.append(_action_row(context))
    return [[bar, *row] for row in rows]


def _file_rows(changes: list[FileChange], context: RenderContext) -> list[Line]:
    shown = changes[:_MAX_FILES]
    names = [context.path(change.path) for change in shown]
    width = min(max(map(cell_len, names)), max(8, context.body_width - 30))
    most = max(1, *(change.added + change.removed for change in shown))
    rows: list[Line] = []
    for name, change in zip(names, shown, strict=True):
        text = truncate_start(name, width)
        pad = " " * (width - cell_len(text))
        rows.append(
            [
                Segment(f"{text}{pad}  ", context.palette.muted),
                *_counts(change.added, change.removed, context, width=5),
                Segment("  "),
                *_bars(change, most, context),
            ]
        )
    if len(changes) > len(shown):
        rows.append([Segment(f"and {len(changes) - len(shown)} more", context.palette.faint)])
    return rows


def _counts(added: int, removed: int, context: RenderContext, *, width: int = 0) -> Line:
    return [
        Segment(f"+{added}".rjust(width), context.styles.success),
        Segment(" "),
        Segment(f"{context.glyphs.minus}{removed}".rjust(width), context.styles.error),
    ]


def _bars(change: FileChange, most: int, context: RenderContext) -> Line:
    """Up to eight cells, in proportion to the changed lines and divided as they are."""
    total = change.added + change.removed
    cells = max(1, round(_BAR * total / most)) if total else 0
    added = round(cells * change.added / total) if total else 0
    sign = context.glyphs.block
    return [
        Segment(sign * added, context.styles.success),
        Segment(sign * (cells - added), context.styles.error),
    ]


def _action_row(context: RenderContext) -> Line:
    row: Line = []
    for action, key in context.keys.items():
        label = ACTIONS[action]
        click = Style(meta={"@click": f"screen.do('{action}')"})
        if key:
            row.append(Segment(f"{key} ", context.styles.accent + click))
            row.append(Segment(label, context.palette.muted + click))
        else:
            row.append(Segment(f"/{label}", context.styles.accent + click))
        row.append(Segment("   "))
    return row[:-1]
