"""Type-safe access to parts of an agent's messages, which may contain anything."""

import math
from typing import Any

Json = dict[str, Any]


def as_object(value: object) -> Json:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_objects(value: object) -> list[Json]:
    """The objects in a list; everything else is skipped."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def as_text(value: object) -> str:
    """The value if it is a string, else an empty string."""
    return value if isinstance(value, str) else ""


def as_number(value: object) -> float | None:
    """The value if it is a finite number, else `None`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
