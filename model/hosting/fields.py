"""Read values of any kind from the answers of hosting services and issue trackers.

Each is found by its path of names; what is missing or of another type is empty.
"""

import asyncio
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from model.base.text import make_json_visible

Fields = Mapping[str, Any]


async def read_json(text: str) -> Any:
    """Return the value of a JSON text with all its texts visible; `None` if it is not JSON.

    In a worker thread: four megabytes of hidden characters take seconds.
    """
    return await asyncio.to_thread(_read_json, text)


def _read_json(text: str) -> Any:
    try:
        return make_json_visible(json.loads(text))
    except (ValueError, RecursionError):
        return None


def get(fields: Any, *names: str) -> Any:
    """Return the value at a path of names, or `None`."""
    for name in names:
        fields = fields.get(name) if isinstance(fields, Mapping) else None
    return fields


def get_fields(fields: Any, *names: str) -> Fields:
    """Return an object."""
    found = get(fields, *names)
    return found if isinstance(found, Mapping) else {}


def get_rows(fields: Any, *names: str) -> list[Fields]:
    """Return the objects of a list."""
    found = get(fields, *names)
    return [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else []


def get_nodes(fields: Any, *names: str) -> list[Fields]:
    """Return the objects of a connection."""
    return get_rows(fields, *names, "nodes")


def get_text(fields: Any, *names: str, limit: int = 1000) -> str:
    """Return a text, cut after `limit` characters."""
    found = get(fields, *names)
    return found[:limit] if isinstance(found, str) else ""


def get_body(fields: Any, name: str, limit: int) -> str:
    """Return a text, shortened to `limit` characters with a note."""
    found = get(fields, name)
    if not isinstance(found, str):
        return ""
    rest = len(found) - limit
    return found if rest <= 0 else f"{found[:limit]}\n[… {rest} more characters]"


def get_line(fields: Any, *names: str, limit: int = 500) -> str:
    """Return a text as one line."""
    return " ".join(get_text(fields, *names, limit=limit).split())


def get_number(fields: Any, *names: str) -> int | None:
    """Return an integer, or `None`."""
    found = get(fields, *names)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def get_time(fields: Any, name: str) -> float | None:
    """Return a time in seconds since 1970."""
    found = get(fields, name)
    try:
        moment = datetime.fromisoformat(found) if isinstance(found, str) else None
    except ValueError:
        return None
    # GitHub writes the year 1 for a time that is not known.
    return moment.timestamp() if moment is not None and moment.year > 1970 else None


def get_end_cursor(fields: Any, *names: str) -> str | None:
    """Return where the next page of a connection begins; `None` if this page is the last one."""
    page = get_fields(fields, *names, "pageInfo")
    cursor = page.get("endCursor")
    return cursor if page.get("hasNextPage") and isinstance(cursor, str) else None
