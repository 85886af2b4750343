"""Notes on settings files that Claude Code ignores because of errors in them."""

from collections.abc import Iterator
from typing import Final

from model.backends.agent_events import ConversationNote
from model.backends.json_values import Json, as_objects

TIMEOUT: Final = 3.0
"""Seconds to report them; the session does not wait longer."""

_MAX_LENGTH: Final = 200


def describe_ignored_files(payload: Json) -> Iterator[ConversationNote]:
    """A note for each ignored file: one error is enough, and only its own screen shows it."""
    errors = {str(each.get("file")): each for each in as_objects(payload.get("errors"))}
    for file, error in errors.items():
        where = f"{error['path']}: " if error.get("path") else ""
        reason = " ".join(f"{where}{error.get('message') or ''}".split())[:_MAX_LENGTH].rstrip(" .")
        yield ConversationNote(
            f"Claude Code ignores all of {file}, including its rules and hooks, because of an error"
            f" in it ({reason}). Fix it before you let the agent work."
        )
