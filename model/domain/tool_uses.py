"""What the tool uses of a message say: the files it changed, its to-do list, what runs now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from model.base.text import clean_line
from model.domain.messages import Block, Message, ToolResultBlock, ToolUseBlock

StepState = Literal["pending", "running", "done"]

VERBS: Final[Mapping[str, str]] = {
    "agent": "agent", "bash": "run", "command": "run", "edit": "edit", "exec_command": "run",
    "glob": "find", "grep": "search", "list": "list", "ls": "list", "read": "read",
    "shell": "run", "task": "agent", "todowrite": "todo", "update_plan": "todo",
    "webfetch": "fetch", "websearch": "search web", "write": "write",
}  # fmt: skip
"""The verb shown for each tool, by the agents' names for it in lower case."""

_DETAILS: Final = (
    "command", "cmd", "file_path", "filePath", "notebook_path", "pattern", "query", "url",
    "description", "title", "path", "skill", "prompt",
)  # fmt: skip
_MAX_DETAIL: Final = 200
_MAX_STEPS: Final = 200
_STATES: Final[Mapping[Any, StepState]] = {"completed": "done", "in_progress": "running"}


@dataclass(frozen=True, slots=True)
class Edit:
    """A finished edit of a file."""

    path: str
    """Relative to the worktree if it lies in it."""
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a to-do list."""

    text: str
    state: StepState


@dataclass(frozen=True, slots=True)
class Activity:
    """What an agent does at the moment."""

    verb: str
    """Such as `run` or `thinking`."""
    detail: str = ""
    """The command, file or pattern; one line of at most 200 characters."""
    seconds: int | None = None
    """How long it has been running, once that was reported."""


def list_edits(blocks: Sequence[Block]) -> list[Edit]:
    """The edits of a message that did not fail, in order."""
    finished = {
        block.tool_use_id
        for block in blocks
        if isinstance(block, ToolResultBlock) and not block.is_error
    }
    return [
        Edit(path, old, new)
        for block in blocks
        if isinstance(block, ToolUseBlock) and block.name == "edit" and block.id in finished
        for path, old, new in [_edit_fields(block.input)]
        if path
    ]


def read_todo_list(blocks: Sequence[Block]) -> list[Step]:
    """The newest to-do list of a message; empty if it has none."""
    uses = (block for block in reversed(blocks) if isinstance(block, ToolUseBlock))
    lists = (read_steps(block.name, block.input) for block in uses)
    return next((steps for steps in lists if steps is not None), [])


def read_steps(tool: str, given: Mapping[str, Any]) -> list[Step] | None:
    """The to-do list that a tool is given; `None` for any other tool."""
    if VERBS.get(tool.lower()) != "todo":
        return None
    todos = given.get("todos")
    return [_step(todo) for todo in todos[:_MAX_STEPS]] if isinstance(todos, list) else []


def find_activity(message: Message) -> Activity | None:
    """What an unfinished message is doing: its newest tool that runs, or `thinking`, `writing`."""
    if message.role != "assistant" or message.status != "processing":
        return None
    finished = {b.tool_use_id for b in message.content if isinstance(b, ToolResultBlock)}
    for block in reversed(message.content):
        if isinstance(block, ToolUseBlock) and block.id not in finished:
            return Activity(get_verb(block), summarize_input(block), block.running_for)
    last = message.content[-1].type if message.content else ""
    return Activity({"text": "writing"}.get(last, "thinking"))


def get_verb(block: ToolUseBlock) -> str:
    """The verb for a tool, or its name if there is none. MCP tools are `mcp__server__tool`."""
    name = block.name
    return VERBS.get(name.lower()) or clean_line(" ".join(name.removeprefix("mcp__").split("__")))


def summarize_input(block: ToolUseBlock) -> str:
    """The field of a tool's input that says most, in one line."""
    for name in _DETAILS:
        if value := block.input.get(name):
            parts = value if isinstance(value, list) else [value]
            return clean_line(" ".join(str(part)[:_MAX_DETAIL] for part in parts[:9]))[:_MAX_DETAIL]
    return ""


def _edit_fields(given: Mapping[str, Any]) -> tuple[str, str, str]:
    fields = [given.get(name) for name in ("file_path", "old_content", "new_content")]
    path, old, new = (field if isinstance(field, str) else "" for field in fields)
    return path, old, new


def _step(todo: Any) -> Step:
    entry = todo if isinstance(todo, dict) else {"content": todo}
    text = clean_line(str(entry.get("content", "")))
    return Step(text, _STATES.get(str(entry.get("status")), "pending"))
