"""Keep the state of worktrees before it is lost, and list what was kept.

Callers that delete or change a worktree call `save` first, and act only if it succeeds.
"""

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.domain.events import RecoveryCreated
from model.domain.recovery import RecoveryPoint, SnapshotReason
from model.domain.resources import Project, Worktree
from model.git.snapshots import chain, recovery, restore
from model.git.snapshots.chain import Snapshot, SnapshotNote
from model.git.snapshots.recovery import PointFacts, StoredPoint
from model.git.worktrees import path_exists
from model.store.store import Store
from model.worktrees.kept_conversations import write_conversations
from model.worktrees.lookup import require_project, require_worktree

_SAME_PERIOD: Final = 60.0
"""Seconds in which a second point of the same kind and the same files is not made."""


@dataclass(frozen=True, slots=True)
class FoundPoint:
    """A recovery point, and the project whose repository has it."""

    project: Project
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
            project_id=self.project.id,
            worktree_id=note.worktree_id,
        )


class RecoveryPoints:
    """Makes, lists and deletes recovery points."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._latest: dict[str, StoredPoint] = {}
        """The newest point of each worktree that was made by this process."""

    async def save(self, worktree_id: str, reason: SnapshotReason, detail: str) -> None:
        """Keep a worktree's uncommitted changes, if it has any, before they may be lost.

        Raises:
            SpinneyError: They could not be kept, so they must not be changed.
        """
        worktree = require_worktree(self._store.state, worktree_id)
        project = require_project(self._store.state, worktree.project_id)
        path = Path(worktree.path)
        if not await path_exists(path):
            return  # The act itself says so.
        try:
            snapshot = await chain.take_snapshot(path, _note(worktree, reason))
            if self._is_known(worktree, snapshot, reason):
                return
            await self._save(project, worktree, snapshot, reason, detail)
        except SpinneyError as error:
            raise SpinneyError(
                f"Nothing was changed, because '{worktree.name}' could not be saved to a recovery "
                f"point first: {error.message}",
                error.error_type,
            ) from error

    async def save_deleted(self, worktree_id: str) -> str | None:
        """Keep everything of a worktree that is about to be deleted, and its conversations.

        Returns the point's id; `None` if there is nothing left to keep.

        Raises:
            SpinneyError: It could not be kept, so it must not be deleted.
        """
        worktree = require_worktree(self._store.state, worktree_id)
        project = require_project(self._store.state, worktree.project_id)
        root = Path(project.path)
        try:
            snapshot = await self._snapshot_deleted(root, worktree)
            if snapshot is None:
                return None
            latest = self._latest.get(worktree.id)
            if latest is not None and _is_of(latest, snapshot, "delete"):
                return latest.id
            sessions = self._store.state.sessions_of(worktree.id, archived=True)
            facts = PointFacts(
                detail="Deleted",
                project_id=project.id,
                tip=await recovery.find_tip(root, worktree.branch),
                sessions=len(sessions),
            )
            contents = await recovery.read_contents(root, snapshot)
            conversations = await write_conversations(self._store, worktree)
            point = await recovery.create_point(
                root, snapshot, _note(worktree, "delete"), facts, contents, conversations
            )
        except SpinneyError as error:
            raise SpinneyError(
                f"'{worktree.name}' was not deleted, because it could not be saved to a recovery "
                f"point first: {error.message}",
                error.error_type,
            ) from error
        self._announce(project, worktree, point)
        return point.id

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

        A repository that cannot be read has none.
        """
        projects = [
            project
            for project in self._store.state.projects.values()
            if not project.is_folder and project_id in (None, project.id)
        ]
        listed = await asyncio.gather(*(_list_points(project) for project in projects))
        found = {}
        for project, points in zip(projects, listed, strict=True):
            for point in points:
                # Two projects may be checkouts of one repository.
                if point.id not in found or point.facts.project_id == project.id:
                    found[point.id] = FoundPoint(project, point)
        return sorted(found.values(), key=lambda each: -each.point.snapshot.note.created_at)

    async def require(self, recovery_id: str) -> FoundPoint:
        """Return the recovery point with this id. Raises `not_found`."""
        for found in await self.list():
            if found.point.id == recovery_id:
                return found
        raise SpinneyError(
            f"Recovery point not found: {recovery_id}. It may have been deleted, or its project "
            "was removed.",
            "not_found",
        )

    async def delete(self, recovery_id: str) -> None:
        """Delete a recovery point. Raises `not_found`."""
        found = await self.require(recovery_id)
        await recovery.delete_point(Path(found.project.path), recovery_id)
        self._latest = {key: each for key, each in self._latest.items() if each.id != recovery_id}

    async def repair_deleted(self, worktree: Worktree) -> None:
        """Write the files again that are missing because a kill interrupted a deletion."""
        for found in await self.list(worktree.project_id):
            note = found.point.snapshot.note
            if note.worktree_id == worktree.id and note.reason == "delete":
                root = Path(found.project.path)
                await restore.write_missing(root, Path(worktree.path), found.point.snapshot)
                await self.delete(found.point.id)
                return

    async def forget_chain(self, worktree: Worktree) -> None:
        """Delete the snapshots of a deleted worktree; its recovery point has them as well."""
        self._latest.pop(worktree.id, None)
        project = self._store.state.projects.get(worktree.project_id)
        if project is not None:
            with suppress(SpinneyError):
                await chain.delete_ref(Path(project.path), chain.chain_ref(worktree.id))

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
            self._announce(project, worktree, point)

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

    def _announce(self, project: Project, worktree: Worktree, point: StoredPoint) -> None:
        self._latest[worktree.id] = point
        self._store.record(RecoveryCreated(point=FoundPoint(project, point).as_resource()))


def _is_of(point: StoredPoint, snapshot: Snapshot, reason: SnapshotReason) -> bool:
    return point.facts.source == snapshot.commit and point.snapshot.note.reason == reason


def _note(worktree: Worktree, reason: SnapshotReason) -> SnapshotNote:
    return SnapshotNote(
        reason,
        worktree_id=worktree.id,
        worktree_name=worktree.name,
        created_at=time.time(),
    )


async def _list_points(project: Project) -> list[StoredPoint]:
    with suppress(SpinneyError):
        return await recovery.list_points(Path(project.path))
    return []
