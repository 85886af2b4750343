"""The scope of 'allow for this session': exactly what was shown, never anything similar."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from model.backends.agent_events import PermissionRequested
from model.domain.modes import ExecutionMode


@dataclass(frozen=True, slots=True)
class SessionPermission:
    """The key under which a permission is remembered for a session.

    A command is identified by its exact text and a call by its exact input, without the agent's
    description. Edits are identified by their files, since no two edits are equal.
    """

    mode: ExecutionMode
    """A permission given in build mode is asked for again in plan mode."""
    directory: str
    tool: str
    target: str

    @classmethod
    def of(
        cls, event: PermissionRequested, mode: ExecutionMode, directory: str
    ) -> "SessionPermission":
        """Return the key of a permission request in this mode and this working directory."""
        if files := list_edited_files(event):
            target: object = files
        else:
            target = {key: value for key, value in event.input.items() if key != "description"}
        text = json.dumps(target, sort_keys=True, default=str)
        return cls(mode, directory, event.tool_name, text)


def describe_session_scope(event: PermissionRequested, mode: ExecutionMode) -> str:
    """Describe what would be allowed for the session, for the user who decides."""
    if files := list_edited_files(event):
        scope = f"every edit of {', '.join(files)}"
    elif isinstance(event.input.get("command"), str):
        scope = "exactly this command"
    else:
        scope = "exactly this call"
    return f"{scope}, in {mode} mode"


def list_edited_files(event: PermissionRequested) -> list[str]:
    """Return the files of an edit; empty for any other tool."""
    if event.tool_name != "edit":
        return []
    change_list = event.input.get("changes")
    changes: list[Any] = change_list if isinstance(change_list, list) else [event.input]
    files = [
        str(each["file_path"])
        for each in changes
        if isinstance(each, Mapping) and each.get("file_path")
    ]
    return sorted(files) if len(files) == len(changes) else []
