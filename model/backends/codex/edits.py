"""Codex's patches as the `edit` that every screen shows as a diff, one for each file."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from model.backends.base import ToolUse

Json = dict[str, Any]


def edits(item: Json, worktree: Path, parent: str | None) -> Iterator[ToolUse]:
    """A `fileChange` as `edit {file_path, old_content, new_content}`; the first has its id."""
    told = item.get("changes")
    changes = [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []
    for number, change in enumerate(changes):
        key = str(item.get("id")) if number == 0 else f"{item.get('id')}#{number + 1}"
        yield ToolUse(key, "edit", _edit(change, worktree), parent)


def _edit(change: Json, worktree: Path) -> Json:
    told = change.get("kind")
    kind: Json = told if isinstance(told, dict) else {}
    diff = str(change.get("diff") or "")
    path = shown(str(change.get("path") or ""), worktree)
    match kind.get("type"):
        case "add":
            return {"file_path": path, "old_content": "", "new_content": diff}
        case "delete":
            return {"file_path": path, "old_content": diff, "new_content": ""}
    old, new = _sides(diff)
    edit: Json = {"file_path": path, "old_content": old, "new_content": new}
    if moved := kind.get("move_path"):
        edit["moved_to"] = shown(str(moved), worktree)
    return edit


def _sides(diff: str) -> tuple[str, str]:
    """What the hunks take away and what they put there, each with the lines around."""
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
                # Between two pieces of a file.
                old.append(gap := "…\r\n" if (old or new)[-1].endswith("\r\n") else "…\n")
                new.append(gap)
    return "".join(old), "".join(new)


def shown(path: str, worktree: Path) -> str:
    """Inside the worktree without its path, as people speak of files."""
    try:
        return str(Path(path).relative_to(worktree)) if path else ""
    except ValueError:
        return path
