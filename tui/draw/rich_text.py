"""Rows of cells as something that a `Static` shows."""

from collections.abc import Iterable

from rich.console import Group
from rich.text import Text

from tui.draw.wrap import Line


def to_text(rows: Iterable[Line]) -> Group:
    """The rows, one below the other, in their styles."""
    return Group(*(Text.assemble(*((s.text, s.style or "") for s in row)) for row in rows))
