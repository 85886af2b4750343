"""Bring back deleted sessions, and the worktrees and projects that were removed from Spinney."""

import asyncio
from pathlib import Path

from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.base.text import clean_line
from model.domain.events.base import Event
from model.domain.events.projects import ProjectAdded
from model.domain.events.worktrees import RecoveryRestored, WorktreeCreated
from model.domain.projects import Project
from model.domain.recovery import SESSION_REASONS, SnapshotReason
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.git import repositories
from model.projects import tree
from model.state import State
from model.store.rows import MessageImport
from model.store.store import Store
from model.worktrees.kept_conversations import KeptConversations, read_kept, write_attachments
from model.worktrees.lookup import next_order
from model.worktrees.naming import make_unique_name
from model.worktrees.recovery import RecoveryPoints


class SessionRestorer:
    """Restores what recovery points without files keep."""

    def __init__(self, store: Store, directories: Directories, points: RecoveryPoints) -> None:
        self._store = store
        self._directories = directories
        self._points = points
        self._lock = asyncio.Lock()

    async def restore(self, recovery_id: str) -> list[Session]:
        """Bring back the sessions of a point that are not there, and return all of them.

        A removed worktree or project comes back with them, also if it was added again meanwhile.

        Raises:
            SpinneyError: The worktree of a deleted session, or the folder of a removed project, is
                not there any more; or the point keeps files or is damaged.
        """
        found = await self._points.require(recovery_id)
        reason = found.point.snapshot.note.reason
        if reason not in SESSION_REASONS:
            raise SpinneyError(
                "This recovery point keeps files. Restore it as a worktree.", "conflict"
            )
        tree_id = found.point.snapshot.tree
        async with self._lock:
            kept = await read_kept(found.root, tree_id)
            if kept.project is None or not kept.sessions:
                raise SpinneyError("This recovery point is damaged: it has no sessions.")
            if _find_project(self._store.state, kept.project) is None:
                await _require_repository(kept.project)
            await self._restore(kept, kept.project, reason, recovery_id)
            await write_attachments(self._directories, found.root, tree_id, kept)
        sessions = self._store.state.sessions
        return [sessions[session.id] for session in kept.sessions if session.id in sessions]

    async def _restore(
        self, kept: KeptConversations, project: Project, reason: SnapshotReason, recovery_id: str
    ) -> None:
        messages = MessageImport([])

        def make_events(state: State) -> list[Event]:
            nonlocal messages
            events: list[Event] = []
            if reason == "delete session":
                kept.sessions = [_without_archive(session) for session in kept.sessions]
            else:
                events += _add_project(state, project)
            owner = _find_project(state, project) or project
            made, worktree_ids = _add_worktrees(state, owner, kept, reason)
            sessions, messages = kept.make_events(state.sessions, worktree_ids)
            restored = worktree_ids[kept.sessions[0].worktree_id]
            end = RecoveryRestored(recovery_id=recovery_id, worktree_id=restored, paths=[])
            return [*events, *made, *sessions, end]

        # Nothing else adds these sessions, so that their messages are those of the newest state.
        make_events(self._store.state)
        await self._store.accept(make_events, copy=messages)


def _find_project(state: State, wanted: Project) -> Project | None:
    """Return the project with this id, or the one that was added again for its folder."""
    found = state.projects.get(wanted.id)
    same = (each for each in state.projects.values() if each.path == wanted.path)
    return found or next(same, None)


async def _require_repository(project: Project) -> None:
    """Raise `not_found` unless the folder of a removed project is still a repository."""
    path = Path(project.path)
    try:
        is_there = await repositories.find_root(path) == path
    except SpinneyError:
        is_there = False
    if not is_there:
        raise SpinneyError(
            f"The project '{project.name}' is not in Spinney any more, and there is no repository "
            f"at {clean_line(project.path)}. Put it back there, then restore again.",
            "not_found",
        )


def _add_project(state: State, project: Project) -> list[Event]:
    if _find_project(state, project) is not None:
        return []
    parent = project.parent_id if project.parent_id in state.projects else None
    changes = {"parent_id": parent, "order": tree.next_order(state, parent), "avatar_path": None}
    return [ProjectAdded(project=project.model_copy(update=changes))]


def _add_worktrees(
    state: State, project: Project, kept: KeptConversations, reason: SnapshotReason
) -> tuple[list[Event], dict[str, str]]:
    """Return what adds the worktrees that are not there, and the present ids of all of them.

    Raises `not_found` if that of a deleted session is not there.
    """
    events: list[Event] = []
    present = {}
    names = {other.name for other in state.worktrees_of(project.id, archived=True)}
    for number, worktree in enumerate(kept.worktrees):
        known = _find_worktree(state, worktree)
        if known is None and reason == "delete session":
            raise SpinneyError(
                f"The worktree '{worktree.name}' of this session is not in Spinney any more. "
                "Restore or add the worktree first.",
                "not_found",
            )
        present[worktree.id] = known.id if known else worktree.id
        if known is None:
            made = _bring_back(worktree, project, make_unique_name(worktree.name, names), reason)
            order = next_order(state, project.id) + number
            events.append(WorktreeCreated(worktree=made.model_copy(update={"order": order})))
            names.add(made.name)
    return events, present


def _find_worktree(state: State, wanted: Worktree) -> Worktree | None:
    """Return the worktree with this id, or the one that was added again for its folder."""
    same = (each for each in state.worktrees.values() if each.path == wanted.path)
    return state.worktrees.get(wanted.id) or next(same, None)


def _bring_back(
    worktree: Worktree, project: Project, name: str, reason: SnapshotReason
) -> Worktree:
    """Return a worktree as it was, at rest; polling notices if its folder is gone."""
    changes: dict[str, object] = {
        "project_id": project.id,
        "name": name,
        "status": "ready",
        "archive_when_idle": False,
        "running_scripts": [],
        "setup_hold": None,
        "renaming_to": None,
        "restored_from": None,
    }
    if reason == "remove worktree":
        changes["archived_at"] = None
    return worktree.model_copy(update=changes)


def _without_archive(session: Session) -> Session:
    return session.model_copy(update={"archived_at": None})
