"""Read values of any kind from the answers of hosting services and issue trackers."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

Fields = Mapping[str, Any]


def get_fields(fields: Fields, *names: str) -> Fields:
    """Return the object below these names; empty if there is none."""
    found: Any = fields
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def get_nodes(fields: Fields, *names: str) -> list[Fields]:
    """Return the objects of the connection below these names."""
    nodes = get_fields(fields, *names).get("nodes")
    return [node for node in nodes if isinstance(node, Mapping)] if isinstance(nodes, list) else []


def get_text(fields: Fields, name: str, limit: int = 1000) -> str:
    """Return a text, cut after `limit` characters; empty if there is none."""
    found = fields.get(name)
    return found[:limit] if isinstance(found, str) else ""


def get_line(fields: Fields, name: str, limit: int = 300) -> str:
    """Return a text as one line."""
    return " ".join(get_text(fields, name, limit).split())


def get_number(fields: Fields, name: str) -> int | None:
    """Return a number."""
    found = fields.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def get_time(fields: Fields, name: str) -> float | None:
    """Return a time in seconds since 1970."""
    found = fields.get(name)
    try:
        moment = datetime.fromisoformat(found) if isinstance(found, str) else None
    except ValueError:
        return None
    # GitHub writes the year 1 for a time that is not known.
    return moment.timestamp() if moment is not None and moment.year > 1970 else None


def get_end_cursor(fields: Fields, *names: str) -> str | None:
    """Return where the next page of a connection begins; `None` if this page is the last one."""
    page = get_fields(fields, *names, "pageInfo")
    cursor = page.get("endCursor")
    return cursor if page.get("hasNextPage") and isinstance(cursor, str) else None
