"""Parts of what an ACP agent said, each of the type that it should have, whatever was said."""

from collections.abc import Iterator
from typing import Any

Told = dict[str, Any]


def as_object(value: object) -> Told:
    """The object, `{}` where there is none."""
    return value if isinstance(value, dict) else {}


def as_objects(value: object) -> Iterator[Told]:
    """The objects of a list; what else is in it is left out."""
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item


def as_text(value: object) -> str:
    """The text, empty where there is none."""
    return value if isinstance(value, str) else ""


def as_count(value: object) -> int | None:
    """The whole number from 0 on, `None` where there is none."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_count else None  # type: ignore[return-value]
