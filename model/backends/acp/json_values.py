"""Type-safe access to parts of an ACP agent's messages, which may contain anything."""

from collections.abc import Iterator
from typing import Any

JsonObject = dict[str, Any]


def as_object(value: object) -> JsonObject:
    """The value if it is an object, else `{}`."""
    return value if isinstance(value, dict) else {}


def as_objects(value: object) -> Iterator[JsonObject]:
    """The objects in a list; other items are skipped."""
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item


def as_text(value: object) -> str:
    """The value if it is a string, else an empty string."""
    return value if isinstance(value, str) else ""


def as_count(value: object) -> int | None:
    """The value if it is a non-negative integer, else `None`."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_count else None  # type: ignore[return-value]
