"""Remove worktrees permanently, without losing work and without leaving one half removed.

A removal is recorded in the worktree (`removing`) before anything is deleted. The next start
completes a removal that had passed the point of no return, and reverts any other. Its recovery
point is deleted only if nothing was touched.
"""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.base.text import clean_line
from model.domain.events.base import Event
from model.domain.events.program import TaskCompleted
from model.domain.events.worktrees import WorktreeDeleted, WorktreeUpdated
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.git import discarding, losses, removal
from model.git.branch_tips import BranchTips
from model.git.losses import Losses, SharedFacts
from model.git.worktrees import ListedWorktree, find_listed, path_exists
from model.scripts.runner import ScriptRunner
from model.state import State
from model.store.store import Store
from model.worktrees.branch_names import has_own_branch
from model.worktrees.lookup import (
    refuse_while_running,
    refuse_while_unsettled,
    require_project,
    require_worktree,
    worktrees_directory,
)
from model.worktrees.recovery import RecoveryPoints


@dataclass(frozen=True, slots=True)
class RemovalLosses(Losses):
    """What a removal would lose, and what is at work in what would go with it."""

    at_work: list[str] = field(default_factory=list)
    """What is at work in worktrees inside it, each as a sentence that says where."""


class WorktreeRemover:
    """Removes worktrees with their directory, branch, sessions and scripts' output.

    `find_kept` returns the commits up to which the work of a worktree's branch is in its base.
    """

    def __init__(
        self,
        store: Store,
        directories: Directories,
        scripts: ScriptRunner,
        end_session: Callable[[str], Awaitable[None]],
        points: RecoveryPoints,
        undo_lock: Callable[[str], asyncio.Lock],
        find_kept: Callable[[Worktree, BranchTips | None], Awaitable[Sequence[str]]],
    ) -> None:
        self._store = store
        self._points = points
        self._directories = directories
        self._scripts = scripts
        self._end_session = end_session
        self._undo_lock = undo_lock
        self._find_kept = find_kept

    async def remove(
        self, worktree_id: str, *, force: bool, landed: Sequence[str] = ()
    ) -> str | None:
        """Remove directory, branch and sessions; of an adopted worktree only the sessions.

        Returns the recovery point that was made, if there was anything to keep.

        What git does not list as a worktree any more is only taken off the list, by force: its
        files and its branch stay.

        Refused while a session is running, also in a worktree inside; and, unless forced, if work
        would be lost, or if the teardown fails or is not trusted. `landed` are commits that were
        brought into the base just now.
        """
        worktree = require_worktree(self._store.state, worktree_id)
        refuse_while_unsettled(worktree)
        refuse_while_running(self._store.state, worktree)
        project = require_project(self._store.state, worktree.project_id)
        found, kept = RemovalLosses(), list(landed)
        deletes = _is_managed(worktree) and not (force and await self._is_unlisted(worktree))
        if deletes:
            kept += await self._find_kept(worktree, None)
            # Check before the teardown, which cannot be undone if the removal is refused.
            found = await self._check(project, worktree, kept, force=force)
        before = worktree.status
        # An undo that is writing files ends first; one that comes later is refused.
        async with self._undo_lock(worktree_id):
            await self._set_status(worktree_id, "removing", check=True)
        points: list[str | None] = []
        try:
            await self._scripts.stop(worktree_id)
            if deletes:
                points.append(await self._points.save_deleted(worktree_id, found.besides))
                await self._tear_down(worktree, force=force)
                # Again: the teardown may have taken minutes, in which a file was saved.
                if await path_exists(Path(worktree.path)):
                    points.append(await self._points.save_deleted(worktree_id, found.besides))
                await self._remove_directory(project, worktree, kept, force=force)
            else:
                points.append(await self._points.save_removed(worktree_id))
        except BaseException:
            await self._take_back(worktree, before, points)
            raise
        await self._finish(project, worktree, kept, deletes=deletes, force=force)
        return points[-1]

    async def find_losses(
        self, worktree_id: str, shared: SharedFacts | None = None
    ) -> RemovalLosses:
        """Return the work that exists only in the worktree and would be lost with it.

        What is `shared` with other worktrees was just read for all of them.
        """
        worktree = require_worktree(self._store.state, worktree_id)
        if not _is_managed(worktree):
            return RemovalLosses()
        project = require_project(self._store.state, worktree.project_id)
        tips, listed = (shared.tips, shared.listed) if shared else (None, None)
        kept = await self._find_kept(worktree, tips)
        return await self._find_losses(project, worktree, kept, listed)

    async def recover(self) -> None:
        """Complete or revert the removals that a kill interrupted. Called once, at start."""
        for worktree in list(self._store.state.worktrees.values()):
            if worktree.status != "removing":
                continue
            project = self._store.state.projects.get(worktree.project_id)
            if project is None or await asyncio.to_thread(os.path.lexists, worktree.path):
                await self._set_status(worktree.id, "ready")
            else:
                # The files were removed after all checks passed; only the branch is checked again.
                with contextlib.suppress(SpinneyError):
                    await self._remove_directory(project, worktree, (), force=True)
                kept = await self._find_kept(worktree, None)
                await self._finish(project, worktree, kept, deletes=True, force=False)

    async def _take_back(self, worktree: Worktree, status: str, points: list[str | None]) -> None:
        """Undo the note of a removal that failed, as far as it did nothing."""
        if _is_managed(worktree) and not await path_exists(Path(worktree.path)):
            await self._set_status(worktree.id, "missing")
            return
        await self._set_status(worktree.id, status)
        with contextlib.suppress(SpinneyError):
            await self._points.discard_unneeded(worktree.id, points)

    async def _find_losses(
        self,
        project: Project,
        worktree: Worktree,
        kept: Sequence[str],
        listed: Sequence[ListedWorktree] | None,
    ) -> RemovalLosses:
        root, path = Path(project.path), Path(worktree.path)
        branch = worktree.branch if self._owns_branch(project, worktree) else None
        try:
            found = await losses.find_losses(root, path, branch, kept, listed)
        except SpinneyError as error:
            reason = clean_line(error.message).rstrip(".")
            found = Losses(besides=[f"what cannot be read ({reason})"])
        inner = await asyncio.to_thread(_find_busy_inside, self._store.state, path)
        at_work = [text for each in inner for text in _list_at_work(self._store.state, each)]
        return RemovalLosses(found.files, found.commits, found.unpushed, found.besides, at_work)

    async def _check(
        self, project: Project, worktree: Worktree, kept: Sequence[str], *, force: bool
    ) -> RemovalLosses:
        """Raise if the worktree is not to be removed; return what goes with it."""
        root, path = Path(project.path), Path(worktree.path)
        # By force what is not asked about: losses are, with those of the branch, just below.
        listed = await removal.check_removal(
            root, path, self._find_base_directory(project, path), force=True
        )
        found = await self._find_losses(project, worktree, kept, listed)
        if found.at_work:
            raise SpinneyError(
                f"'{worktree.name}' was not removed. {' '.join(found.at_work)} Stop it first.",
                "conflict",
            )
        if found and not force:
            raise SpinneyError(
                f"'{worktree.name}' has {found.describe()}. Commit and push first, or remove it "
                "with force.",
                "conflict",
            )
        return found

    async def _tear_down(self, worktree: Worktree, *, force: bool) -> None:
        if not await asyncio.to_thread(Path(worktree.path).is_dir):
            return
        try:
            await self._scripts.run_teardown(worktree.id)
        except SpinneyError as error:
            if not force:
                raise
            self._report_failure(worktree, f"Removed by force, although: {error.message}")

    async def _remove_directory(
        self, project: Project, worktree: Worktree, kept: Sequence[str], *, force: bool
    ) -> None:
        root, path = Path(project.path), Path(worktree.path)
        was_there = await path_exists(path)
        left = await removal.remove_worktree(
            root, path, self._find_base_directory(project, path), force=force, kept=kept
        )
        if left is None:
            return
        if was_there:
            raise SpinneyError(
                f"'{worktree.name}' is gone, but not all of it could be deleted: {left}. What was "
                "in it is in a recovery point (spinney recover). Make that deletable, then delete "
                f"'{worktree.name}' again; or only delete it again, and the rest stays there.",
                "git_error",
            )
        self._report_failure(worktree, f"Not all of '{worktree.name}' could be deleted: {left}.")

    async def _is_unlisted(self, worktree: Worktree) -> bool:
        """Whether its folder is no worktree: git's own removal of one may fail half-way."""
        project = require_project(self._store.state, worktree.project_id)
        path = Path(worktree.path)
        is_folder = await asyncio.to_thread(lambda: path.is_dir() and not path.is_symlink())
        return is_folder and await find_listed(Path(project.path), path) is None

    async def _finish(
        self,
        project: Project,
        worktree: Worktree,
        kept: Sequence[str],
        *,
        deletes: bool,
        force: bool,
    ) -> None:
        """Remove the rest after the files are gone; from here on the removal cannot be undone."""
        if deletes and self._owns_branch(project, worktree):
            try:
                await removal.delete_branch(
                    Path(project.path), worktree.branch, force=force, kept=kept
                )
            except SpinneyError as error:
                self._report_failure(
                    worktree, f"The branch '{worktree.branch}' was kept: {error.message}"
                )
        for session in self._store.state.sessions_of(worktree.id, archived=True):
            await self._end_session(session.id)
        await self._store.accept(
            WorktreeDeleted(worktree_id=worktree.id, project_id=worktree.project_id)
        )
        if deletes:
            await self._points.forget_chain(worktree)
        elif _is_managed(worktree):
            self._report_failure(
                worktree,
                f"'{worktree.name}' was taken off the list. Its folder {worktree.path} and its "
                "branch stay: git does not list it as a worktree.",
            )
        await self._scripts.forget(worktree.id)
        await asyncio.to_thread(discarding.delete_folder, self._directories.discarded / worktree.id)
        await asyncio.to_thread(discarding.delete_folder, self._directories.contexts / worktree.id)
        await asyncio.to_thread(discarding.delete_folder, self._directories.reviews / worktree.id)

    def _owns_branch(self, project: Project, worktree: Worktree) -> bool:
        """Whether the branch is deleted with the worktree.

        Not if it existed before, if others start from it, nor if the user switched to it.
        """
        if worktree.keeps_branch or not has_own_branch(worktree):
            return False
        others = self._store.state.worktrees_of(project.id, archived=True)
        bases = {other.base_branch for other in others if other.id != worktree.id}
        return worktree.branch != project.default_branch and worktree.branch not in bases

    def _find_base_directory(self, project: Project, path: Path) -> Path:
        """Return the project's worktrees directory, or the one from when this was created."""
        current = worktrees_directory(project, self._directories)
        return current if current in path.parents else path.parent

    async def _set_status(self, worktree_id: str, status: str, *, check: bool = False) -> None:
        def make_events(state: State) -> list[Event]:
            if not check and worktree_id not in state.worktrees:
                return []
            worktree = require_worktree(state, worktree_id)
            if check:
                refuse_while_unsettled(worktree)
                refuse_while_running(state, worktree)
            return [WorktreeUpdated(worktree=worktree.model_copy(update={"status": status}))]

        with contextlib.nullcontext() if check else contextlib.suppress(SpinneyError):
            await self._store.accept(make_events)

    def _report_failure(self, worktree: Worktree, detail: str) -> None:
        self._store.record(
            TaskCompleted(task="remove_worktree", ok=False, detail=detail, worktree_id=worktree.id)
        )


def _find_busy_inside(state: State, path: Path) -> list[Worktree]:
    """Return the worktrees of Spinney inside `path` in which something is at work. Blocks."""
    outer = os.path.realpath(path) + os.sep
    active = {each.worktree_id for each in state.sessions.values() if each.is_unfinished}
    busy = [w for w in state.worktrees.values() if w.id in active or w.running_scripts]
    return [w for w in busy if os.path.realpath(w.path).startswith(outer)]


def _list_at_work(state: State, worktree: Worktree) -> list[str]:
    """Return which sessions and scripts of a worktree are at work, each as a sentence."""
    sessions = state.sessions_of(worktree.id, archived=True)
    busy = [f"The session '{each.name}'" for each in sessions if each.is_unfinished]
    busy += [f"The script '{name}'" for name in worktree.running_scripts]
    return [f"{who} is at work in '{worktree.name}', which is inside it." for who in busy]


def _is_managed(worktree: Worktree) -> bool:
    """Whether Spinney created its folder and branch, and may therefore delete them."""
    return worktree.session_type == "worktree" and not worktree.adopted
