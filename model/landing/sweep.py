"""All worktrees with what deleting them would free and lose, and many of them deleted at once."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.base.plural import count
from model.domain.landing import AfterLanding, Sweep, SweepRow, Swept
from model.domain.worktrees import Worktree
from model.git.losses import SharedFacts
from model.landing.disk_usage import DiskUsage
from model.landing.fates import WorktreeFates
from model.landing.merged_branches import MergedBranches
from model.store.store import Store
from model.worktrees import require_project, require_worktree
from model.worktrees.recovery import RecoveryPoints

_CONCURRENCY: Final = 4
_MEASURE_SECONDS: Final = 20.0
"""How long a list waits for sizes."""


class Sweeper:
    """Lists and removes worktrees of all projects. Belongs to the core's event loop."""

    def __init__(
        self,
        store: Store,
        directories: Directories,
        merged: MergedBranches,
        fates: WorktreeFates,
        points: RecoveryPoints,
        stop_session: Callable[[str], Awaitable[object]],
    ) -> None:
        self._store = store
        self._directories = directories
        self._merged = merged
        self._fates = fates
        self._points = points
        self._stop_session = stop_session
        self.usage = DiskUsage()
        self._git = asyncio.Semaphore(_CONCURRENCY)

    async def list_rows(
        self,
        project_id: str | None,
        *,
        with_sizes: bool,
        limit: int | None = None,
        offset: int = 0,
        only: Collection[str] | None = None,
    ) -> Sweep:
        """Return the worktrees of a project, or of all, or `limit` of them from the oldest on.

        Without `with_sizes` only the sizes that are known already are included.
        """
        state = self._store.state
        projects = [require_project(state, project_id)] if project_id else state.projects.values()
        worktrees = [
            worktree
            for project in projects
            if not project.is_folder
            for worktree in state.worktrees_of(project.id, archived=True)
            if worktree.session_type == "worktree" and worktree.status in ("ready", "missing")
            if only is None or worktree.id in only
        ]
        total = len(worktrees)
        if limit is not None:  # In an order that does not change while git is asked.
            worktrees.sort(key=lambda worktree: (worktree.created_at, worktree.id))
            worktrees = worktrees[offset : offset + limit]
        if with_sizes:
            paths = [Path(worktree.path) for worktree in worktrees]
            await self.usage.measure(paths, _MEASURE_SECONDS)
        shared = {key: await self._read_shared(key) for key in {w.project_id for w in worktrees}}
        rows = await asyncio.gather(*(self._make_row(w, shared[w.project_id]) for w in worktrees))
        free = await asyncio.to_thread(_read_free_bytes, self._directories.worktrees_home)
        return Sweep(rows=sorted(rows, key=_sort_key), free_bytes=free, total=total)

    async def sweep(
        self,
        worktree_ids: list[str],
        action: AfterLanding,
        *,
        force: bool,
        delete_remote_branch: bool,
    ) -> list[Swept]:
        """Archive or delete worktrees, one after the other; a failure does not stop the others."""
        if action == "keep":
            raise SpinneyError("Invalid field 'action': choose 'archive' or 'delete'")
        return [
            await self._sweep_one(worktree_id, action, force, delete_remote_branch)
            for worktree_id in dict.fromkeys(worktree_ids)
        ]

    async def _sweep_one(
        self, worktree_id: str, action: AfterLanding, force: bool, delete_remote: bool
    ) -> Swept:
        try:
            worktree = require_worktree(self._store.state, worktree_id)
            row = await self._make_row(worktree)
            remote = await self._fates.find_remote(worktree) if delete_remote else None
            problem = _describe_loss(row)
            if problem and not force:
                return Swept(
                    worktree_id=worktree_id, ok=False, message=f"'{worktree.name}' {problem}"
                )
            if force:
                await self._stop_sessions(worktree_id)
            message, point = await self._act(worktree, row, action, force)
        except SpinneyError as error:
            return Swept(worktree_id=worktree_id, ok=False, message=error.message)
        self.usage.forget(Path(worktree.path))
        if remote is not None:
            notes = await self._fates.delete_remote(worktree.project_id, remote)
            message = " ".join([message, *notes])
        return Swept(worktree_id=worktree_id, ok=True, message=message, recovery_id=point)

    async def _act(
        self, worktree: Worktree, row: SweepRow, action: AfterLanding, force: bool
    ) -> tuple[str, str | None]:
        if action == "delete":
            point = await self._fates.remove(worktree.id, force=force)
            what = "Removed from Spinney; its files stay." if worktree.adopted else "Deleted."
            return what, point
        if worktree.archived_at is not None:
            return "It was archived already.", None
        if row.uncommitted:
            await self._points.save(worktree.id, "archive", "Archived")
        await self._fates.archive(worktree.id)
        return "Archived; its files stay until the archive is emptied.", None

    async def _stop_sessions(self, worktree_id: str) -> None:
        for session in self._store.state.sessions_of(worktree_id, archived=True):
            if session.is_unfinished:
                await self._stop_session(session.id)

    async def _read_shared(self, project_id: str) -> SharedFacts | None:
        project = self._store.state.projects.get(project_id)
        with suppress(SpinneyError):  # Each worktree says so.
            return await SharedFacts.read(Path(project.path)) if project else None
        return None

    async def _make_row(self, worktree: Worktree, shared: SharedFacts | None = None) -> SweepRow:
        """Describe a worktree as it is now: what is listed and what is done must agree."""
        state = self._store.state
        sessions = state.sessions_of(worktree.id, archived=True)
        used = [
            worktree.created_at,
            worktree.last_opened_at or 0,
            *(s.updated_at for s in sessions),
        ]
        async with self._git:
            losses = await self._fates.find_losses(worktree.id, shared)
            merged = await self._merged.examine(worktree, shared.tips if shared else None)
        is_busy = bool(worktree.running_scripts) or any(s.is_unfinished for s in sessions)
        return SweepRow(
            worktree_id=worktree.id,
            project_id=worktree.project_id,
            name=worktree.name,
            branch=worktree.branch,
            size=self.usage.get(Path(worktree.path)),
            last_used_at=max(used),
            merged=None if losses.commits else merged,
            uncommitted=len(losses.files),
            unpushed=losses.commits or losses.unpushed,
            besides=losses.besides,
            reverted=self._merged.is_reverted(worktree),
            archived=worktree.archived_at is not None,
            is_running=is_busy or bool(losses.at_work),
            adopted=worktree.adopted,
        )


def _describe_loss(row: SweepRow) -> str:
    """Return why a worktree is left alone; empty if nothing is lost with it."""
    if row.is_running:
        return "has a session or a script at work. It was left alone."
    losses = [count(row.uncommitted, "uncommitted file")] if row.uncommitted else []
    if row.unpushed and row.merged is None:
        losses.append(f"{count(row.unpushed, 'commit')} that no other branch and no remote has")
    losses += row.besides
    return f"has {' and '.join(losses)}. It was left alone." if losses else ""


def _sort_key(row: SweepRow) -> tuple[bool, int, str]:
    return bool(_describe_loss(row)), -(row.size or 0), row.name


def _read_free_bytes(path: Path) -> int | None:
    existing = path
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    try:
        return shutil.disk_usage(existing).free
    except OSError:
        return None
