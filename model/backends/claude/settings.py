"""What Claude Code leaves out of the settings of a person and a project."""

from collections.abc import Iterator
from typing import Final

from model.backends.base import Note
from model.backends.claude.json_values import Line, as_objects

PATIENCE: Final = 3.0
"""Seconds to tell it: the session does not wait longer."""

_LONGEST: Final = 200


def left_out(told: Line) -> Iterator[Note]:
    """The files of which nothing holds: one mistake is enough, and its own screen alone says so."""
    mistakes = {str(each.get("file")): each for each in as_objects(told.get("errors"))}
    for file, mistake in mistakes.items():
        where = f"{mistake['path']}: " if mistake.get("path") else ""
        said = " ".join(f"{where}{mistake.get('message') or ''}".split())[:_LONGEST].rstrip(" .")
        yield Note(
            f"Claude Code leaves out all of {file}, with the rules and hooks in it, for a mistake"
            f" there ({said}). Mend it before you let the agent work."
        )
