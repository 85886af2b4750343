"""Show the conflicts that worktrees are heading for, and write to a session about one."""

from typing import TYPE_CHECKING

from textual.content import Content

from model.api.conflicts import list_conflicts, write_conflict_message
from model.base.text import clean_line
from model.domain.conflicts import list_versions
from tui.desk import Desk
from tui.diff.overlaps import partner_name
from tui.screens.conflicts import Conflicts, Pair
from tui.screens.dialog import Report

if TYPE_CHECKING:
    from model.domain.conflicts import WorktreeConflict


async def show_conflicts(desk: Desk) -> None:
    """List which worktrees of the project would be in conflict, and in which files."""
    project = desk.project
    if project is None:
        desk.say("Open a project first.")
        return
    at = 0
    while True:
        found = _once(await desk.client.call(list_conflicts, project_id=project.id))
        if not found:
            desk.say("No worktrees of this project would be in conflict, as far as is known.")
            return
        chosen = await desk.ask(Conflicts([_describe(desk, conflict) for conflict in found], at))
        if chosen is None:
            return
        what, at = chosen
        conflict = found[at]
        if what == "show":
            names = _name_of(desk, conflict), partner_name(desk, conflict)
            versions = "\n".join(list_versions(conflict, *names))
            await desk.ask(Report(" and ".join(names), Content(versions)))
        elif await _write(desk, conflict, to_second=what == "second"):
            return


def _once(found: "list[WorktreeConflict]") -> "list[WorktreeConflict]":
    """Each pair once, although both of its worktrees list it."""
    pairs: dict[frozenset[str], WorktreeConflict] = {}
    for conflict in found:
        pairs.setdefault(frozenset((conflict.worktree_id, conflict.partner)), conflict)
    return list(pairs.values())


def _describe(desk: Desk, conflict: "WorktreeConflict") -> Pair:
    paths = tuple(clean_line(file.path) for file in conflict.files)
    return Pair(_name_of(desk, conflict), partner_name(desk, conflict), paths)


def _name_of(desk: Desk, conflict: "WorktreeConflict") -> str:
    worktree = desk.state.worktrees.get(conflict.worktree_id)
    return clean_line(worktree.name if worktree is not None else conflict.worktree_id)


async def _write(desk: Desk, conflict: "WorktreeConflict", *, to_second: bool) -> bool:
    """Put a message with both versions into the box of a session; return whether there is one."""
    target, other = conflict.worktree_id, conflict.partner
    if to_second and conflict.with_kind == "worktree":
        target, other = other, target
    sessions = desk.state.sessions_of(target)
    if not sessions:
        desk.say("There is no session in this worktree to write to.")
        return False
    newest = max(sessions, key=lambda session: session.updated_at)
    written = await desk.client.call(write_conflict_message, worktree_id=target, partner=other)
    desk.open_session(newest.id)
    desk.outbox.return_text(newest.id, written.message)
    desk.focus_chat()
    return True
