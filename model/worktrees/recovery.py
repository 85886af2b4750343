"""Keep the state of worktrees, and sessions, before they are lost, and list what was kept.

Callers that delete or change something call `save` or one of its kind first, and act only if it
succeeds. What keeps files is in the project's repository; sessions alone are in one of our own.
"""

import asyncio
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError, session_not_found
from model.base.git_layout import find_git_directories, is_bare_repository
from model.base.paths import Directories
from model.base.plural import count
from model.domain.events.worktrees import RecoveryCreated
from model.domain.projects import Project
from model.domain.recovery import SESSION_REASONS, RecoveryPoint, SnapshotReason
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.git.snapshots import chain, own_refs, recovery, restore
from model.git.snapshots.chain import Snapshot, SnapshotNote
from model.git.snapshots.conversations import prepare_archive
from model.git.snapshots.recovery import ListedPoints, PointFacts, StoredPoint
from model.git.worktrees import path_exists
from model.projects.tree import without_secrets
from model.store.store import Store
from model.worktrees.kept_conversations import write_conversations
from model.worktrees.lookup import require_project, require_worktree

_MAX_NAMED: Final = 10
"""Damaged recovery points of a repository that are named; further ones are counted."""
_SAME_PERIOD: Final = 60.0
"""Seconds in which a second point of the same kind and the same files is not made."""


@dataclass(frozen=True, slots=True)
class FoundPoint:
    """A recovery point, and where it is."""

    root: Path
    """The repository that has it."""
    project_id: str
    """The project that it belongs to; of a removed project, its last id."""
    point: StoredPoint

    def as_resource(self) -> RecoveryPoint:
        """Return the point as clients get it."""
        note, facts = self.point.snapshot.note, self.point.facts
        return RecoveryPoint(
            recovery_id=self.point.id,
            kind=note.reason,
            name=note.worktree_name,
            branch=note.branch,
            created_at=note.created_at,
            reason=facts.detail,
            size_bytes=facts.size_bytes,
            files=facts.files,
            sessions=facts.sessions,
            sessions_only=note.reason in SESSION_REASONS,
            left_out=facts.left_out,
            project_id=self.project_id,
            worktree_id=note.worktree_id,
        )


@contextmanager
def _refusing(refusal: str) -> Iterator[None]:
    """Say what is not done if something cannot be kept; `refusal` ends with the thing's name."""
    try:
        yield
    except SpinneyError as error:
        raise SpinneyError(
            f"{refusal} could not be saved to a recovery point first: {error.message}",
            error.error_type,
        ) from error


