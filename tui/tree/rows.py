"""What the rows of the tree say, and the order in which they stand."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from model.base.text import clean_line
from tui.draw.status_icons import Mark, git_counts, reason
from tui.store.places import ROOT, Place

if TYPE_CHECKING:
    from textual.widgets.tree import TreeNode

    from model.domain.resources import Project, Session, Worktree
    from model.state import State
    from tui.store.mirror import Change

Part = tuple[str, str]
"""Text, and the role that colours it."""

Children = Mapping[Place, list[Place]]
"""The places below each place, in their order."""

NAME_ROLES = frozenset({"text", "strong"})
"""Parts that are names: what a filter looks into."""

TAIL_ROLES = frozenset({"added", "removed", "count", "reason"})
"""Parts at the right edge; a long name is cut before they are."""

SHORTEST_NAME = 12
"""Cells that a name has before git's counts have any."""

LONGEST_LABEL = 12
_COLOR = re.compile("#[0-9a-fA-F]{6}")


@dataclass(slots=True)
class Row:
    """A row: its place, and what is drawn of it."""

    place: Place
    parts: tuple[Part, ...] = ()
    mark: Mark = Mark.IDLE
    holds: bool = False
    """Whether anything is below it."""


class SavedRow(NamedTuple):
    """A row of the tree."""

    depth: int
    place: Place
    parts: tuple[Part, ...]
    is_open: bool
    """Whether what is below it was shown."""
    holds: bool = False
    """Whether anything is below it."""


def walk(node: "TreeNode[Row]") -> "Iterator[TreeNode[Row]]":
    """The node and all below it, from the top down, folded ones too."""
    yield node
    for child in node.children:
        yield from walk(child)


def depth_of(node: "TreeNode[Row]") -> int:
    """How many rows hold this one."""
    depth = -1
    while (parent := node.parent) is not None:
        node, depth = parent, depth + 1
    return depth


def name_of(place: Place, state: "State") -> str:
    """The name that the row of this place shows; empty if it is not there."""
    known: Mapping[str, Project | Worktree | Session]
    match place.kind:
        case "session":
            known = state.sessions
        case "worktree":
            known = state.worktrees
        case _:
            known = state.projects
    return clean_line(known[place.id].name) if place.id in known else ""


def row_parts(row: Row, state: "State", *, folded: bool) -> Iterator[Part]:
    """What the row of a place says; nothing if the place is gone."""
    known = row.place.id
    match row.place.kind:
        case "session" if known in state.sessions:
            return session_parts(state.sessions[known], row.mark)
        case "worktree" if known in state.worktrees:
            return worktree_parts(state.worktrees[known], row.mark, folded=folded)
        case "project" if known in state.projects:
            return project_parts(state.projects[known], row.mark, folded=folded)
    return iter(())


def session_parts(session: "Session", mark: Mark) -> Iterator[Part]:
    """A session's row."""
    yield f"{mark.sign} ", mark.role
    yield clean_line(session.name) or "(no name)", "strong" if mark >= Mark.UNREAD else "text"
    if word := reason(session):
        yield f" {word}", "reason"


def worktree_parts(worktree: "Worktree", mark: Mark, *, folded: bool) -> Iterator[Part]:
    """A worktree's row; a folded one shows the mark of what it hides."""
    name = clean_line(worktree.name) or "(no name)"
    yield (f"(base) {name}" if worktree.session_type == "base" else name), "text"
    if worktree.status == "creating":
        yield "  being made …", "muted"
        return
    if worktree.status == "missing":
        yield "  directory is gone", Mark.FAILED.role
        return
    if worktree.status == "removing":
        yield "  being removed …", "muted"
        return
    if worktree.renaming_to:
        yield f" → {clean_line(worktree.renaming_to)} …", "muted"
    if worktree.detached_at:
        yield f"  detached at {clean_line(worktree.detached_at)[:7]}", "muted"
    if worktree.running_scripts:
        yield f" ▶ {', '.join(worktree.running_scripts)}", Mark.RUNNING.role
    if worktree.setup_hold == "failed":
        yield f" {Mark.FAILED.sign} setup failed", Mark.FAILED.role
    if count := worktree.cached_conflict_count:
        yield f" {count} conflict{'' if count == 1 else 's'}", "reason"
    if folded and mark is not Mark.IDLE:
        yield f" {mark.sign}", mark.role
    if worktree.label is not None and (word := clean_line(worktree.label.name)):
        word = word if len(word) <= LONGEST_LABEL else f"{word[: LONGEST_LABEL - 1]}…"
        is_color = _COLOR.fullmatch(worktree.label.color)
        yield f" {word}", worktree.label.color if is_color else "count"
    for word in git_counts(worktree):
        role = {"+": "added", "−": "removed"}.get(word[0], "count")
        yield f" {word}", role


