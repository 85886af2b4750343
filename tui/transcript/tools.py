"""Tool use as rows: one line that says what was done, and behind it the input and the result."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from rich.cells import cell_len
from rich.segment import Segment

from model.domain.resources import ToolResultBlock, ToolUseBlock
from model.richtext.diff_rows import count_changed_lines
from tui.draw.diff import render_diff
from tui.draw.line_parts import (
    behind_sign,
    cut,
    end_of_line,
    indented,
    one_line,
    output_rows,
    prose_rows,
)
from tui.draw.wrap import Line
from tui.transcript.parts import ALL, CLOSED, CUT, OPEN, Look

# What agents call their tools, in lower case, and the word for it here.
_WORDS: Final[Mapping[str, str]] = {
    "agent": "agent", "bash": "run", "command": "run", "edit": "edit", "exec_command": "run",
    "glob": "find", "grep": "search", "list": "list", "ls": "list", "read": "read",
    "shell": "run", "task": "agent", "todowrite": "todo", "update_plan": "todo",
    "webfetch": "fetch", "websearch": "search web", "write": "write",
}  # fmt: skip

_FILES: Final = ("file_path", "filePath", "notebook_path")
# The one field that says most, in the order in which they are looked for.
_TELLING: Final = (
    "command", "cmd", *_FILES, "pattern", "query", "url", "description", "title", "path", "skill",
    "prompt",
)  # fmt: skip

LIVE: Final = 3
"""Rows of what a tool prints while it runs that are shown where its use is folded."""

SMALL_EDIT: Final = 12
"""Edits of up to this many changed lines are shown at once."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool's use with all that is known about it."""

    block: ToolUseBlock
    result: ToolResultBlock | None
    is_running: bool
    is_waiting: bool = False
    """Whether a person has not allowed it yet."""
    steps: int = 0
    """How many tools a sub-agent used for it."""

    @property
    def has_failed(self) -> bool:
        """Whether its result is an error."""
        return self.result is not None and self.result.is_error

    @property
    def denied(self) -> str | None:
        """What the person said who denied it, which may be nothing; `None` where nobody did."""
        return self.result.denied if self.result is not None else None

    @property
    def is_edit(self) -> bool:
        """Whether it replaced a piece of a file, told as the old and the new text."""
        texts = (self.block.input.get("old_content"), self.block.input.get("new_content"))
        return self.block.name == "edit" and all(isinstance(text, str) for text in texts)

    @property
    def changes(self) -> tuple[int, int]:
        """How many lines an edit adds and removes."""
        return _changes(self.block.input["old_content"], self.block.input["new_content"])

    @property
    def default_level(self) -> int:
        """How far it is open before anybody touched it."""
        is_small = self.is_edit and not self.has_failed and sum(self.changes) <= SMALL_EDIT
        return OPEN if is_small else CLOSED


def path_of(block: ToolUseBlock) -> str | None:
    """The file that the tool was about."""
    found = (block.input.get(key) for key in _FILES)
    return next((path for path in found if isinstance(path, str) and path), None)


def tool_rows(use: ToolUse, look: Look, width: int, level: int) -> tuple[list[Line], bool]:
    """The rows of a tool's use within `width` cells, and whether more would be shown."""
    head = [_head(use, look, width, level), *_said(use, look, width)]
    if level == CLOSED:
        return [*head, *indented(_so_far(use, look, width - 2)[-LIVE:], 2)], False
    faint = look.palette.faint
    body = _edit(use.block, look, width - 2) if use.is_edit else _input(use.block, look, width - 2)
    # A small edit has its unchanged lines around it too, so more rows belong to the first look.
    limit = CUT * 3 if use.is_edit else CUT
    body, is_cut = cut(body, len(body) if level == ALL else limit, faint)
    if so_far := _so_far(use, look, width - 2):
        so_far = so_far if level == ALL else so_far[-CUT:]
        return [*head, *indented([*body, *so_far], 2)], is_cut
    output = _output(use, look, width - 2)
    output, is_output_cut = cut(output, len(output) if level == ALL else CUT, faint)
    return [*head, *indented([*body, *output], 2)], is_cut or is_output_cut


def _head(use: ToolUse, look: Look, width: int, level: int) -> Line:
    signs, tones, faint = look.signs, look.tones, look.palette.faint
    tail: Line = []
    if use.is_edit:
        added, removed = use.changes
        tail += [Segment(f"  +{added}", tones.success)]
        tail += [Segment(f" {signs.minus}{removed}", tones.error)]
    elif use.steps:
        steps = "step" if use.steps == 1 else "steps"
        tail.append(Segment(f"  {signs.dot} {use.steps} {steps}", faint))
    if use.has_failed:
        word = "failed" if use.denied is None else "denied"
        tail.append(Segment(f"  {signs.failed} {word}", tones.error))
    elif use.result is None and use.is_running:
        word = "waiting for permission" if use.is_waiting else _running(use.block.running_for)
        tail.append(Segment(f"  {signs.running} {word}", tones.warning))
    word = _word(use.block.name)
    room = width - 4 - cell_len(word) - sum(len(segment.text) for segment in tail)
    return [
        Segment(f"{signs.closed if level == CLOSED else signs.open} ", faint),
        Segment(word, tones.accent),
        Segment(f"  {_subject(use.block, look, max(room, 4))}", look.palette.muted),
        *tail,
    ]


