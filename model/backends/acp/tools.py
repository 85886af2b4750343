"""The tool calls of an ACP agent, put together from the pieces in which they are told."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from model.backends.acp.json_values import Told, as_object, as_objects, as_text
from model.backends.base import ToolOutput, ToolResult, ToolUse

_NAMES: Final[Mapping[str, str]] = {
    "read": "read", "edit": "write", "delete": "delete", "move": "move", "search": "grep",
    "execute": "bash", "fetch": "webfetch", "think": "think",
}  # fmt: skip
"""By kind; an edit with its diff is an `edit`."""


@dataclass(slots=True)
class ToolCall:
    """What is known of one call."""

    id: str
    title: str = ""
    name: str = ""
    kind: str = "other"
    status: str = "pending"
    input: Told = field(default_factory=dict)
    output: object = None
    content: list[Told] = field(default_factory=list)
    diffs: list[Told] = field(default_factory=list)
    """The changes of files that it tells."""
    paths: tuple[str, ...] = ()
    printed: str = ""
    """What was told of its output while it runs."""
    told: dict[str, ToolUse | ToolResult] = field(default_factory=dict)

    def learn(self, told: Told) -> None:
        """Take in a piece; what it does not name stays as it was."""
        self.title = as_text(told.get("title")) or self.title
        # The first title of a tool without a kind is mostly its name, a later one a sentence.
        self.name = self.name or self.title
        self.kind = as_text(told.get("kind")) or self.kind
        self.status = as_text(told.get("status")) or self.status
        self.input = as_object(told.get("rawInput")) or self.input
        self.output = told.get("rawOutput", self.output)
        if isinstance(told.get("content"), list):
            self.content = list(as_objects(told["content"]))
            # Some tell a diff with their question and leave it out of the result (OpenCode 1.18).
            diffs = [part for part in self.content if part.get("type") == "diff"]
            self.diffs = [diff for diff in diffs if as_text(diff.get("path"))] or self.diffs
        if isinstance(told.get("locations"), list):
            places = (as_text(place.get("path")) for place in as_objects(told["locations"]))
            self.paths = tuple(path for path in places if path)

    @property
    def touched(self) -> tuple[str, ...]:
        """The files that it concerns."""
        return (*self.paths, *(as_text(diff["path"]) for diff in self.diffs))

    @property
    def text(self) -> str:
        """The texts of its content: a result, or a plan."""
        blocks = (as_object(part.get("content")) for part in self.content)
        return "\n".join(text for text in map(text_of, blocks) if text)

    def result(self) -> str:
        """What it gave, as text."""
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
    """The calls of one turn by their ids."""

    def __init__(self, worktree: Path) -> None:
        self._worktree = worktree
        self._calls: dict[str, ToolCall] = {}

    def forget(self) -> None:
        """A new turn begins."""
        self._calls.clear()

    def learn(self, told: Told) -> ToolCall:
        """The call that `told` is a piece of, with that piece."""
        key = as_text(told.get("toolCallId"))
        call = self._calls.setdefault(key, ToolCall(key))
        call.learn(told)
        return call

    def events(self, call: ToolCall) -> Iterator[ToolUse | ToolOutput | ToolResult]:
        """What is new about the call since it was told last."""
        uses = self.uses(call)
        for use in uses:
            if call.told.get(use.id) != use:
                call.told[use.id] = use
                yield use
        printed = call.result() if call.status == "in_progress" else ""
        if printed and printed != call.printed:
            call.printed = printed
            yield ToolOutput(uses[0].id, printed, is_whole=True)
        if call.status in ("completed", "failed"):
            for use in uses:
                content = call.result() if use is uses[0] else ""
                result = ToolResult(use.id, content, is_error=call.status == "failed")
                if call.told.get(f"result of {use.id}") != result:
                    call.told[f"result of {use.id}"] = result
                    yield result

    def uses(self, call: ToolCall) -> list[ToolUse]:
        """The call as people see it: as one, or as an edit for each file that it changes."""
        return [self._edit(call, *diff) for diff in enumerate(call.diffs)] or [self._plain(call)]

    def _edit(self, call: ToolCall, number: int, diff: Told) -> ToolUse:
        told = {
            "file_path": self._shown(as_text(diff["path"])),
            "old_content": as_text(diff.get("oldText")),
            "new_content": as_text(diff.get("newText")),
        }
        return ToolUse(f"{call.id}#{number}" if number else call.id, "edit", told)

    def _plain(self, call: ToolCall) -> ToolUse:
        told: dict[str, Any] = dict(call.input)
        if call.title and call.title != call.name:
            told.setdefault("description", call.title)
        elif not told and call.kind in _NAMES:
            told["description"] = call.title
        if len(call.paths) == 1 and call.kind in ("read", "edit", "delete", "move"):
            told.setdefault("file_path", self._shown(call.paths[0]))
        return ToolUse(call.id, _NAMES.get(call.kind) or call.name or "tool", told)

    def _shown(self, path: str) -> str:
        """Inside the worktree without its path, as people speak of files."""
        try:
            return str(Path(path).relative_to(self._worktree))
        except ValueError:
            return path


def text_of(block: Told) -> str:
    """A block of content as text; of what is no text, where it is."""
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
