"""Open work as rows: number, title, what it is about, age, and where it is worked on."""

import time
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from model.base.amounts import format_age
from model.base.text import clean_line
from model.domain.hosting import (
    Advisory,
    OpenIssue,
    OpenPullRequest,
    SecurityAlert,
    TrackerIssue,
    WorkflowRun,
    WorkItem,
)
from tui.draw.colors import Palette
from tui.draw.line_parts import one_line
from tui.draw.status_icons import worktree_icon
from tui.hosting.work_source import Entry
from tui.terminal import screen_reader
from tui.widgets.marked_list import MarkedList

if TYPE_CHECKING:
    from model.domain.worktrees import Worktree
    from model.state import State

_CLOSED: Final = frozenset({"closed", "merged", "fixed", "dismissed", "done", "canceled"})
_WITH_ABOUT: Final = 100
"""Columns from which labels, packages, workflows are shown."""


def number_of(item: WorkItem) -> str:
    """Return the short name by which people refer to an item: `#12`, `PR 12`, `ENG-12`."""
    match item:
        case OpenPullRequest():
            return f"PR {item.number}"
        case OpenIssue() | SecurityAlert() | WorkflowRun():
            return f"#{item.number}"
    return clean_line(item.id)


def describe_item(item: WorkItem) -> str:
    """Return what is to be known of an item besides its title, as one line."""
    parts: list[str] = []
    match item:
        case OpenIssue():
            parts = [label.name for label in item.labels]
        case OpenPullRequest():
            parts = ["draft"] * item.draft + [label.name for label in item.labels]
        case TrackerIssue():
            parts = [item.state, item.priority, *(label.name for label in item.labels)]
        case WorkflowRun():
            parts = [item.state, item.workflow, item.branch]
        case SecurityAlert():
            parts = [item.severity, item.package]
        case Advisory():
            parts = [item.severity, item.state]
    return clean_line(" · ".join(filter(None, parts)))


def people_of(item: WorkItem) -> str:
    """Return who is to do it."""
    match item:
        case OpenIssue() | OpenPullRequest() | TrackerIssue():
            return clean_line(", ".join(item.assignees))
    return ""


def worktrees_of(item: WorkItem, state: "State") -> "list[Worktree]":
    """Return the worktrees in which an item is worked on."""
    known = (state.worktrees.get(worktree_id) for worktree_id in item.worktree_ids)
    return [each for each in known if each is not None and each.archived_at is None]


class WorkList(MarkedList[Entry]):
    """The entries."""

    def __init__(self, palette: Palette, state: "Callable[[], State]") -> None:
        super().__init__(palette, id="work")
        self._state = state
        self.with_projects = True
        """Whether each row begins with its project."""

    def key(self, item: Entry) -> Hashable:
        """Return project, kind and id."""
        return item.key

    def show_entries(self, entries: Sequence[Entry], *, with_projects: bool) -> None:
        """Show these entries."""
        self.with_projects = with_projects
        self.show(entries)
        self.refresh()

    def search_text(self, entry: Entry) -> str:
        """Return what the filter searches, in lower case."""
        state, item = self._state(), entry.item
        project = state.projects.get(entry.project_id)
        name = project.name if project is not None else ""
        if item is None:
            return f"{name} {entry.problem}".casefold()
        trees = " ".join(tree.name for tree in worktrees_of(item, state))
        parts = (number_of(item), item.title, item.author, describe_item(item), people_of(item))
        return " ".join((*parts, trees, name)).casefold()

    def draw(self, item: Entry, width: int) -> list[Segment]:
        """Draw an entry."""
        palette, state = self.palette, self._state()
        width -= 2  # the last cell is below the scroll bar
        is_marked = item.key in self.marked
        mark = "marked " if screen_reader.is_enabled() else "● "
        line = [Segment(mark if is_marked else " " * 2, palette.accent)]
        if self.with_projects:
            project = state.projects.get(item.project_id)
            name = clean_line(project.name) if project is not None else "?"
            line.append(_cell(name, max(8, min(16, width // 7)), palette.muted))
        if item.item is None:
            line.append(Segment(clean_line(item.problem), palette.error))
            return line
        return [*line, *self._draw_item(item.item, width - _width(line), state)]

    def _draw_item(self, item: WorkItem, width: int, state: "State") -> list[Segment]:
        palette = self.palette
        is_done = item.state.casefold() in _CLOSED
        number = _cell(number_of(item), 9 if len(number_of(item)) > 6 else 8, palette.muted)
        right: list[Segment] = []
        if width >= _WITH_ABOUT - 20:
            right.append(_cell(people_of(item), max(8, width // 10), palette.muted))
        age = format_age(item.updated_at, time.time()) if item.updated_at else ""
        right.append(Segment(f"{age:>4}  ", palette.muted))
        # In screen-reader mode the state of the worktree is a word.
        room = width // 3 if screen_reader.is_enabled() else width // 5
        right += self._draw_place(item, max(12, min(32, room)), state)
        room = width - _width([number, *right]) - 1
        about = describe_item(item) if width >= _WITH_ABOUT - 20 else ""
        about = one_line(about, room // 3) if about else ""
        title = one_line(clean_line(item.title), max(8, room - cell_len(about) - bool(about) * 2))
        space = room - cell_len(title) - cell_len(about) - bool(about) * 2
        middle = [
            Segment(title, palette.muted if is_done else palette.text),
            Segment(f"  {about}" if about else "", palette.muted),
            Segment(" " * (max(0, space) + 1)),
        ]
        return [number, *middle, *right]

    def _draw_place(self, item: WorkItem, width: int, state: "State") -> list[Segment]:
        """Draw the worktree in which it is worked on, with its icon."""
        trees = worktrees_of(item, state)
        if not trees:
            return [Segment(" " * width)]
        tree, more = trees[0], f" +{len(trees) - 1}" if len(trees) > 1 else ""
        icon = worktree_icon(tree, state.sessions_of(tree.id)).symbol
        text = one_line(f"{icon} {clean_line(tree.name)}{more}", width)
        return [Segment(text, self.palette.accent), Segment(" " * (width - cell_len(text)))]


def _cell(text: str, width: int, style: Style) -> Segment:
    shown = one_line(text, width - 1)
    return Segment(shown + " " * (width - cell_len(shown)), style)


def _width(line: Sequence[Segment]) -> int:
    return sum(cell_len(segment.text) for segment in line)