def project_parts(project: "Project", mark: Mark, *, folded: bool) -> Iterator[Part]:
    """A project's row; a folded one shows the mark of what it hides."""
    yield clean_line(project.name) or "(no name)", "strong"
    if folded and mark is not Mark.IDLE:
        yield f" {mark.sign}", mark.role
    if project.default_branch:
        yield f"  {clean_line(project.default_branch)}", "muted"


def fitting(parts: tuple[Part, ...], room: int) -> tuple[Part, ...]:
    """The parts without git's first counts, where the name would have too little left of `room`."""
    tail = [part for part in parts if part[1] in TAIL_ROLES or part[1].startswith("#")]
    head = sum(cell_len(text) for text, role in parts if (text, role) not in tail)
    wanted = min(head, SHORTEST_NAME) + sum(cell_len(text) for text, _ in tail)
    dropped = set()
    for text, role in tail:
        if wanted <= room:
            break
        if role in ("added", "removed", "count"):
            dropped.add((text, role))
            wanted -= cell_len(text)
    return tuple(part for part in parts if part not in dropped) if dropped else parts


def children(state: "State") -> Children:
    """The places below each place, in one pass over everything."""
    found: dict[Place, list[Place]] = {}
    projects = sorted(state.projects.values(), key=lambda p: (p.order, p.added_at))
    for project in projects:
        known = project.parent_id in state.projects
        parent = Place("project", str(project.parent_id)) if known else ROOT
        found.setdefault(parent, []).append(Place("project", project.id))
    worktrees = (w for w in state.worktrees.values() if w.archived_at is None)
    for worktree in sorted(worktrees, key=lambda w: (w.order, w.created_at)):
        parent = Place("project", worktree.project_id)
        found.setdefault(parent, []).append(Place("worktree", worktree.id))
    sessions = (s for s in state.sessions.values() if s.archived_at is None)
    for session in sorted(sessions, key=lambda s: (s.order, s.created_at)):
        parent = Place("worktree", session.worktree_id)
        found.setdefault(parent, []).append(Place("session", session.id))
    return found


def has_moved(before: "Session | None", now: "Session | None") -> bool:
    """Whether a session's place in the tree, or its name, is another."""
    if before is None or now is None:
        return True
    was = (before.archived_at, before.order, before.name)
    return was != (now.archived_at, now.order, now.name)


def worktree_has_moved(before: "Worktree | None", now: "Worktree | None") -> bool:
    """Whether a worktree's place in the tree, or its name, is another."""
    if before is None or now is None:
        return True
    was = (before.archived_at, before.order, before.name, before.project_id)
    return was != (now.archived_at, now.order, now.name, now.project_id)


def parents_of_moved(change: "Change") -> set[Place]:
    """The places below which something came, went or moved."""
    found, before, state = set[Place](), change.before, change.state
    for key in change.worktrees:
        was, now = before.worktrees.get(key), state.worktrees.get(key)
        if worktree_has_moved(was, now):
            found |= {Place("project", w.project_id) for w in (was, now) if w is not None}
    for key in change.sessions:
        then, since = before.sessions.get(key), state.sessions.get(key)
        if has_moved(then, since):
            found |= {Place("worktree", s.worktree_id) for s in (then, since) if s is not None}
    return found
