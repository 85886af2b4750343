"""Converts OpenCode's editing tools to the common `edit` tool that screens show as a diff."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from model.backends.agent_events import ToolResult, ToolUse
from model.backends.edit_text import join_pieces, read_old_content
from model.backends.json_values import as_objects, as_text
from model.backends.worktree_paths import display_path

EDIT_TOOLS: Final = frozenset({"edit", "write", "apply_patch", "patch", "multiedit"})

_PATCH_FILE: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$")


class Edits:
    """The edits of one session. Reads files: call it in a thread."""

    def __init__(self, worktree: Path) -> None:
        self._worktree = worktree
        self._patches: dict[str, list[str]] = {}

    def normalize(self, use: ToolUse) -> list[ToolUse]:
        """Convert a call of an editing tool to `edit {file_path, old_content, new_content}`.

        A patch of several files becomes as many edits; the first has the call's own id.
        """
        fields = use.input
        if not fields:
            return [replace(use, name="edit", input=_edit("", "", ""))]
        if use.name in ("apply_patch", "patch"):
            return self._split_patch(use, as_text(fields.get("patchText")))
        path = as_text(fields.get("filePath"))
        if use.name == "write":
            new = as_text(fields.get("content"))
            old = read_old_content(self._worktree / path, new) if path else ""
        elif isinstance(fields.get("edits"), list):
            edits = as_objects(fields["edits"])
            old = join_pieces([as_text(edit.get("oldString")) for edit in edits])
            new = join_pieces([as_text(edit.get("newString")) for edit in edits])
        else:
            old, new = as_text(fields.get("oldString")), as_text(fields.get("newString"))
        return [
            replace(use, name="edit", input=_edit(display_path(path, self._worktree), old, new))
        ]

    def results(self, result: ToolResult) -> list[ToolResult]:
        """The result for each of the edits that a call was converted to."""
        others = self._patches.pop(result.tool_use_id, [])
        return [result, *(replace(result, tool_use_id=other) for other in others)]

    def from_request(self, metadata: Mapping[str, Any]) -> dict[str, str]:
        """The edit in a permission request, which contains a unified diff."""
        _, _, hunks = as_text(metadata.get("diff")).partition("\n@@")
        old, new = _sides(hunks.split("\n")[1:])
        return _edit(display_path(as_text(metadata.get("filepath")), self._worktree), old, new)

    def _split_patch(self, use: ToolUse, patch: str) -> list[ToolUse]:
        edits: list[ToolUse] = []
        for number, (path, lines) in enumerate(_files(patch)):
            key = use.id if number == 0 else f"{use.id}:{number}"
            fields = _edit(display_path(path, self._worktree), *_sides(lines))
            edits.append(replace(use, id=key, name="edit", input=fields))
        if not edits:
            return [replace(use, name="edit", input=_edit("", "", patch))]
        self._patches[use.id] = [edit.id for edit in edits[1:]]
        return edits


def _edit(path: str, old: str, new: str) -> dict[str, str]:
    return {"file_path": path, "old_content": old, "new_content": new}


def _files(patch: str) -> Iterator[tuple[str, list[str]]]:
    """The files of a patch in OpenAI's format, with their lines."""
    path, lines = "", list[str]()
    for line in patch.split("\n"):
        if match := _PATCH_FILE.match(line):
            if path:
                yield path, lines
            path, lines = match[1].strip(), []
        elif not line.startswith("*** "):
            lines.append(line)
    if path:
        yield path, lines


def _sides(lines: list[str]) -> tuple[str, str]:
    """The old and the new text in the lines of a diff."""
    hunks = [line for line in lines if line[:1] in ("+", "-", " ")]
    old = [line[1:] for line in hunks if line[0] != "+"]
    new = [line[1:] for line in hunks if line[0] != "-"]
    return "\n".join(old), "\n".join(new)
