"""The help page: every key and mark, generated from the tables that bind and draw them.

The documentation of the terminal takes its keys from `areas`, too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from textual.content import Content

from tui.draw.status_icons import LEGEND
from tui.keys.action import Scope
from tui.keys.keymap import ACTIONS
from tui.keys.names import format_key, format_keys, spell_out
from tui.keys.overrides import get_keys
from tui.keys.pane_keys import (
    CANVAS_KEYS,
    COMPOSER_KEYS,
    DIFF_KEYS,
    LANDING_KEYS,
    LOG_KEYS,
    MAIN_KEYS,
    PULL_REQUEST_KEYS,
    REQUEST_KEYS,
    SWEEP_KEYS,
    TRANSCRIPT_KEYS,
    TREE_KEYS,
    WORK_KEYS,
)
from tui.screens.dialog import Report
from tui.widgets.session_tabs import ROLE_COLORS

if TYPE_CHECKING:
    from textual.widget import Widget

Part = str | tuple[str, str]
Row = tuple[str, str]
KEYS_WIDTH = 16
TEXT_WIDTH = 56
GIT_MARKS = (
    ("+12 −3", "uncommitted lines"),
    ("↑2 ↓1", "commits ahead of and behind the base branch"),
    ("PR 12 ✓", "pull request; checks passed (✓), failed (✗) or running (…)"),
)


@dataclass(frozen=True, slots=True)
class Area:
    """A part of the screen with its own keys."""

    title: str
    where: Scope | None
    """The key map's name for the area."""
    own: Sequence[Row] = ()
    """Keys that are not in the key map."""
    widgets: tuple[str, ...] = ()
    """The ids of the area's focusable widgets."""


AREAS = (
    Area("Everywhere", "everywhere", MAIN_KEYS),
    Area("Message box", "message box", COMPOSER_KEYS, ("composer",)),
    Area("Plan, permission or question", None, REQUEST_KEYS, ("request",)),
    Area("Conversation", None, TRANSCRIPT_KEYS, ("transcript",)),
    Area("Projects", "projects", TREE_KEYS, ("tree",)),
    Area("All sessions", "canvas", CANVAS_KEYS, ("canvas",)),
    Area("Changes (diff)", "diff", DIFF_KEYS, ("files", "diff")),
    Area("Commits (log)", "log", LOG_KEYS, ("commits",)),
    Area("Pull request", "pull request", PULL_REQUEST_KEYS, ("pull-request-page",)),
    Area("Open work", "work", WORK_KEYS, ("work", "work-filter")),
    Area("Landing", "landing", LANDING_KEYS, ("desk",)),
    Area("Sweep", "sweep", SWEEP_KEYS, ("sweep",)),
)


def areas(overrides: Mapping[str, str]) -> Iterator[tuple[Area, list[Row]]]:
    """Yield each area with its keys, including the user's own, and what they do."""
    for area in AREAS:
        yield area, [*area.own, *_actions(area.where, overrides)]


def help_page(
    overrides: Mapping[str, str], columns: int, focused: "Widget | None" = None
) -> Report:
    """Return the page for a screen of so many columns, with the focused area's keys first."""
    # Border, padding and scroll bar take ten columns, and the box leaves a sixteenth free.
    width = max(20, min(TEXT_WIDTH, columns * 15 // 16 - KEYS_WIDTH - 2 - 10))
    here = focused.id if focused is not None else None
    parts: list[Part] = []
    for area, rows in sorted(areas(overrides), key=lambda item: not _is_at(item[0], here)):
        title = f"{area.title} (focused)" if _is_at(area, here) else area.title
        parts += _table(title, rows, width)
    parts.append(("Status icons\n", "bold $accent"))
    for mark, meaning in LEGEND:
        parts += [(f"{mark.symbol:>{KEYS_WIDTH}}  ", ROLE_COLORS[mark]), f"{meaning}\n"]
    parts += _rows(GIT_MARKS, width)
    commands = format_key(get_keys("commands", overrides))
    parts += [
        ("\nEverything else", "bold $accent"),
        f" is in the command palette ({commands}). Hold shift to select text with the mouse.\n",
        "To change the key of an action, press k.",
    ]
    return Report("Help", Content.assemble(*parts), ("↑ ↓", "scroll"), ("k", "change keys"))


def _is_at(area: Area, widget: str | None) -> bool:
    return widget in area.widgets


def _actions(where: Scope | None, overrides: Mapping[str, str]) -> Iterator[Row]:
    for action in ACTIONS:
        if action.scope == where and (keys := get_keys(action.id, overrides)):
            yield format_keys(keys), f"{action.title}{'. ' + action.help if action.help else ''}"


def _table(title: str, rows: Iterable[Row], width: int) -> list[Part]:
    return [(f"{title}\n", "bold $accent"), *_rows(rows, width), "\n"]


def _rows(rows: Iterable[Row], width: int) -> list[Part]:
    parts: list[Part] = []
    for keys, text in rows:
        first, *rest = wrap(spell_out(text), width)
        parts += [(f"{spell_out(keys):>{KEYS_WIDTH}}  ", "bold"), f"{first}\n"]
        parts += [f"{'':{KEYS_WIDTH}}  {line}\n" for line in rest]
    return parts
