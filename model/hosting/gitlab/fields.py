"""Read fields of GitLab's objects by their paths; what is missing or of another type is empty."""

import re
from collections.abc import Sequence
from typing import Any, Final

from model.base.text import clean_line
from model.domain.hosting import ItemLabel

MAX_BODY: Final = 32_000
"""Characters of a description."""
MAX_COMMENT: Final = 8_000
"""Characters of a comment."""
REPORTER: Final = 20
"""The lowest access level of a member who can review."""
_MAX_LINE: Final = 500
_COLOR: Final = re.compile(r"#[0-9a-fA-F]{6}")


def get(row: Any, *names: str) -> Any:
    """Return the value at a path of names, or `None`."""
    for name in names:
        row = row.get(name) if isinstance(row, dict) else None
    return row


def get_line(row: Any, *names: str) -> str:
    """Return a text as one line of a bounded length."""
    found = get(row, *names)
    return clean_line(found[:_MAX_LINE]) if isinstance(found, str) else ""


def get_text(row: Any, name: str, limit: int) -> str:
    """Return a text, shortened to `limit` characters with a note."""
    found = get(row, name)
    if not isinstance(found, str):
        return ""
    rest = len(found) - limit
    return found if rest <= 0 else f"{found[:limit]}\n[… {rest} more characters]"


def get_number(row: Any, *names: str) -> int:
    """Return an integer, or 0."""
    found = get(row, *names)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def get_rows(row: Any, *names: str) -> list[dict[str, Any]]:
    """Return the objects of a list."""
    found = get(row, *names)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def get_names(row: Any, name: str) -> list[str]:
    """Return the user names of a list of users."""
    return [login for user in get_rows(row, name) if (login := get_line(user, "username"))]


def get_state(row: Any) -> str:
    """Return the state of an item, in the word that GitLab shows."""
    found = get_line(row, "state")
    return "open" if found == "opened" else found


def get_labels(row: Any) -> list[ItemLabel]:
    """Return the labels, with their colors if those were requested."""
    labels: Sequence[Any] = get(row, "labels") or ()
    found = []
    for label in labels if isinstance(labels, list) else ():
        name = get_line({"name": label}, "name") or get_line(label, "name")
        color = get_line(label, "color")
        if name:
            found.append(ItemLabel(name=name, color=color if _COLOR.fullmatch(color) else ""))
    return found
