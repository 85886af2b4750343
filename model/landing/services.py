"""What landing consists of in a running Spinney, and its background work."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.domain.projects import Project
from model.git.status import GitStatus
from model.landing.base_moves import BaseMoves
from model.landing.checks import Checks
from model.landing.desk import Desk, DeskSources
from model.landing.fates import WorktreeFates
from model.landing.lander import Lander
from model.landing.merged_branches import MergedBranches
from model.landing.records import LandingRecords
from model.landing.stacks import Stacks
from model.landing.sweep import Sweeper
from model.landing.train_records import TrainRecords
from model.landing.trains import Trains
from model.landing.updates import DeskUpdates
from model.scripts.runner import ScriptRunner
from model.store.bus import EventBus
from model.store.store import Store
from model.worktrees.recovery import RecoveryPoints
from model.worktrees.removal import WorktreeRemover
from model.worktrees.restoring import WorktreeRestorer

_log = logging.getLogger(__name__)


class LandingServices:
    """Owns the parts of landing. Belongs to the core's event loop."""

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        directories: Directories,
        scripts: ScriptRunner,
        removals: WorktreeRemover,
        restoring: WorktreeRestorer,
        points: RecoveryPoints,
        stop_session: Callable[[str], Awaitable[object]],
        sources: DeskSources,
    ) -> None:
        self.updates = DeskUpdates(
            store, bus, self._forget, lambda key: self.desk.forget_review(key)
        )
        self.checks = Checks(store, scripts)
        self.merged = MergedBranches(store, directories.landing / "merged", self.updates.note)
        records = LandingRecords(directories.landing / "projects")
        self.stacks = Stacks(store, records, points, self.merged.get)
        self.desk = Desk(
            store,
            self.checks,
            self.merged,
            self.stacks,
            lambda worktree: self.trains.find_obstacle(worktree),
            sources,
        )
        self.fates = WorktreeFates(store, scripts, removals, restoring)
        self.moves = BaseMoves(store, records, self.fates, self.stacks, self.merged.note_landing)
        self.lander = Lander(store, directories, self.checks, self.moves, self.stacks)
        trains = TrainRecords(directories.landing / "projects", directories.landing / "trains")
        self.trains = Trains(
            store, directories, trains, self.checks, self.lander, self.moves, self.stacks
        )
        self.sweeper = Sweeper(store, directories, self.merged, self.fates, points, stop_session)
        self._looking: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Complete what a kill interrupted, and follow what happens until canceled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._recover())
            group.create_task(self.updates.run())
            group.create_task(self.merged.run())

    def note_status(self, worktree_id: str, status: GitStatus) -> None:
        """Take note of a worktree's git status."""
        self.checks.note_status(worktree_id, status)
        self.merged.note_status(worktree_id, status)
        if self.desk.note_status(worktree_id, status):
            self.updates.note(worktree_id)
            task = asyncio.create_task(self.trains.note_change(worktree_id))
            self._looking.add(task)
            task.add_done_callback(self._on_looked)

    async def forget_project(self, project: Project) -> None:
        """Leave nothing behind of a project that was removed: no train, no records, no refs."""
        async with self.moves.lock(project.id):
            try:
                await self.trains.forget_project(project)
            except SpinneyError as error:  # Its repository may be gone, too.
                _log.info("the train of %s: %s", project.id, error.message)
            await self.moves.forget_project(project.id)
        await self.merged.forget_project(project.id)

    async def close(self) -> None:
        """Stop what is running."""
        await self.trains.close()
        self.sweeper.usage.close()
        await asyncio.gather(*self._looking, return_exceptions=True)

    async def _recover(self) -> None:
        await self.lander.recover()
        await self.moves.recover()
        await self.trains.recover()

    def _on_looked(self, task: "asyncio.Task[None]") -> None:
        self._looking.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.debug("it is not known whether a train is outdated: %s", error)

    def _forget(self, worktree_id: str) -> None:
        self.checks.forget(worktree_id)
        self.merged.forget(worktree_id)
        self.desk.forget(worktree_id)
