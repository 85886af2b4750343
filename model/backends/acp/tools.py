"""Assembles the tool calls of an ACP agent from its incremental updates."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from model.backends.agent_events import ToolOutput, ToolResult, ToolUse
from model.backends.json_values import Json, as_object, as_objects, as_text
from model.backends.worktree_paths import display_path

_NAMES: Final[Mapping[str, str]] = {
    "read": "read", "edit": "write", "delete": "delete", "move": "move", "search": "grep",
    "execute": "bash", "fetch": "webfetch", "think": "think",
}  # fmt: skip
"""Tool names by kind; an edit with a diff is an `edit`."""


@dataclass(slots=True)
class ToolCall:
    """The known state of a tool call."""

    id: str
    title: str = ""
    name: str = ""
    kind: str = "other"
    status: str = "pending"
    input: Json = field(default_factory=dict)
    output: object = None
    content: list[Json] = field(default_factory=list)
    diffs: list[Json] = field(default_factory=list)
    """The file changes that it contains."""
    paths: tuple[str, ...] = ()
    printed: str = ""
    """The part of its output that was emitted while it runs."""
    emitted: dict[str, ToolUse | ToolResult] = field(default_factory=dict)

    def update(self, fields: Json) -> None:
        """Apply an update; missing fields are left unchanged."""
        self.title = as_text(fields.get("title")) or self.title
        # The first title of a tool without a kind is usually its name, a later one a sentence.
        self.name = self.name or self.title
        self.kind = as_text(fields.get("kind")) or self.kind
        self.status = as_text(fields.get("status")) or self.status
        self.input = as_object(fields.get("rawInput")) or self.input
        self.output = fields.get("rawOutput", self.output)
        if isinstance(fields.get("content"), list):
            self.content = list(as_objects(fields["content"]))
            # Some agents send a diff with the permission request only (OpenCode 1.18).
            diffs = [part for part in self.content if part.get("type") == "diff"]
            self.diffs = [diff for diff in diffs if as_text(diff.get("path"))] or self.diffs
        if isinstance(fields.get("locations"), list):
            paths = (as_text(each.get("path")) for each in as_objects(fields["locations"]))
            self.paths = tuple(path for path in paths if path)

    @property
    def affected_files(self) -> tuple[str, ...]:
        """The files that it reads or changes."""
        return (*self.paths, *(as_text(diff["path"]) for diff in self.diffs))

    @property
    def text(self) -> str:
        """The texts of its content: a result, or a plan."""
        blocks = (as_object(part.get("content")) for part in self.content)
        return "\n".join(text for text in map(content_text, blocks) if text)

    def result(self) -> str:
        """Its result as text."""
        match self.output:
            case _ if self.text or self.diffs:
                return self.text
            case None:
                return ""
            case str() as text:
                return text
            case dict() as fields if isinstance(fields.get("output"), str):
                return str(fields["output"])
            case fields:
                return json.dumps(fields, ensure_ascii=False)


class ToolCalls:
    """The calls of a turn by id."""

    def __init__(self, worktree: Path) -> None:
        self._worktree = worktree
        self._calls: dict[str, ToolCall] = {}

    def clear(self) -> None:
        """Remove all calls, when a new turn begins."""
        self._calls.clear()

    def update(self, fields: Json) -> ToolCall:
        """Apply an update to its call, and return the call."""
        key = as_text(fields.get("toolCallId"))
        call = self._calls.setdefault(key, ToolCall(key))
        call.update(fields)
        return call

    def events(self, call: ToolCall) -> Iterator[ToolUse | ToolOutput | ToolResult]:
        """Yield the call's events that have not been emitted yet."""
        uses = self.uses(call)
        for use in uses:
            if call.emitted.get(use.id) != use:
                call.emitted[use.id] = use
                yield use
        printed = call.result() if call.status == "in_progress" else ""
        if printed and printed != call.printed:
            call.printed = printed
            yield ToolOutput(uses[0].id, printed, is_whole=True)
        if call.status in ("completed", "failed"):
            for use in uses:
                content = call.result() if use is uses[0] else ""
                result = ToolResult(use.id, content, is_error=call.status == "failed")
                if call.emitted.get(f"result of {use.id}") != result:
                    call.emitted[f"result of {use.id}"] = result
                    yield result

    def uses(self, call: ToolCall) -> list[ToolUse]:
        """The call as it is shown: as one tool use, or as an edit for each changed file."""
        return [self._edit(call, *diff) for diff in enumerate(call.diffs)] or [self._other(call)]

    def _edit(self, call: ToolCall, number: int, diff: Json) -> ToolUse:
        fields = {
            "file_path": display_path(as_text(diff["path"]), self._worktree),
            "old_content": as_text(diff.get("oldText")),
            "new_content": as_text(diff.get("newText")),
        }
        return ToolUse(f"{call.id}#{number}" if number else call.id, "edit", fields)

    def _other(self, call: ToolCall) -> ToolUse:
        fields: dict[str, Any] = dict(call.input)
        if call.title and call.title != call.name:
            fields.setdefault("description", call.title)
        elif not fields and call.kind in _NAMES:
            fields["description"] = call.title
        if len(call.paths) == 1 and call.kind in ("read", "edit", "delete", "move"):
            fields.setdefault("file_path", display_path(call.paths[0], self._worktree))
        return ToolUse(call.id, _NAMES.get(call.kind) or call.name or "tool", fields)


def content_text(block: Json) -> str:
    """The text of a content block; for other types, their URI or type."""
    match block.get("type"):
        case "text":
            return as_text(block.get("text"))
        case "resource_link":
            return as_text(block.get("uri"))
        case "resource":
            resource = as_object(block.get("resource"))
            return as_text(resource.get("text")) or as_text(resource.get("uri"))
        case "image" | "audio":
            return f"({block['type']})"
        case _:
            return ""
