"""Parts of Claude Code's lines as what they should be; whatever is something else is empty."""

from typing import Any

Line = dict[str, Any]


def as_object(told: object) -> Line:
    """An object, or an empty one."""
    return told if isinstance(told, dict) else {}


def as_objects(told: object) -> list[Line]:
    """The objects of a list; what is none is left out."""
    return [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []
