"""Rows of a tool use: a summary line, and below it the input and the result."""

import json
from dataclasses import dataclass
from typing import Any, Final

from rich.cells import cell_len
from rich.segment import Segment

from model.base.plural import count
from model.domain.messages import ToolResultBlock, ToolUseBlock
from model.domain.tool_uses import VERBS
from model.richtext.diff_rows import count_changed_lines
from tui.draw.diff import render_diff
from tui.draw.line_parts import (
    indent,
    limit_rows,
    one_line,
    prefix_rows,
    truncate_start,
    wrap_output,
    wrap_prose,
)
from tui.draw.wrap import Line
from tui.transcript.parts import ALL, CLOSED, OPEN, PREVIEW_ROWS, RenderContext

_FILES: Final = ("file_path", "filePath", "notebook_path")
# Input fields for the summary line; the first one that is present is shown.
_SUMMARY_FIELDS: Final = (
    "command", "cmd", *_FILES, "pattern", "query", "url", "description", "title", "path", "skill",
    "prompt",
)  # fmt: skip

LIVE_ROWS: Final = 3
"""Rows of a running tool's output that are shown while its use is collapsed."""

MAX_SMALL_EDIT: Final = 12
"""Edits with up to this many changed lines are expanded by default."""


@dataclass(frozen=True, slots=True)
class ToolUseState:
    """A tool use with its result and progress."""

    block: ToolUseBlock
    result: ToolResultBlock | None
    is_running: bool
    is_waiting: bool = False
    """Whether it waits for permission."""
    steps: int = 0
    """The number of tool uses of its sub-agent."""

    @property
    def has_failed(self) -> bool:
        """Whether its result is an error."""
        return self.result is not None and self.result.is_error

    @property
    def denied(self) -> str | None:
        """The reason given with its denial, possibly empty; `None` if it was not denied."""
        return self.result.denied if self.result is not None else None

    @property
    def is_edit(self) -> bool:
        """Whether it is an edit of a file, given as old and new text."""
        texts = (self.block.input.get("old_content"), self.block.input.get("new_content"))
        return self.block.name == "edit" and all(isinstance(text, str) for text in texts)

    @property
    def changes(self) -> tuple[int, int]:
        """The number of lines that an edit adds and removes."""
        return _count_changes(self.block.input["old_content"], self.block.input["new_content"])

    @property
    def default_level(self) -> int:
        """Its default expansion level."""
        is_small = self.is_edit and not self.has_failed and sum(self.changes) <= MAX_SMALL_EDIT
        return OPEN if is_small else CLOSED


def get_path(block: ToolUseBlock) -> str | None:
    """The path of the file that the tool was used on."""
    found = (block.input.get(key) for key in _FILES)
    return next((path for path in found if isinstance(path, str) and path), None)


def tool_rows(
    use: ToolUseState, context: RenderContext, width: int, level: int
) -> tuple[list[Line], bool]:
    """Return the rows of a tool use, at most `width` cells wide, and whether some are hidden."""
    head = [_head(use, context, width, level), *_denial_rows(use, context, width)]
    if level == CLOSED:
        return [*head, *indent(_live_rows(use, context, width - 2)[-LIVE_ROWS:], 2)], False
    faint = context.palette.faint
    body = (
        _edit_rows(use.block, context, width - 2)
        if use.is_edit
        else _input_rows(use.block, context, width - 2)
    )
    # The diff of a small edit includes unchanged lines, so its preview has more rows.
    limit = PREVIEW_ROWS * 3 if use.is_edit else PREVIEW_ROWS
    body, has_more = limit_rows(body, len(body) if level == ALL else limit, faint)
    if live_rows := _live_rows(use, context, width - 2):
        live_rows = live_rows if level == ALL else live_rows[-PREVIEW_ROWS:]
        return [*head, *indent([*body, *live_rows], 2)], has_more
    output = _output_rows(use, context, width - 2)
    output, is_output_cut = limit_rows(output, len(output) if level == ALL else PREVIEW_ROWS, faint)
    return [*head, *indent([*body, *output], 2)], has_more or is_output_cut


def _head(use: ToolUseState, context: RenderContext, width: int, level: int) -> Line:
    glyphs, styles, faint = context.glyphs, context.styles, context.palette.faint
    tail: Line = []
    if use.is_edit:
        added, removed = use.changes
        tail += [Segment(f"  +{added}", styles.success)]
        tail += [Segment(f" {glyphs.minus}{removed}", styles.error)]
    elif use.steps:
        tail.append(Segment(f"  {glyphs.dot} {count(use.steps, 'step')}", faint))
    if use.has_failed:
        word = "failed" if use.denied is None else "denied"
        tail.append(Segment(f"  {glyphs.failed} {word}", styles.error))
    elif use.result is None and use.is_running:
        word = (
            "waiting for permission" if use.is_waiting else _format_running(use.block.running_for)
        )
        tail.append(Segment(f"  {glyphs.running} {word}", styles.warning))
    word = _verb(use.block.name)
    available = width - 4 - cell_len(word) - sum(len(segment.text) for segment in tail)
    return [
        Segment(f"{glyphs.closed if level == CLOSED else glyphs.open} ", faint),
        Segment(word, styles.accent),
        Segment(f"  {_subject(use.block, context, max(available, 4))}", context.palette.muted),
        *tail,
    ]


