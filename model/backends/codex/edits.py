"""Converts Codex's patches to `edit` calls, one per file, which every screen shows as diffs."""

import re
from collections.abc import Iterator
from pathlib import Path

from model.backends.agent_events import ToolUse
from model.backends.json_values import Json, as_object, as_objects
from model.backends.worktree_paths import display_path


def parse_edits(item: Json, worktree: Path, parent: str | None) -> Iterator[ToolUse]:
    """Convert a `fileChange` to `edit {file_path, old_content, new_content}` calls.

    The first one keeps the id of the item.
    """
    for number, change in enumerate(as_objects(item.get("changes"))):
        key = str(item.get("id")) if number == 0 else f"{item.get('id')}#{number + 1}"
        yield ToolUse(key, "edit", _to_edit(change, worktree), parent)


def _to_edit(change: Json, worktree: Path) -> Json:
    kind = as_object(change.get("kind"))
    diff = str(change.get("diff") or "")
    path = display_path(str(change.get("path") or ""), worktree)
    match kind.get("type"):
        case "add":
            return {"file_path": path, "old_content": "", "new_content": diff}
        case "delete":
            return {"file_path": path, "old_content": diff, "new_content": ""}
    old, new = _split_sides(diff)
    edit: Json = {"file_path": path, "old_content": old, "new_content": new}
    if moved := kind.get("move_path"):
        edit["moved_to"] = display_path(str(moved), worktree)
    return edit


def _split_sides(diff: str) -> tuple[str, str]:
    """The old and new side of the hunks, each with the context lines."""
    old: list[str] = []
    new: list[str] = []
    for line in re.findall(r"[^\n]*\n|[^\n]+", diff):
        match line[0]:
            case "-":
                old.append(line[1:])
            case "+":
                new.append(line[1:])
            case " ":
                old.append(line[1:])
                new.append(line[1:])
            case "@" if old or new:
                # A gap between two hunks.
                old.append(gap := "…\r\n" if (old or new)[-1].endswith("\r\n") else "…\n")
                new.append(gap)
    return "".join(old), "".join(new)
