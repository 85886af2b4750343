"""The help: every key and mark, made from the tables that also bind and draw them.

The page on the terminal has its keys from `areas`, too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from textual.content import Content

from tui.draw.status_icons import MEANINGS
from tui.keys.keymap import ACTIONS, Where, keys_of
from tui.keys.names import all_shown, shown, spoken
from tui.keys.pane_keys import (
    CANVAS_KEYS,
    COMPOSER_KEYS,
    DIFF_KEYS,
    REQUEST_KEYS,
    TRANSCRIPT_KEYS,
    TREE_KEYS,
)
from tui.screens.dialog import Report
from tui.widgets.session_tabs import ROLE_COLORS

if TYPE_CHECKING:
    from textual.widget import Widget

Part = str | tuple[str, str]
Row = tuple[str, str]
KEYS_WIDTH = 16
WORDS_WIDTH = 56
GIT_MARKS = (
    ("+12 −3", "lines that are not committed"),
    ("↑2 ↓1", "commits that are not pushed, and not pulled"),
    ("PR 12 ✓", "pull request; its checks passed (✓), failed (✗) or run (…)"),
)


@dataclass(frozen=True, slots=True)
class Area:
    """A part of the screen with keys of its own."""

    title: str
    where: Where | None
    """Where the actions of the key map are bound that belong to it."""
    own: Sequence[Row] = ()
    """Keys that are not in the key map."""
    widgets: tuple[str, ...] = ()
    """The ids of the widgets that have the focus there."""


AREAS = (
    Area("Everywhere", "everywhere"),
    Area("Message box", None, COMPOSER_KEYS, ("composer",)),
    Area("Plan, permission or question", None, REQUEST_KEYS, ("request",)),
    Area("Conversation", None, TRANSCRIPT_KEYS, ("transcript",)),
    Area("Projects", "projects", TREE_KEYS, ("tree",)),
    Area("All sessions", "canvas", CANVAS_KEYS, ("canvas",)),
    Area("Changes (diff)", "diff", DIFF_KEYS, ("files", "diff")),
)


def areas(overrides: Mapping[str, str]) -> Iterator[tuple[Area, list[Row]]]:
    """Each area with its keys as they are here, and what they do."""
    for area in AREAS:
        yield area, [*area.own, *_actions(area.where, overrides)]


def help_page(
    overrides: Mapping[str, str], columns: int, focused: "Widget | None" = None
) -> Report:
    """The page for a screen of so many columns; the keys of what has the focus come first."""
    # The frame, its padding and the scroll bar take ten, and the box leaves a sixteenth free.
    width = max(20, min(WORDS_WIDTH, columns * 15 // 16 - KEYS_WIDTH - 2 - 10))
    here = focused.id if focused is not None else None
    parts: list[Part] = []
    for area, rows in sorted(areas(overrides), key=lambda found: not _is_at(found[0], here)):
        title = f"{area.title}, where you are" if _is_at(area, here) else area.title
        parts += _table(title, rows, width)
    parts.append(("Marks\n", "bold $accent"))
    for mark, meaning in MEANINGS:
        parts += [(f"{mark.sign:>{KEYS_WIDTH}}  ", ROLE_COLORS[mark]), f"{meaning}\n"]
    parts += _rows(GIT_MARKS, width)
    commands = shown(keys_of("commands", overrides))
    parts += [
        ("\nEverything else", "bold $accent"),
        f" is in the command palette ({commands}). Hold shift to select text with the mouse.\n",
        "To give an action another key, press k here.",
    ]
    return Report("Help", Content.assemble(*parts), ("↑ ↓", "scroll"), ("k", "change keys"))


def _is_at(area: Area, widget: str | None) -> bool:
    return widget in area.widgets


def _actions(where: Where | None, overrides: Mapping[str, str]) -> Iterator[Row]:
    for action in ACTIONS:
        if action.where == where and (keys := keys_of(action.id, overrides)):
            yield all_shown(keys), f"{action.title}{'. ' + action.help if action.help else ''}"


def _table(title: str, rows: Iterable[Row], width: int) -> list[Part]:
    return [(f"{title}\n", "bold $accent"), *_rows(rows, width), "\n"]


def _rows(rows: Iterable[Row], width: int) -> list[Part]:
    parts: list[Part] = []
    for keys, words in rows:
        first, *rest = wrap(spoken(words), width)
        parts += [(f"{spoken(keys):>{KEYS_WIDTH}}  ", "bold"), f"{first}\n"]
        parts += [f"{'':{KEYS_WIDTH}}  {line}\n" for line in rest]
    return parts