def _denial_rows(use: ToolUseState, context: RenderContext, width: int) -> list[Line]:
    """The reason of a denial: part of the conversation, so shown even when collapsed."""
    if not use.denied:
        return []
    said = wrap_prose(use.denied, width - 4, context.palette.text)
    return indent(prefix_rows("❯", context.styles.error, said), 2)


def _verb(name: str) -> str:
    # MCP tools are named `mcp__server__tool`.
    plain = " ".join(name.removeprefix("mcp__").split("__"))
    return VERBS.get(name.lower()) or one_line(plain, 40) or "tool"


def _subject(block: ToolUseBlock, context: RenderContext, width: int) -> str:
    todos = block.input.get("todos")
    if isinstance(todos, list):
        done = sum(isinstance(todo, dict) and todo.get("status") == "completed" for todo in todos)
        return f"{done} of {len(todos)} done"
    path = get_path(block)
    if path is not None:
        return truncate_start(" ".join(context.path(path).split()), width)
    values = (block.input.get(key) for key in (*_SUMMARY_FIELDS, *block.input))
    texts = (" ".join(map(str, v)) if isinstance(v, list) else v for v in values)
    return one_line(next((t for t in texts if isinstance(t, str) and t.strip()), ""), width)


_change_counts: Final[dict[tuple[int, int], tuple[int, int]]] = {}
_MAX_CHANGE_COUNTS: Final = 256


def _count_changes(old: str, new: str) -> tuple[int, int]:
    """Count changed lines; cached by hash, because the texts of 256 edits may be very large."""
    key = hash(old), hash(new)
    if key not in _change_counts:
        _change_counts[key] = count_changed_lines(old, new)
        if len(_change_counts) > _MAX_CHANGE_COUNTS:
            del _change_counts[next(iter(_change_counts))]
    return _change_counts[key]


def _edit_rows(block: ToolUseBlock, context: RenderContext, width: int) -> list[Line]:
    old, new = block.input["old_content"], block.input["new_content"]
    return render_diff(old, new, get_path(block) or "", width, context.palette)


def _format_running(seconds: int | None) -> str:
    if seconds is None or seconds < 1:
        return "running"
    minutes, seconds = divmod(seconds, 60)
    return f"running for {minutes} min {seconds} s" if minutes else f"running for {seconds} s"


def _live_rows(use: ToolUseState, context: RenderContext, width: int) -> list[Line]:
    """The end of its output so far, while it runs."""
    live_output = use.block.output_so_far if use.result is None and use.is_running else None
    if not live_output or not live_output.strip():
        return []
    bar = Segment(f"{context.glyphs.bar} ", context.palette.border)
    return [[bar, *row] for row in wrap_output(live_output, width - 2, context.palette.muted)]


def _output_rows(use: ToolUseState, context: RenderContext, width: int) -> list[Line]:
    result = use.result
    # The result of a successful edit adds nothing to its diff.
    if result is None or not result.content.strip() or (use.is_edit and not result.is_error):
        return []
    style = context.styles.error if result.is_error else context.palette.muted
    bar = Segment(f"{context.glyphs.bar} ", context.palette.border)
    return [[bar, *row] for row in wrap_output(result.content, width - 2, style)]


def _input_rows(block: ToolUseBlock, context: RenderContext, width: int) -> list[Line]:
    text, faint = context.palette.text, context.palette.faint
    rows: list[Line] = []
    for key, value in block.input.items():
        if key == "todos" and isinstance(value, list):
            rows += (_todo_line(todo, context, width) for todo in value)
            continue
        said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if key in ("command", "cmd"):
            command = " ".join(map(str, value)) if isinstance(value, list) else said
            first, *rest = wrap_output(command, width - 2, text)
            rows += [[Segment("$ ", context.styles.accent), *first], *indent(rest, 2)]
        elif "\n" in said or cell_len(key) + cell_len(said) + 2 > width:
            rows.append([Segment(one_line(key, width), faint)])
            rows += indent(wrap_output(said, width - 2, text), 2)
        else:
            rows.append([Segment(f"{key}  ", faint), Segment(said, text)])
    return rows


def _todo_line(todo: Any, context: RenderContext, width: int) -> Line:
    entry = todo if isinstance(todo, dict) else {"content": todo}
    text = Segment(one_line(str(entry.get("content", "")), width - 2), context.palette.muted)
    match entry.get("status"):
        case "completed":
            return [Segment(f"{context.glyphs.done} ", context.styles.success), text]
        case "in_progress":
            return [Segment(f"{context.glyphs.closed} ", context.styles.warning), text]
        case _:
            return [Segment(f"{context.glyphs.choice} ", context.palette.faint), text]
