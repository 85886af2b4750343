"""Notes on what Claude Code's hooks do. The program shows this only on its own screen, so users
would not see it otherwise.
"""

import json
from collections.abc import Mapping
from typing import Final

from model.backends.agent_events import ConversationNote
from model.backends.json_values import Json, as_object

_MAX_LENGTH: Final = 300
"""Maximum characters of a hook's own message."""

_BLOCKED: Final = 2
"""The exit code with which a hook blocks; any other one except zero means that it failed."""

_STOP_EVENTS: Final = ("Stop", "SubagentStop")
"""The events at which blocking makes the agent continue."""

_SHOWN_ELSEWHERE: Final = ("PreToolUse", "UserPromptSubmit")
"""The events whose blocking is shown elsewhere: in the tool's result, or as a note."""


class HookReporter:
    """The hooks of one session. A failing hook is reported once, even if it fails often."""

    def __init__(self) -> None:
        self._failed: set[str] = set()

    def describe_result(self, line: Json) -> ConversationNote | None:
        """The note on a hook that has ended, if the user should see one."""
        event, name = str(line.get("hook_event")), str(line.get("hook_name"))
        output = _parse_output(line.get("stdout"))
        stderr = str(line.get("stderr") or "")
        code = line.get("exit_code")
        if output.get("continue") is False and event != "UserPromptSubmit":
            return _make_note(f"ended the run ({name})", output.get("stopReason"))
        if code == _BLOCKED or output.get("decision") == "block":
            if event in _SHOWN_ELSEWHERE:
                return None
            effect = (
                "made the agent continue"
                if event in _STOP_EVENTS
                else "sent a message to the agent"
            )
            return _make_note(
                f"{effect} ({name})", stderr if code == _BLOCKED else output.get("reason")
            )
        if line.get("outcome") == "error" and name not in self._failed:
            self._failed.add(name)
            return _make_note(f"failed ({name}, exit code {code})", stderr, each_time=False)
        return None


def describe_blocked_message(line: Json) -> ConversationNote | None:
    """The note on a message that a hook kept from the agent, if the line reports that."""
    outcome = as_object(line.get("prompt_submit_outcome"))
    if not str(outcome.get("kind")).endswith("_by_hook"):
        return None
    return _make_note(
        "blocked this message, so the agent did not receive it", outcome.get("reason")
    )


def _parse_output(stdout: object) -> Mapping[str, object]:
    """A hook's output as JSON; most print nothing, or something else."""
    text = str(stdout or "").strip()
    if not text.startswith("{"):
        return {}
    try:
        return as_object(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def _make_note(what: str, reason: object, *, each_time: bool = True) -> ConversationNote:
    line = " ".join(str(reason or "").split())
    shown = line if len(line) <= _MAX_LENGTH else f"{line[: _MAX_LENGTH - 1]}…"
    return ConversationNote(
        f"One of your hooks {what}: {shown}" if shown else f"One of your hooks {what}.", each_time
    )
