"""What “allow for this session” covers: exactly what was shown, never what merely resembles it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from model.backends.base import PermissionAsked
from model.domain.resources import ExecutionMode


@dataclass(frozen=True, slots=True)
class SessionPermission:
    """The key under which a permission is remembered for a session.

    A command counts by its exact text and a call by its exact input, without the words in which
    the agent describes it. Edits count by their files: no two edits are equal.
    """

    mode: ExecutionMode
    """What was allowed in build mode is asked for again in plan mode."""
    directory: str
    tool: str
    target: str

    @classmethod
    def of(cls, asked: PermissionAsked, mode: ExecutionMode, directory: str) -> "SessionPermission":
        """The key of what is asked in this mode, where it would run in this directory."""
        if files := _edited_files(asked):
            target: object = files
        else:
            target = {key: value for key, value in asked.input.items() if key != "description"}
        text = json.dumps(target, sort_keys=True, default=str)
        return cls(mode, directory, asked.tool_name, text)


def session_scope(asked: PermissionAsked, mode: ExecutionMode) -> str:
    """What would be allowed for the session, for the person who decides."""
    if files := _edited_files(asked):
        what = f"every edit of {', '.join(files)}"
    elif isinstance(asked.input.get("command"), str):
        what = "exactly this command"
    else:
        what = "exactly this call"
    return f"{what}, in {mode} mode"


def _edited_files(asked: PermissionAsked) -> list[str]:
    """The files of an edit; empty for everything else."""
    if asked.tool_name != "edit":
        return []
    listed = asked.input.get("changes")
    changes: list[Any] = listed if isinstance(listed, list) else [asked.input]
    files = [
        str(each["file_path"])
        for each in changes
        if isinstance(each, Mapping) and each.get("file_path")
    ]
    return sorted(files) if len(files) == len(changes) else []