class RecoveryPoints:
    """Makes, lists and deletes recovery points."""

    def __init__(self, store: Store, directories: Directories) -> None:
        self._store = store
        self._directories = directories
        self._latest: dict[str, StoredPoint] = {}
        """The newest point of each worktree that was made by this process."""

    async def save(
        self, worktree_id: str, reason: SnapshotReason, detail: str, ignored: Sequence[str] = ()
    ) -> Snapshot | None:
        """Keep a worktree's uncommitted changes, if it has any, before they may be lost.

        `ignored` are files that git ignores and that may be lost, too. Returns the snapshot of the
        worktree; `None` if its folder is gone.

        Raises:
            SpinneyError: They could not be kept, so they must not be changed.
        """
        worktree = require_worktree(self._store.state, worktree_id)
        project = require_project(self._store.state, worktree.project_id)
        return await self._save_changes(project, worktree, reason, detail, ignored)

    async def save_folder(self, project: Project, reason: SnapshotReason, detail: str) -> None:
        """Keep the uncommitted changes in a project's own folder; as `save`."""
        if is_bare_repository(Path(project.path)):
            return
        folder = Worktree(
            id=project.id,
            project_id=project.id,
            name=project.name,
            path=project.path,
            branch=project.default_branch,
            created_at=project.added_at,
        )
        await self._save_changes(project, folder, reason, detail)

    async def _save_changes(
        self,
        project: Project,
        worktree: Worktree,
        reason: SnapshotReason,
        detail: str,
        ignored: Sequence[str] = (),
    ) -> Snapshot | None:
        path = Path(worktree.path)
        if not await path_exists(path):
            return None  # The act itself says so.
        with _refusing(f"Nothing was changed, because '{worktree.name}'"):
            snapshot = await chain.take_snapshot(path, _note(worktree, reason), besides=ignored)
            if not self._is_known(worktree, snapshot, reason):
                await self._save(project, worktree, snapshot, reason, detail)
        return snapshot

    async def save_deleted(self, worktree_id: str, besides: Sequence[str] = ()) -> str | None:
        """Keep everything of a worktree that is about to be deleted, and its conversations.

        Returns the point's id; `None` if there is nothing left to keep. What is `besides` goes and
        is not kept; the point names it.

        Raises:
            SpinneyError: It could not be kept, so it must not be deleted.
        """
        worktree = require_worktree(self._store.state, worktree_id)
        project = require_project(self._store.state, worktree.project_id)
        root = Path(project.path)
        with _refusing(f"'{worktree.name}' was not deleted, because it"):
            snapshot = await self._snapshot_deleted(root, worktree)
            if snapshot is None:
                return None
            latest = self._latest.get(worktree.id)
            if latest is not None and _is_of(latest, snapshot, "delete"):
                return latest.id
            kept = snapshot.state or await restore.read_state(root, snapshot.tree)
            facts = PointFacts(
                detail=f"Deleted, without {' and '.join(besides)}" if besides else "Deleted",
                project_id=project.id,
                tip=await recovery.find_tip(root, worktree.branch, snapshot),
                left_out=len(besides) + len(kept.left_out),
            )
            contents = await recovery.read_contents(root, snapshot)
            sessions = self._store.state.sessions_of(worktree.id, archived=True)
            conversations = await write_conversations(
                self._store, self._directories, [worktree], sessions
            )
            point = await recovery.create_point(
                root, snapshot, _note(worktree, "delete"), facts, contents, conversations
            )
        self._announce(FoundPoint(root, project.id, point))
        return point.id

    async def discard_unneeded(self, worktree_id: str, points: Sequence[str | None]) -> None:
        """Delete the points of a deletion that did not happen, if everything is as it was.

        A teardown may have deleted something before it failed; they stay then.
        """
        worktree = require_worktree(self._store.state, worktree_id)
        project = require_project(self._store.state, worktree.project_id)
        latest = self._latest.get(worktree_id)
        if latest is None or set(points) != {latest.id}:
            return
        snapshot = await self._snapshot_deleted(Path(project.path), worktree)
        if snapshot is not None and _is_of(latest, snapshot, "delete"):
            await self.delete(latest.id)

    async def save_session(self, session_id: str) -> None:
        """Keep a session that is about to be deleted, unless nothing was said in it.

        Raises:
            SpinneyError: It could not be kept, so it must not be deleted.
        """
        state = self._store.state
        session = state.sessions.get(session_id)
        if session is None:
            raise session_not_found(session_id)
        worktree = require_worktree(state, session.worktree_id)
        if not (session.message_count or state.queued.get(session.id)):
            return
        note = SnapshotNote(
            "delete session",
            session_id=session.id,
            worktree_id=worktree.id,
            worktree_name=session.name,
        )
        detail = f"Deleted session of '{worktree.name}'"
        await self._save_sessions(note, detail, worktree.project_id, [worktree], [session])

    async def save_removed(self, worktree_id: str) -> str | None:
        """Keep the sessions of a worktree whose files stay; as `save_deleted`."""
        state = self._store.state
        worktree = require_worktree(state, worktree_id)
        sessions = state.sessions_of(worktree.id, archived=True)
        note = _note(worktree, "remove worktree")
        detail = "Removed from Spinney"
        return await self._save_sessions(note, detail, worktree.project_id, [worktree], sessions)

    async def save_project(self, project_id: str) -> None:
        """Keep the worktrees of a project, and their sessions. Raises as `save_session`."""
        state = self._store.state
        project = require_project(state, project_id)
        worktrees = state.worktrees_of(project_id, archived=True)
        sessions = [s for each in worktrees for s in state.sessions_of(each.id, archived=True)]
        note = SnapshotNote("remove project", worktree_name=project.name)
        await self._save_sessions(note, "Project removed", project_id, worktrees, sessions)

    async def save_missing(self, worktree_id: str) -> None:
        """Make the last snapshot of a worktree, whose folder was deleted by hand, a point."""
        worktree = require_worktree(self._store.state, worktree_id)
        project = require_project(self._store.state, worktree.project_id)
        root = Path(project.path)
        snapshot = await chain.read_snapshot(root, chain.chain_ref(worktree.id))
        if snapshot is not None and not self._is_known(worktree, snapshot, "recreate"):
            await self._save(project, worktree, snapshot, "recreate", "Recreated")

    async def save_stash(self, worktree_id: str, stash_id: str) -> None:
        """Keep a stash that is about to be dropped. Raises as `save`."""
        worktree = require_worktree(self._store.state, worktree_id)
        project = require_project(self._store.state, worktree.project_id)
        root = Path(project.path)
        snapshot = await recovery.snapshot_of_stash(root, stash_id, _note(worktree, "stash"))
        await self._save(project, worktree, snapshot, "stash", "Dropped a stash")

    async def list(self, project_id: str | None = None) -> list[FoundPoint]:
        """Return the recovery points of one project or of all, newest first.

        A damaged one, and those of a repository that cannot be read, are left out: `list_problems`
        names them.

        Raises:
            SpinneyError: There is none, and a repository cannot be read: it may have some.
        """
        listed = await self._read_all(project_id)
        found: dict[str, FoundPoint] = {}
        for each in listed:
            for point in each.points.points:
                is_alone = point.snapshot.note.reason in SESSION_REASONS
                if is_alone != (each.project is None):
                    continue  # It was not put there by Spinney.
                owner = each.project.id if each.project else self._find_project(point.facts)
                # Two projects may be checkouts of one repository.
                is_known = point.id in found and point.facts.project_id != owner
                if not is_known and project_id in (None, owner):
                    found[point.id] = FoundPoint(each.root, owner, point)
        unread = [each for each in listed if each.error is not None]
        if unread and not found:
            raise SpinneyError(" ".join(map(_describe_unread, unread)), "not_found")
        return sorted(found.values(), key=lambda each: -each.point.snapshot.note.created_at)

    async def list_problems(self) -> Sequence[str]:
        """Return what of the recovery points and snapshots is damaged, as sentences."""
        problems: dict[str, None] = {}
        listed = await self._read_all()
        for each in listed:
            where = f"'{each.project.name}'" if each.project else "deleted sessions"
            if each.error is None:
                problems |= dict.fromkeys(_describe_damaged(where, each.points.damaged))
            elif await asyncio.to_thread(find_git_directories, each.root) is not None:
                problems[_describe_unread(each)] = None
        projects = [each.project for each in listed if each.project is not None]
        for chains in await asyncio.gather(*map(self._list_damaged_chains, projects)):
            problems |= dict.fromkeys(chains)
        return tuple(problems)

    async def require(self, recovery_id: str) -> FoundPoint:
        """Return the recovery point with this id. Raises `not_found`."""
        with suppress(SpinneyError):  # Said below.
            for found in await self.list():
                if found.point.id == recovery_id:
                    return found
        listed = await self._read_all()
        if any(recovery_id in each.points.damaged for each in listed):
            raise SpinneyError(
                f"The recovery point {recovery_id} is damaged and cannot be restored. Delete it.",
                "conflict",
            )
        unread = " ".join(_describe_unread(each) for each in listed if each.error is not None)
        raise SpinneyError(
            f"Recovery point not found: {recovery_id}. It may have been deleted, or its project "
            f"was removed. {unread}".strip(),
            "not_found",
        )

    async def delete(self, recovery_id: str) -> None:
        """Delete a recovery point, also a damaged one. Raises `not_found`."""
        damaged = (
            each.root for each in await self._read_all() if recovery_id in each.points.damaged
        )
        root = next(damaged, None) or (await self.require(recovery_id)).root
        await recovery.delete_point(root, recovery_id)
        self._latest = {key: each for key, each in self._latest.items() if each.id != recovery_id}

    async def _read_all(self, project_id: str | None = None) -> "Sequence[_ListedRepository]":
        """Read the points of a project or of all, and last those of sessions alone."""
        projects = [
            project
            for project in self._store.state.projects.values()
            if not project.is_folder and project_id in (None, project.id)
        ]
        archive = self._directories.recovery
        listed = [_read_repository(Path(project.path), project) for project in projects]
        if await path_exists(archive):
            listed.append(_read_repository(archive, None))
        return await asyncio.gather(*listed)

    async def _list_damaged_chains(self, project: Project) -> Sequence[str]:
        damaged: Sequence[str] = ()
        with suppress(SpinneyError):
            damaged = await own_refs.find_damaged(Path(project.path), chain.WORKTREE_REFS)
        state = self._store.state
        names = {chain.chain_ref(each.id): each.name for each in state.worktrees.values()}
        return [
            f"The snapshots of the worktree '{names[ref]}' are damaged: its earlier turns may not"
            " be undone any more. New ones begin with the next turn."
            for ref in damaged
            if ref in names
        ]

    async def forget_chain(self, worktree: Worktree) -> None:
        """Delete the snapshots of a deleted worktree; its recovery point has them as well."""
        self._latest.pop(worktree.id, None)
        project = self._store.state.projects.get(worktree.project_id)
        if project is not None:
            with suppress(SpinneyError):
                await own_refs.delete_ref(Path(project.path), chain.chain_ref(worktree.id))

    async def _save(
        self,
        project: Project,
        worktree: Worktree,
        snapshot: Snapshot,
        reason: SnapshotReason,
        detail: str,
    ) -> None:
        root = Path(project.path)
        contents = await recovery.read_contents(root, snapshot)
        if not contents.is_empty:
            facts = PointFacts(detail=detail, project_id=project.id)
            note = _note(worktree, reason)
            point = await recovery.create_point(root, snapshot, note, facts, contents)
            self._announce(FoundPoint(root, project.id, point))

    async def _save_sessions(
        self,
        note: SnapshotNote,
        detail: str,
        project_id: str,
        worktrees: Sequence[Worktree],
        sessions: Sequence[Session],
    ) -> str | None:
        """Make a point of sessions alone; `None` if there are none."""
        if not sessions:
            return None
        project = require_project(self._store.state, project_id)
        facts = PointFacts(detail, project.id, project_path=_to_fact(project.path))
        root = self._directories.recovery
        done = "deleted" if note.session_id else "removed"
        with _refusing(f"'{note.worktree_name}' was not {done}, because its conversations"):
            await prepare_archive(root)
            conversations = await write_conversations(
                self._store, self._directories, worktrees, sessions, without_secrets(project)
            )
            dated = replace(note, created_at=time.time())
            point = await recovery.create_conversation_point(root, dated, facts, conversations)
        self._announce(FoundPoint(root, project.id, point))
        return point.id

    def _find_project(self, facts: PointFacts) -> str:
        """Return the id of the project of a point; by its folder if it was added again."""
        projects = self._store.state.projects
        if facts.project_id in projects:
            return facts.project_id
        same = (
            p.id for p in projects.values() if p.path and _to_fact(p.path) == facts.project_path
        )
        return next(same, facts.project_id)

    async def _snapshot_deleted(self, root: Path, worktree: Worktree) -> Snapshot | None:
        """Snapshot what is there, or return the last snapshot of a folder that is gone."""
        path = Path(worktree.path)
        if not await path_exists(path):
            note = _note(worktree, "delete")
            return await recovery.snapshot_without_folder(root, worktree.branch, note)
        return await chain.take_snapshot(
            path,
            _note(worktree, "delete"),
            complete=True,
            include_ignored=self._store.state.preferences.recovery_include_ignored,
        )

    def _is_known(self, worktree: Worktree, snapshot: Snapshot, reason: SnapshotReason) -> bool:
        """Whether such a point was made a moment ago."""
        latest = self._latest.get(worktree.id)
        return (
            latest is not None
            and _is_of(latest, snapshot, reason)
            and time.time() - latest.snapshot.note.created_at < _SAME_PERIOD
        )

    def _announce(self, found: FoundPoint) -> None:
        note = found.point.snapshot.note
        if note.reason not in SESSION_REASONS:
            self._latest[note.worktree_id] = found.point
        self._store.record(RecoveryCreated(point=found.as_resource()))


