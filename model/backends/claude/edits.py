"""Claude Code's four editing tools as the one `edit` that every screen shows as a diff."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from model.backends.base import ToolUse
from model.backends.edit_text import SIZE_LIMIT, content_before, pieces


class Edits:
    """The edits of one session. `normalised` reads files: call it in a thread."""

    def __init__(self, worktree: Path, plans: Path) -> None:
        self._worktree = worktree
        self._plans = {plans, plans.resolve()}
        self._written: dict[str, ToolUse] = {}

    def normalised(self, use: ToolUse) -> ToolUse:
        """The call of an editing tool as `edit {file_path, old_content, new_content}`."""
        told = use.input
        path = str(told.get("file_path") or told.get("notebook_path") or "")
        match use.name:
            case "Edit":
                old, new = _text(told, "old_string"), _text(told, "new_string")
            case "MultiEdit":
                edits = [edit for edit in told.get("edits", ()) if isinstance(edit, dict)]
                old = pieces([_text(edit, "old_string") for edit in edits])
                new = pieces([_text(edit, "new_string") for edit in edits])
            case "NotebookEdit":
                old = self._cell(path, str(told.get("cell_id", "")))
                new = "" if told.get("edit_mode") == "delete" else _text(told, "new_source")
                old = "" if told.get("edit_mode") == "insert" else old
            case _:
                new = _text(told, "content")
                old = self._content(path, new)
        shown = {"file_path": self._shown(path), "old_content": old, "new_content": new}
        edit = replace(use, name="edit", input=shown)
        if use.name == "Write" and told:
            self._written[use.id] = edit
        return edit

    def corrected(self, tool_use_id: str, result: object) -> ToolUse | None:
        """The edit again, when its result tells that the file held something else before.

        The file is read when the call arrives, and the program may have been quicker.
        """
        edit = self._written.pop(tool_use_id, None)
        if edit is None or not isinstance(result, dict) or "originalFile" not in result:
            return None
        before = str(result["originalFile"] or "")
        read = edit.input["old_content"]
        if _unix(before) == _unix(read) or len(before) > SIZE_LIMIT:
            return None
        return replace(edit, input={**edit.input, "old_content": before})

    def forget(self) -> None:
        """The turn is over; no result comes any more."""
        self._written.clear()

    def is_plan(self, told: Mapping[str, Any]) -> bool:
        """Whether a call edits the plan that the program keeps as a file outside the worktree."""
        path = told.get("file_path")
        return isinstance(path, str) and Path(path).parent in self._plans

    def _shown(self, path: str) -> str:
        """Inside the worktree without its path, as people speak of files."""
        try:
            return str(Path(path).relative_to(self._worktree)) if path else ""
        except ValueError:
            return path

    def _content(self, path: str, new: str = "") -> str:
        return content_before(self._worktree / path, new) if path else ""

    def _cell(self, path: str, cell_id: str) -> str:
        try:
            cells = json.loads(self._content(path) or "{}").get("cells", ())
            for cell in cells:
                if cell.get("id") == cell_id:
                    source = cell.get("source", "")
                    return source if isinstance(source, str) else "".join(source)
        except (ValueError, AttributeError, TypeError):
            pass
        return ""


def _unix(text: str) -> str:
    """The program tells a file's lines without their returns; it was read with them."""
    return text.replace("\r\n", "\n")


def _text(told: Mapping[str, Any], key: str) -> str:
    value = told.get(key)
    return value if isinstance(value, str) else ""
