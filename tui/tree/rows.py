"""The content of the tree's rows, and their order."""

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from model.base.amounts import format_age, format_duration
from model.base.plural import count
from model.base.text import clean_line
from tui.draw.status_icons import StatusIcon, git_summary, waiting_reason
from tui.store.places import ROOT, Place
from tui.terminal import screen_reader

if TYPE_CHECKING:
    from textual.widgets.tree import TreeNode

    from model.domain.projects import Project
    from model.domain.sessions import Session
    from model.domain.tool_uses import Activity
    from model.domain.worktrees import Worktree
    from model.state import State
    from tui.store.mirror import Change

Part = tuple[str, str]
"""Text, and the role that determines its color."""

Children = Mapping[Place, list[Place]]
"""The children of each place, in order."""

NAME_ROLES = frozenset({"text", "strong", "session"})
"""Parts that are names, which a filter searches."""

TAIL_ROLES = frozenset(
    {"added", "removed", "count", "conflict", "reason", "activity", "elapsed", "age"}
)
"""Parts at the right edge; a long name is truncated before them."""

MIN_NAME_WIDTH = 12
"""Cells of a name that have priority over the git counts."""

MAX_LABEL_LENGTH = 12
_COLOR = re.compile("#[0-9a-fA-F]{6}")


@dataclass(slots=True)
class Row:
    """A row: its place and its content."""

    place: Place
    parts: tuple[Part, ...] = ()
    icon: StatusIcon = StatusIcon.IDLE
    has_children: bool = False
    """Whether it has children."""


class SavedRow(NamedTuple):
    """A row of the tree in the startup snapshot."""

    depth: int
    place: Place
    parts: tuple[Part, ...]
    is_open: bool
    """Whether it was expanded."""
    has_children: bool = False
    """Whether it has children."""


class Clock:
    """The time, and since when each running session has done the same."""

    def __init__(self) -> None:
        self._begun: dict[str, tuple[str, str, float]] = {}

    @property
    def now(self) -> float:
        """The Unix time."""
        return time.time()

    def elapsed(self, session_id: str, activity: "Activity") -> int:
        """Seconds since the session began this activity."""
        now, did = self.now, (activity.verb, activity.detail)
        reported = now - (activity.seconds or 0)
        *before, begun = self._begun.get(session_id, ("", "", 0.0))
        # A tool says how long it has been running only from time to time.
        begun = min(begun, reported) if tuple(before) == did else reported
        self._begun[session_id] = (*did, begun)
        return int(now - begun)

    def is_known(self, session_id: str, activity: "Activity | None") -> bool:
        """Whether the session was already doing this."""
        if activity is None:
            return session_id not in self._begun
        return self._begun.get(session_id, ())[:2] == (activity.verb, activity.detail)

    def forget(self, session_id: str) -> None:
        """Forget a session that does not run any more."""
        self._begun.pop(session_id, None)


def walk(node: "TreeNode[Row]") -> "Iterator[TreeNode[Row]]":
    """The node and all its descendants in preorder, collapsed ones too."""
    yield node
    for child in node.children:
        yield from walk(child)


def depth_of(node: "TreeNode[Row]") -> int:
    """The number of ancestors of a row, without the root."""
    depth = -1
    while (parent := node.parent) is not None:
        node, depth = parent, depth + 1
    return depth


def repeats_name(name: str, other: str) -> bool:
    """Whether two names have the same letters, as those of a task and of the branch for it."""
    letters, others = ("".join(filter(str.isalnum, each)).casefold() for each in (name, other))
    return name == other or (letters == others != "")


def get_name(place: Place, state: "State", single: Mapping[str, str]) -> str:
    """The name of a place, for a worktree shown as one row with that of its session.

    `single`: the only session of such worktrees, by their ids. Empty if the place does not exist.
    """
    if place.id in single and (session := state.sessions.get(single[place.id])) is not None:
        worktree = state.worktrees.get(place.id)
        return clean_line(f"{worktree.name} {session.name}") if worktree is not None else ""
    resources: Mapping[str, Project | Worktree | Session]
    match place.kind:
        case "session":
            resources = state.sessions
        case "worktree":
            resources = state.worktrees
        case _:
            resources = state.projects
    return clean_line(resources[place.id].name) if place.id in resources else ""


def row_parts(
    row: Row, state: "State", single: Mapping[str, str], clock: Clock, *, folded: bool
) -> Iterator[Part]:
    """The parts of a row; none if its place does not exist any more."""
    place_id = row.place.id
    match row.place.kind:
        case "session" if place_id in state.sessions:
            return session_parts(state.sessions[place_id], row.icon, state, clock)
        case "worktree" if place_id in state.worktrees:
            worktree = state.worktrees[place_id]
            session = state.sessions.get(single.get(place_id, ""))
            if session is not None and worktree.status == "ready":
                return single_parts(worktree, session, row.icon, state, clock)
            return worktree_parts(worktree, row.icon, folded=folded)
        case "project" if place_id in state.projects:
            return project_parts(state.projects[place_id], row.icon, folded=folded)
    return iter(())


