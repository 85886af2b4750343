"""Maps Claude Code's four editing tools to the `edit` tool, which every screen shows as a diff."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from model.backends.agent_events import ToolUse
from model.backends.edit_text import SIZE_LIMIT, join_pieces, read_old_content
from model.backends.json_values import as_objects, as_text
from model.backends.worktree_paths import display_path

_INSTRUCTIONS: Final = frozenset({".claude"})
_MEMORIES: Final = frozenset({"memory", "agent-memory"})


class Edits:
    """The edits of one session. `normalize` reads files: call it in a thread."""

    def __init__(self, worktree: Path, plans: Path) -> None:
        self._worktree = worktree
        self._plans = {plans, plans.resolve()}
        self._roots = (worktree, worktree.resolve())
        self._writes: dict[str, ToolUse] = {}

    def normalize(self, use: ToolUse) -> ToolUse:
        """Convert the call of an editing tool to `edit {file_path, old_content, new_content}`."""
        arguments = use.input
        path = str(arguments.get("file_path") or arguments.get("notebook_path") or "")
        match use.name:
            case "Edit":
                old, new = (
                    as_text(arguments.get("old_string")),
                    as_text(arguments.get("new_string")),
                )
            case "MultiEdit":
                edits = as_objects(arguments.get("edits"))
                old = join_pieces([as_text(edit.get("old_string")) for edit in edits])
                new = join_pieces([as_text(edit.get("new_string")) for edit in edits])
            case "NotebookEdit":
                old = self._read_cell(path, str(arguments.get("cell_id", "")))
                new = (
                    ""
                    if arguments.get("edit_mode") == "delete"
                    else as_text(arguments.get("new_source"))
                )
                old = "" if arguments.get("edit_mode") == "insert" else old
            case _:
                new = as_text(arguments.get("content"))
                old = self._read_content(path, new)
        normalized = {
            "file_path": display_path(path, self._worktree),
            "old_content": old,
            "new_content": new,
        }
        edit = replace(use, name="edit", input=normalized)
        if use.name == "Write" and arguments:
            self._writes[use.id] = edit
        return edit

    def correct(self, tool_use_id: str, result: object) -> ToolUse | None:
        """The corrected edit, if its result reports a different old content of the file.

        The file is read when the call arrives; the program may already have written it.
        """
        edit = self._writes.pop(tool_use_id, None)
        if edit is None or not isinstance(result, dict) or "originalFile" not in result:
            return None
        original = str(result["originalFile"] or "")
        assumed = edit.input["old_content"]
        if (
            _drop_carriage_returns(original) == _drop_carriage_returns(assumed)
            or len(original) > SIZE_LIMIT
        ):
            return None
        return replace(edit, input={**edit.input, "old_content": original})

    def forget(self) -> None:
        """Forget pending edits: the turn has ended, no more results follow."""
        self._writes.clear()

    def is_plan(self, arguments: Mapping[str, Any]) -> bool:
        """Whether a call edits the plan file, which the program keeps outside the worktree."""
        path = arguments.get("file_path")
        return isinstance(path, str) and Path(path).parent in self._plans

    def is_memory(self, arguments: Mapping[str, Any]) -> bool:
        """Whether a call edits what the program reads as instructions, here or elsewhere.

        Its folders for that are called `.claude`, and outside the worktree also as in `_MEMORIES`.
        """
        named = str(arguments.get("file_path") or arguments.get("notebook_path") or "")
        path = Path(os.path.normpath(self._worktree / named))
        root = next((root for root in self._roots if path.is_relative_to(root)), None)
        parts = path.relative_to(root).parts if root is not None else path.parts
        names = _INSTRUCTIONS if root is not None else _INSTRUCTIONS | _MEMORIES
        # Some file systems do not distinguish cases.
        return not names.isdisjoint(part.casefold() for part in parts)

    def _read_content(self, path: str, new: str = "") -> str:
        return read_old_content(self._worktree / path, new) if path else ""

    def _read_cell(self, path: str, cell_id: str) -> str:
        try:
            cells = json.loads(self._read_content(path) or "{}").get("cells", ())
            for cell in cells:
                if cell.get("id") == cell_id:
                    source = cell.get("source", "")
                    return source if isinstance(source, str) else "".join(source)
        except (ValueError, AttributeError, TypeError):
            pass
        return ""


def _drop_carriage_returns(text: str) -> str:
    """Drop carriage returns: the program reports files without them, unlike those read here."""
    return text.replace("\r\n", "\n")
