"""What becomes of worktrees whose branches have landed, and how that is taken back."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.worktrees import Worktree
from model.git.losses import SharedFacts
from model.git.remote_branches import RemoteBranch, delete_remote_branch, find_remote_branch
from model.landing.records import LandingRecord
from model.scripts.runner import ScriptRunner
from model.store.store import Store
from model.worktrees import archive, unarchive
from model.worktrees.removal import RemovalLosses, WorktreeRemover
from model.worktrees.restoring import WorktreeRestorer

_log = logging.getLogger(__name__)


class WorktreeFates:
    """Archives and deletes worktrees that have landed. A failure is a note, not an error."""

    def __init__(
        self,
        store: Store,
        scripts: ScriptRunner,
        removals: WorktreeRemover,
        restoring: WorktreeRestorer,
    ) -> None:
        self._store = store
        self._scripts = scripts
        self._removals = removals
        self._restoring = restoring

    async def apply(self, record: LandingRecord, *, delete_remote: bool) -> LandingRecord:
        """Do with each worktree what the record says, and return the completed record."""
        notes = list(record.landing.notes)
        archived, recovery = list(record.archived), dict(record.recovery)
        for worktree_id in record.landing.worktree_ids:
            worktree = self._store.state.worktrees.get(worktree_id)
            if worktree is None:
                continue
            if delete_remote and (remote := await self.find_remote(worktree)) is not None:
                at_landing = replace(remote, commit=record.heads[worktree_id])
                notes += await self.delete_remote(worktree.project_id, at_landing)
            try:
                if record.fate == "archive":
                    await self.archive(worktree_id)
                    archived.append(worktree_id)
                elif record.fate == "delete":
                    # After a squash or a rebase its commits are nowhere else, but what they did is.
                    landed = [record.heads[worktree_id]]
                    if point := await self.remove(worktree_id, force=False, landed=landed):
                        recovery[worktree_id] = point
            except SpinneyError as error:
                if not self._is_gone(worktree_id):  # Another person may delete it at the same time.
                    notes.append(f"'{worktree.name}' was kept: {error.message}")
        return record.update(
            state="done", archived=archived, recovery=recovery, landing_notes=notes
        )

    def _is_gone(self, worktree_id: str) -> bool:
        worktree = self._store.state.worktrees.get(worktree_id)
        return worktree is None or worktree.status == "removing"

    async def resume(self, record: LandingRecord) -> LandingRecord:
        """Complete what a kill interrupted; nothing is deleted without a person looking on."""
        if record.fate != "delete":
            return await self.apply(record, delete_remote=False)
        left = [self._store.state.worktrees.get(key) for key in record.landing.worktree_ids]
        notes = [
            f"'{worktree.name}' was kept: Spinney ended before it was deleted."
            for worktree in left
            if worktree is not None
        ]
        return record.update(state="done", landing_notes=[*record.landing.notes, *notes])

    async def take_back(self, record: LandingRecord) -> list[str]:
        """Bring back what was archived or deleted; return what a person should know of it."""
        notes = []
        for worktree_id in record.archived:
            worktree = self._store.state.worktrees.get(worktree_id)
            if worktree is not None and worktree.archived_at is not None:
                try:
                    await unarchive(self._store, worktree_id)
                except SpinneyError as error:
                    notes.append(f"'{worktree.name}' is still archived: {error.message}")
        for worktree_id, point in record.recovery.items():
            if worktree_id not in self._store.state.worktrees:
                try:
                    await self._restoring.restore_worktree(point)
                except SpinneyError as error:
                    notes.append(f"A deleted worktree was not restored: {error.message}")
        return notes

    async def archive(self, worktree_id: str) -> None:
        """Archive a worktree and stop its scripts. Raises `conflict` while a session is at work."""
        await archive(self._store, worktree_id)
        await self._scripts.stop(worktree_id)

    async def remove(
        self, worktree_id: str, *, force: bool, landed: Sequence[str] = ()
    ) -> str | None:
        """Delete a worktree, and return its recovery point. Raises as `WorktreeRemover.remove`."""
        return await self._removals.remove(worktree_id, force=force, landed=landed)

    async def find_losses(
        self, worktree_id: str, shared: SharedFacts | None = None
    ) -> RemovalLosses:
        """Return what deleting a worktree would lose; as `WorktreeRemover.find_losses`."""
        return await self._removals.find_losses(worktree_id, shared)

    async def find_remote(self, worktree: Worktree) -> RemoteBranch | None:
        """Return the branch at the remote that a worktree's branch was pushed to, if it was."""
        project = self._store.state.projects[worktree.project_id]
        try:
            return await find_remote_branch(Path(project.path), worktree.branch)
        except SpinneyError:
            return None  # There is no remote.

    async def delete_remote(self, project_id: str, branch: RemoteBranch) -> list[str]:
        """Delete a branch at its remote; return a note why it was kept, if it was."""
        root = Path(self._store.state.projects[project_id].path)
        try:
            problem = await delete_remote_branch(root, branch)
        except SpinneyError as error:
            problem = error.message
        name = clean_line(f"{branch.remote}/{branch.name}")
        return [f"{name} was kept: {problem}"] if problem else []