def session_parts(
    session: "Session", icon: StatusIcon, state: "State", clock: Clock
) -> Iterator[Part]:
    """The parts of a session's row."""
    yield f"{icon.symbol} ", icon.role
    yield clean_line(session.name) or "(no name)", "strong" if icon >= StatusIcon.UNREAD else "text"
    yield from _activity_parts(session, state, clock)


def single_parts(
    worktree: "Worktree", session: "Session", icon: StatusIcon, state: "State", clock: Clock
) -> Iterator[Part]:
    """The parts of the row of a worktree with a single session: both are in it."""
    name = clean_line(worktree.name) or "(no name)"
    yield f"{icon.symbol} ", icon.role
    name = f"(base) {name}" if worktree.session_type == "base" else name
    yield name, "strong" if icon >= StatusIcon.UNREAD else "text"
    yield from _worktree_notes(worktree)
    if not repeats_name(session.name, worktree.name):
        yield f"  {clean_line(session.name)}", "session"
    yield from _activity_parts(session, state, clock)
    yield from _worktree_counts(worktree)


def _activity_parts(session: "Session", state: "State", clock: Clock) -> Iterator[Part]:
    """What a session waits for or runs, or since when it does neither."""
    if session.status != "running":
        clock.forget(session.id)
    if label := waiting_reason(session):
        yield f" {label}", "reason"
    elif session.status == "running":
        from model.domain.tool_uses import find_activity  # needs pydantic, unlike the first frame

        message = state.streaming_in(session.id)
        activity = find_activity(message) if message is not None else None
        if activity is not None:
            seconds = clock.elapsed(session.id, activity)
            is_long = seconds and activity.verb != "writing" and not screen_reader.is_enabled()
            yield f" {activity.verb}", "activity"
            if is_long:
                yield f" {format_duration(seconds)}", "elapsed"
    elif session.pause is not None and session.pause.until is not None:
        from model.base.moments import format_moment

        yield f" {format_moment(session.pause.until, clock.now)}", "age"
    elif session.message_count:
        yield f" {format_age(session.updated_at, clock.now)}", "age"


def worktree_parts(worktree: "Worktree", icon: StatusIcon, *, folded: bool) -> Iterator[Part]:
    """The parts of a worktree's row; a collapsed one shows the icon of its sessions."""
    name = clean_line(worktree.name) or "(no name)"
    yield (f"(base) {name}" if worktree.session_type == "base" else name), "text"
    if worktree.status == "creating":
        copied = worktree.copied_files
        step = f"copying {copied.count:,} of {copied.total:,} files" if copied else "creating"
        yield f"  {step} …", "muted"
        return
    if worktree.status == "missing":
        yield "  directory missing", StatusIcon.FAILED.role
        return
    if worktree.status == "removing":
        yield "  removing …", "muted"
        return
    yield from _worktree_notes(worktree)
    if folded and icon is not StatusIcon.IDLE:
        yield f" {icon.symbol}", icon.role
    yield from _worktree_counts(worktree)


def _worktree_notes(worktree: "Worktree") -> Iterator[Part]:
    """What is unusual about a worktree."""
    if worktree.renaming_to:
        yield f" → {clean_line(worktree.renaming_to)} …", "muted"
    if worktree.detached_at:
        yield f"  detached at {clean_line(worktree.detached_at)[:7]}", "muted"
    if worktree.running_scripts:
        yield f" ▶ {', '.join(worktree.running_scripts)}", StatusIcon.RUNNING.role
    if worktree.setup_hold == "failed":
        yield f" {StatusIcon.FAILED.symbol} setup failed", StatusIcon.FAILED.role
    if worktree.cached_conflict_count:
        yield f" {count(worktree.cached_conflict_count, 'conflict')}", "conflict"
    elif worktree.conflicts_with or worktree.conflicts_with_base:
        yield " would conflict", "conflict"


def _worktree_counts(worktree: "Worktree") -> Iterator[Part]:
    """The label of a worktree, its changed lines, its commits and its pull request."""
    if worktree.label is not None and (label := clean_line(worktree.label.name)):
        label = label if len(label) <= MAX_LABEL_LENGTH else f"{label[: MAX_LABEL_LENGTH - 1]}…"
        is_color = _COLOR.fullmatch(worktree.label.color)
        yield f" {label}", worktree.label.color if is_color else "count"
    for label in git_summary(worktree):
        role = {"+": "added", "−": "removed"}.get(label[0], "count")
        yield f" {label}", role