def _said(use: ToolUse, look: Look, width: int) -> list[Line]:
    """A person's words with their denial: part of the conversation, also where all is folded."""
    if not use.denied:
        return []
    said = prose_rows(use.denied, width - 4, look.palette.text)
    return indented(behind_sign("❯", look.tones.error, said), 2)


def _word(name: str) -> str:
    # A tool of a server is called `mcp__server__tool`.
    plain = " ".join(name.removeprefix("mcp__").split("__"))
    return _WORDS.get(name.lower()) or one_line(plain, 40) or "tool"


def _subject(block: ToolUseBlock, look: Look, width: int) -> str:
    todos = block.input.get("todos")
    if isinstance(todos, list):
        done = sum(isinstance(todo, dict) and todo.get("status") == "completed" for todo in todos)
        return f"{done} of {len(todos)} done"
    path = path_of(block)
    if path is not None:
        return end_of_line(" ".join(look.path(path).split()), width)
    telling = (block.input.get(key) for key in (*_TELLING, *block.input))
    texts = (" ".join(map(str, v)) if isinstance(v, list) else v for v in telling)
    return one_line(next((t for t in texts if isinstance(t, str) and t.strip()), ""), width)


_COUNTED: Final[dict[tuple[int, int], tuple[int, int]]] = {}
_MOST_COUNTED: Final = 256


def _changes(old: str, new: str) -> tuple[int, int]:
    """Counted once, and remembered without the texts: those of 256 edits may be very large."""
    key = hash(old), hash(new)
    if key not in _COUNTED:
        _COUNTED[key] = count_changed_lines(old, new)
        if len(_COUNTED) > _MOST_COUNTED:
            del _COUNTED[next(iter(_COUNTED))]
    return _COUNTED[key]


def _edit(block: ToolUseBlock, look: Look, width: int) -> list[Line]:
    old, new = block.input["old_content"], block.input["new_content"]
    return render_diff(old, new, path_of(block) or "", width, look.palette)


def _running(seconds: int | None) -> str:
    if seconds is None or seconds < 1:
        return "running"
    minutes, seconds = divmod(seconds, 60)
    return f"running for {minutes} min {seconds} s" if minutes else f"running for {seconds} s"


def _so_far(use: ToolUse, look: Look, width: int) -> list[Line]:
    """The end of what it has printed, while it runs."""
    printed = use.block.output_so_far if use.result is None and use.is_running else None
    if not printed or not printed.strip():
        return []
    bar = Segment(f"{look.signs.bar} ", look.palette.border)
    return [[bar, *row] for row in output_rows(printed, width - 2, look.palette.muted)]


def _output(use: ToolUse, look: Look, width: int) -> list[Line]:
    result = use.result
    # That an edit worked is seen in the edit.
    if result is None or not result.content.strip() or (use.is_edit and not result.is_error):
        return []
    style = look.tones.error if result.is_error else look.palette.muted
    bar = Segment(f"{look.signs.bar} ", look.palette.border)
    return [[bar, *row] for row in output_rows(result.content, width - 2, style)]


def _input(block: ToolUseBlock, look: Look, width: int) -> list[Line]:
    text, faint = look.palette.text, look.palette.faint
    rows: list[Line] = []
    for key, value in block.input.items():
        if key == "todos" and isinstance(value, list):
            rows += (_todo(todo, look, width) for todo in value)
            continue
        said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if key in ("command", "cmd"):
            command = " ".join(map(str, value)) if isinstance(value, list) else said
            first, *rest = output_rows(command, width - 2, text)
            rows += [[Segment("$ ", look.tones.accent), *first], *indented(rest, 2)]
        elif "\n" in said or cell_len(key) + cell_len(said) + 2 > width:
            rows.append([Segment(one_line(key, width), faint)])
            rows += indented(output_rows(said, width - 2, text), 2)
        else:
            rows.append([Segment(f"{key}  ", faint), Segment(said, text)])
    return rows


def _todo(todo: Any, look: Look, width: int) -> Line:
    entry = todo if isinstance(todo, dict) else {"content": todo}
    text = Segment(one_line(str(entry.get("content", "")), width - 2), look.palette.muted)
    match entry.get("status"):
        case "completed":
            return [Segment(f"{look.signs.done} ", look.tones.success), text]
        case "in_progress":
            return [Segment(f"{look.signs.closed} ", look.tones.warning), text]
        case _:
            return [Segment(f"{look.signs.choice} ", look.palette.faint), text]