def _is_of(point: StoredPoint, snapshot: Snapshot, reason: SnapshotReason) -> bool:
    return point.facts.source == snapshot.commit and point.snapshot.note.reason == reason


def _note(worktree: Worktree, reason: SnapshotReason) -> SnapshotNote:
    return SnapshotNote(
        reason,
        worktree_id=worktree.id,
        worktree_name=worktree.name,
        created_at=time.time(),
    )


def _to_fact(path: str) -> str:
    """Return a path as the message of a point has it."""
    return PointFacts.from_message("\n" + PointFacts(project_path=path).to_lines()).project_path


@dataclass(frozen=True, slots=True)
class _ListedRepository:
    """The recovery points of a repository, or why they cannot be read."""

    root: Path
    project: Project | None
    """`None` for points of sessions alone."""
    points: ListedPoints
    error: str | None = None


async def _read_repository(root: Path, project: Project | None) -> _ListedRepository:
    try:
        return _ListedRepository(root, project, await recovery.list_points(root))
    except SpinneyError as error:
        return _ListedRepository(root, project, ListedPoints([], []), error.message)


def _describe_damaged(where: str, point_ids: Sequence[str]) -> Iterator[str]:
    for point_id in point_ids[:_MAX_NAMED]:
        yield (
            f"A recovery point of {where} is damaged and cannot be restored: {point_id}. The others"
            " are not affected. Delete it with: spinney call delete_recovery_point"
            f" {shlex.quote(f'recoveryId={point_id}')}"
        )
    if (further := len(point_ids) - _MAX_NAMED) > 0:
        yield f"{count(further, 'more recovery point')} of {where} cannot be restored either."


def _describe_unread(listed: _ListedRepository) -> str:
    of = f"'{listed.project.name}'" if listed.project else "deleted sessions"
    return f"The recovery points of {of} cannot be read: {listed.error}"