def project_parts(project: "Project", icon: StatusIcon, *, folded: bool) -> Iterator[Part]:
    """The parts of a project's row; a collapsed one shows the icon of its sessions."""
    yield clean_line(project.name) or "(no name)", "strong"
    if folded and icon is not StatusIcon.IDLE:
        yield f" {icon.symbol}", icon.role
    if project.default_branch:
        yield f"  {clean_line(project.default_branch)}", "muted"
    if project.outside_worktrees:
        yield f"  {project.outside_worktrees} found", "count"


def fit_parts(parts: tuple[Part, ...], available: int) -> tuple[Part, ...]:
    """Drop what does not fit into the `available` cells, the least important first.

    First the name of the session in a worktree's row, then age, leading git counts and conflicts,
    as long as the name would get too little.
    """
    if sum(cell_len(text) for text, _ in parts) > available:
        parts = tuple(part for part in parts if part[1] != "session")
    tail = [part for part in parts if part[1] in TAIL_ROLES or part[1].startswith("#")]
    name_width = sum(cell_len(text) for text, role in parts if role in NAME_ROLES)
    needed = min(name_width, MIN_NAME_WIDTH) + sum(cell_len(text) for text, _ in tail)
    dropped = set()
    # Conflicts come first in a row and are dropped last.
    for text, role in sorted(tail, key=lambda part: part[1] == "conflict"):
        if needed <= available:
            break
        if role in ("age", "elapsed", "added", "removed", "count", "conflict"):
            dropped.add((text, role))
            needed -= cell_len(text)
    return tuple(part for part in parts if part not in dropped) if dropped else parts


def group_children(state: "State") -> tuple[Children, dict[str, str]]:
    """Group all places by parent, in one pass over the state.

    A worktree with a single session has no children: both are one row. The second result has the
    session of each such worktree, by its id.
    """
    children: dict[Place, list[Place]] = {}
    projects = sorted(state.projects.values(), key=lambda p: (p.order, p.added_at))
    for project in projects:
        has_parent = project.parent_id in state.projects
        parent = Place("project", str(project.parent_id)) if has_parent else ROOT
        children.setdefault(parent, []).append(Place("project", project.id))
    worktrees = (w for w in state.worktrees.values() if w.archived_at is None)
    for worktree in sorted(worktrees, key=lambda w: (w.order, w.created_at)):
        parent = Place("project", worktree.project_id)
        children.setdefault(parent, []).append(Place("worktree", worktree.id))
    sessions = (s for s in state.sessions.values() if s.archived_at is None)
    for session in sorted(sessions, key=lambda s: (s.order, s.created_at)):
        parent = Place("worktree", session.worktree_id)
        children.setdefault(parent, []).append(Place("session", session.id))
    single = {
        parent.id: places[0].id
        for parent, places in children.items()
        if parent.kind == "worktree" and len(places) == 1
    }
    for worktree_id in single:
        del children[Place("worktree", worktree_id)]
    return children, single


def list_session_ids(children: Children, single: Mapping[str, str]) -> list[str]:
    """The ids of all sessions in the order of the tree, collapsed rows included."""
    found: list[str] = []

    def visit(place: Place) -> None:
        if place.kind == "session":
            found.append(place.id)
        elif place.id in single:
            found.append(single[place.id])
        for child in children.get(place, ()):
            visit(child)

    visit(ROOT)
    return found


def has_session_moved(before: "Session | None", new: "Session | None") -> bool:
    """Whether a session's place in the tree, or its name, changed."""
    if before is None or new is None:
        return True
    old = (before.archived_at, before.order, before.name)
    return old != (new.archived_at, new.order, new.name)


def has_worktree_moved(before: "Worktree | None", new: "Worktree | None") -> bool:
    """Whether a worktree's place in the tree, or its name, changed."""
    if before is None or new is None:
        return True
    old = (before.archived_at, before.order, before.name, before.project_id)
    return old != (new.archived_at, new.order, new.name, new.project_id)


def parents_of_moved(change: "Change") -> set[Place]:
    """The places whose children were added, removed, moved or renamed."""
    parents, before, state = set[Place](), change.before, change.state
    for key in change.worktrees:
        old, new = before.worktrees.get(key), state.worktrees.get(key)
        if has_worktree_moved(old, new):
            parents |= {Place("project", w.project_id) for w in (old, new) if w is not None}
    for key in change.sessions:
        was, now = before.sessions.get(key), state.sessions.get(key)
        if has_session_moved(was, now):
            parents |= {Place("worktree", s.worktree_id) for s in (was, now) if s is not None}
    return parents
