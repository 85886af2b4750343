"""Read the fields that many of GitLab's objects have."""

import re
from collections.abc import Sequence
from typing import Any, Final

from model.domain.hosting import ItemLabel
from model.hosting.fields import get, get_line, get_rows

MAX_BODY: Final = 32_000
"""Characters of a description."""
MAX_COMMENT: Final = 8_000
"""Characters of a comment."""
REPORTER: Final = 20
"""The lowest access level of a member who can review."""
_COLOR: Final = re.compile(r"#[0-9a-fA-F]{6}")


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
