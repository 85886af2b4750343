"""Coercions for values in Claude Code's JSON lines; a value of another type becomes empty."""

from typing import Any

JsonObject = dict[str, Any]


def as_object(value: object) -> JsonObject:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_objects(value: object) -> list[JsonObject]:
    """The objects in a list; everything else is skipped."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
