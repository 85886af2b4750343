"""What the hooks of Claude Code say and do that a person would else not see: in its own screen the
program shows it.
"""

import json
from collections.abc import Mapping
from typing import Final

from model.backends.base import Note
from model.backends.claude.json_values import Line, as_object

_LONGEST: Final = 300
"""Characters of a hook's own words."""

_BLOCKS: Final = 2
"""The exit code with which a hook says no; with any other one but zero it has failed."""

_GOES_ON: Final = ("Stop", "SubagentStop")
"""The events at which a no means that the agent goes on."""

_SHOWN: Final = ("PreToolUse", "UserPromptSubmit")
"""The events whose no stands elsewhere: as the tool's result, and as the word about the message."""


class Hooks:
    """Those of one session. What fails is told once, though it fails with every tool."""

    def __init__(self) -> None:
        self._failed: set[str] = set()

    def note(self, line: Line) -> Note | None:
        """What a person should know of a hook that has ended."""
        event, name = str(line.get("hook_event")), str(line.get("hook_name"))
        said = _answer(line.get("stdout"))
        stderr = str(line.get("stderr") or "")
        code = line.get("exit_code")
        if said.get("continue") is False and event != "UserPromptSubmit":
            return _told(f"ended the run ({name})", said.get("stopReason"))
        if code == _BLOCKS or said.get("decision") == "block":
            if event in _SHOWN:
                return None
            does = "let the agent go on" if event in _GOES_ON else "spoke to the agent"
            return _told(f"{does} ({name})", stderr if code == _BLOCKS else said.get("reason"))
        if line.get("outcome") == "error" and name not in self._failed:
            self._failed.add(name)
            return _told(f"failed ({name}, exit code {code})", stderr, each_time=False)
        return None


def held_back(line: Line) -> Note | None:
    """That a hook kept a message from the agent, where the line tells it."""
    outcome = as_object(line.get("prompt_submit_outcome"))
    if not str(outcome.get("kind")).endswith("_by_hook"):
        return None
    return _told("held this message back, so the agent did not answer it", outcome.get("reason"))


def _answer(stdout: object) -> Mapping[str, object]:
    """What a hook answers as JSON; most say nothing, or something else."""
    text = str(stdout or "").strip()
    if not text.startswith("{"):
        return {}
    try:
        return as_object(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def _told(what: str, words: object, *, each_time: bool = True) -> Note:
    line = " ".join(str(words or "").split())
    shown = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    return Note(
        f"A hook of yours {what}: {shown}" if shown else f"A hook of yours {what}.", each_time
    )
