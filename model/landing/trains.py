"""Trains: several worktrees that are brought in one on top of the other, and land together."""

import asyncio
import logging
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.base.text import clean_line
from model.domain.events.landing import TrainUpdated
from model.domain.hosting import MergeMethod
from model.domain.landing import AfterLanding, Landing, Train, TrainCar
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.git import base_branch
from model.git.base_branch import BaseBranch
from model.git.rebasing import find_start
from model.git.trains import TrainWorktree, forget_commit, keep_commit, read_heads
from model.landing.base_moves import BaseMoves, Move
from model.landing.branches import Branch, find_branch
from model.landing.checks import Checks
from model.landing.lander import Lander
from model.landing.stacks import Stacks
from model.landing.train_checks import TrainChecks
from model.landing.train_order import order_stacks
from model.landing.train_records import TrainRecords
from model.landing.train_run import TrainPlan, TrainRun
from model.store.store import Store
from model.worktrees import require_project, require_worktree
from model.worktrees.ports import choose_port

_MAX_CARS: Final = 50
_STOPPED: Final = "The train was stopped."
_UNFINISHED: Final = ("waiting", "merging", "checking")

_log = logging.getLogger(__name__)


class Trains:
    """Starts, stops and lands trains, one in each project. Belongs to the core's event loop."""

    def __init__(
        self,
        store: Store,
        directories: Directories,
        records: TrainRecords,
        checks: Checks,
        lander: Lander,
        moves: BaseMoves,
        stacks: Stacks,
    ) -> None:
        self._store = store
        self._stacks = stacks
        self._directories = directories
        self._records = records
        self._checks = checks
        self._lander = lander
        self._moves = moves
        self._running: dict[str, asyncio.Task[None]] = {}
        """By project, until the end is saved."""
        self._clearing: dict[str, asyncio.Task[None]] = {}
        """By train, while its worktree is removed."""

    async def start(
        self,
        project_id: str,
        worktree_ids: Sequence[str],
        method: MergeMethod | None,
        *,
        with_check: bool,
        keep_going: bool,
    ) -> Train:
        """Start a train in the background; it replaces an earlier one.

        With `keep_going` a car that is in conflict or red is left out, and the others go on.
        Cars that an earlier train has checked keep their result if nothing has moved since.

        Raises:
            SpinneyError: `conflict` while one is running, or if a worktree is not ready to land.
        """
        project = require_project(self._store.state, project_id)
        root = Path(project.path)
        async with self._moves.lock(project_id):
            if project_id in self._running:
                raise SpinneyError("A train is running. Stop it first.", "conflict")
            branches, name = await self._find_branches(project, worktree_ids)
            base = await base_branch.read_base(root, name)
            train = Train(
                id=str(uuid.uuid4()),
                project_id=project_id,
                base=name,
                base_commit=base.commit,
                method=self._lander.choose_method(project, method),
                with_check=with_check,
                keep_going=keep_going,
                status="running",
                cars=await _make_cars(root, branches),
                started_at=time.time(),
            )
            before = await self._records.read(project_id)
            train = await self._take_over(root, before, train)
            plan = await self._plan(project, train, branches, base)
            await self._save(train)
            if before is not None:
                await self._clean_up(project, before)
                await self._records.remove_outputs(before)
            task = asyncio.create_task(self._run(project, train, plan))
            self._running[project_id] = task
        return train

    async def read(self, project_id: str) -> Train | None:
        """Return the train of a project; `outdated` if the base or a branch has moved."""
        project = require_project(self._store.state, project_id)
        train = await self._records.read(project_id)
        is_busy = project_id in self._running or self._moves.lock(project_id).locked()
        if train is None or is_busy:
            return train
        if train.status in ("ready", "stopped") and await self._has_moved(project, train):
            return await self._end_outdated(train)
        return train

    async def note_change(self, worktree_id: str) -> None:
        """Look whether a train is outdated: a worktree or its base has changed."""
        worktree = self._store.state.worktrees.get(worktree_id)
        if worktree is None or worktree.project_id not in self._store.state.projects:
            return
        train = await self._records.read(worktree.project_id)
        if train is not None and train.status in ("ready", "stopped"):
            await self.read(worktree.project_id)

    async def read_output(self, train_id: str, worktree_id: str) -> str:
        """Return the end of what the check after a worktree printed."""
        train = await self.find(train_id)
        if all(car.worktree_id != worktree_id for car in train.cars):
            raise SpinneyError("This worktree is not part of the train.", "not_found")
        return await self._records.read_output(train_id, worktree_id)

    async def find_obstacle(self, worktree: Worktree) -> tuple[Train, TrainCar, list[str]] | None:
        """Return the train that stopped at a worktree, its car, and the branches before it.

        `None` if there is none, or its branch has moved since.
        """
        train = await self._records.read(worktree.project_id)
        project = self._store.state.projects.get(worktree.project_id)
        if train is None or project is None or train.status == "running":
            return None
        car = next((car for car in train.cars if car.worktree_id == worktree.id), None)
        if car is None or car.status not in ("conflict", "failed"):
            return None
        heads = await read_heads(Path(project.path), [car.branch])
        if heads.get(car.branch) != car.head_commit:
            return None
        before = train.cars[: train.cars.index(car)]
        return train, car, [one.branch for one in before if one.status == "ready"]

    async def stop(self, train_id: str) -> Train:
        """Stop a running train; what is ready can land."""
        train = await self.find(train_id)
        task = self._running.get(train.project_id)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        train = await self.find(train_id)
        if train.status == "running":  # The task was canceled before it began.
            self._running.pop(train.project_id, None)
            train = await self._end(train, "stopped", _STOPPED)
        return train

    async def stop_at(self, worktree: Worktree) -> None:
        """Stop the train that is running with a worktree, if there is one."""
        if worktree.project_id in self._running:
            train = await self._records.read(worktree.project_id)
            if train is not None and any(car.worktree_id == worktree.id for car in train.cars):
                await self.stop(train.id)

    async def land(
        self,
        train_id: str,
        fate: AfterLanding | None,
        *,
        delete_remote_branch: bool,
        stash_base: bool,
    ) -> Landing:
        """Move the base to the last car that is ready.

        Raises:
            SpinneyError: `conflict` if nothing is ready, or the base or a branch has moved.
        """
        train = await self.find(train_id)
        project = require_project(self._store.state, train.project_id)
        async with self._moves.lock(project.id):
            train = await self.find(train_id)
            ready = [car for car in train.cars if car.status == "ready"]
            if train.project_id in self._running:
                raise SpinneyError("The train is still running. Stop it first.", "conflict")
            if train.status not in ("ready", "stopped") or not ready:
                reason = train.error if train.status == "outdated" else "Nothing of it can land."
                raise SpinneyError(reason, "conflict")
            base = await base_branch.read_base(Path(project.path), train.base)
            if base.commit != train.base_commit or await self._has_moved(project, train):
                train = await self._end(train, "outdated", _describe_moved(train))
                raise SpinneyError(train.error, "conflict")
            landing = await self._moves.move(
                Move(
                    project=project,
                    base=base,
                    to=ready[-1].commit,
                    heads={car.worktree_id: car.head_commit for car in ready},
                    branches={car.worktree_id: car.branch for car in ready},
                    method=train.method,
                    fate=self._lander.choose_fate(fate),
                    delete_remote_branch=delete_remote_branch,
                    stash_place=await self._lander.make_place(project) if stash_base else None,
                    why=f"land {', '.join(car.branch for car in ready)} ({train.method})",
                )
            )
            await self._finish_landed(project, train, landing)
        return landing

    async def discard(self, train_id: str) -> None:
        """Stop and forget a train."""
        train = await self.stop(train_id)
        await self._forget(self._store.state.projects.get(train.project_id), train)
        self._store.record(TrainUpdated(project_id=train.project_id, train=None))

    async def forget_project(self, project: Project) -> None:
        """Stop and forget the train of a project that was removed."""
        train = await self._records.read(project.id)
        if train is not None:
            await self._forget(project, await self.stop(train.id))

    async def recover(self) -> None:
        """Report the trains that a kill interrupted as stopped. Called once, at start."""
        for project_id in await self._records.list_projects():
            project = self._store.state.projects.get(project_id)
            if project is None:
                continue
            try:
                await self._recover(project)
            except SpinneyError as error:
                _log.warning("the train of %s: %s", project_id, error.message)

    async def close(self) -> None:
        """Stop all trains, and wait until their worktrees are gone."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await asyncio.gather(*self._clearing.values(), return_exceptions=True)

    # Internals ---------------------------------------------------------------------------------

    async def _find_branches(
        self, project: Project, worktree_ids: Sequence[str]
    ) -> tuple[list[Branch], str]:
        """Return the branches of a train, and the name of their base."""
        chosen = list(dict.fromkeys(worktree_ids))
        if not 1 <= len(chosen) <= _MAX_CARS:
            raise SpinneyError(f"A train has 1 to {_MAX_CARS} worktrees.")
        worktrees = [require_worktree(self._store.state, one) for one in chosen]
        if any(one.project_id != project.id for one in worktrees):
            raise SpinneyError("Invalid field 'worktreeIds': one belongs to another project")
        worktrees, base = order_stacks(worktrees, project.default_branch)
        for one in worktrees:
            await self._stacks.refuse_landed_base(one, project)
        return [await find_branch(self._store.state, one, base) for one in worktrees], base

    async def _take_over(self, root: Path, before: Train | None, train: Train) -> Train:
        """Return the train with the first cars as an earlier one left them, if those are equal."""
        if before is None or any(
            getattr(before, name) != getattr(train, name)
            for name in ("base", "base_commit", "method", "with_check")
        ):
            return train
        cars = list(train.cars)
        for at, (old, new) in enumerate(zip(before.cars, train.cars, strict=False)):
            is_same = (old.worktree_id, old.head_commit) == (new.worktree_id, new.head_commit)
            if not is_same or old.status != "ready":
                break
            try:
                await keep_commit(root, train.id, old.commit)
            except SpinneyError:
                break  # `git gc` has deleted it.
            cars[at] = old
            await self._records.copy_output(before, train, old.worktree_id)
        return train.model_copy(update={"cars": cars})

    async def _plan(
        self, project: Project, train: Train, branches: Sequence[Branch], base: BaseBranch
    ) -> TrainPlan:
        green = {}
        for branch in branches:
            check = await self._checks.read(branch.worktree.id)
            if check.status == "passed":
                green[branch.worktree.id] = check.tree
        return TrainPlan(
            project=project,
            place=await self._lander.make_place(project),
            messages={
                branch.worktree.id: await self._lander.suggest(
                    branch, base, project, train.method, car.since
                )
                for branch, car in zip(branches, train.cars, strict=True)
            },
            green=green,
            output=lambda worktree_id: self._records.output(train.id, worktree_id),
        )

    async def _run(self, project: Project, train: Train, plan: TrainPlan) -> None:
        checks = None
        if train.with_check:
            at = self._records.worktree(train.id)
            taken = {worktree.port for worktree in self._store.state.worktrees.values()}
            port = await asyncio.to_thread(choose_port, taken, train.id)
            checks = TrainChecks(self._directories, project, train, at, port)
        run = TrainRun(train, plan, checks, self._save)
        status, error = "failed", ""
        try:
            status = await run.run()
        except asyncio.CancelledError:
            status, error = "stopped", _STOPPED
        except SpinneyError as failure:
            error = failure.message
        except Exception:
            _log.exception("the train %s failed", train.id)
            error = "The train failed unexpectedly; the log has the details."
        if checks is not None:
            self._clearing[train.id] = asyncio.create_task(self._clear_up(train, checks))
        await asyncio.shield(self._finish(project, run.train, status, error))

    async def _clear_up(self, train: Train, checks: TrainChecks) -> None:
        """Remove the worktree of a train that has ended, which takes seconds if it is large."""
        try:
            await checks.close()
        except Exception:
            _log.exception("the worktree of the train %s was not removed", train.id)
        finally:
            del self._clearing[train.id]

    async def _finish(self, project: Project, train: Train, status: str, error: str) -> None:
        if status in ("ready", "stopped") and await self._has_moved(project, train):
            status, error = "outdated", _describe_moved(train)
        ended = _make_ended(train, status, error)
        try:
            await self._records.put(ended)
        finally:
            self._running.pop(project.id, None)
        self._store.record(TrainUpdated(project_id=project.id, train=ended))

    async def _end(self, train: Train, status: str, error: str) -> Train:
        ended = _make_ended(train, status, error)
        await self._save(ended)
        return ended

    async def _end_outdated(self, train: Train) -> Train | None:
        """Report a train as outdated, unless what moved its base was its own landing."""
        async with self._moves.lock(train.project_id):
            newest = await self._records.read(train.project_id)
            if newest != train:
                return newest
            return await self._end(train, "outdated", _describe_moved(train))

    async def _has_moved(self, project: Project, train: Train) -> bool:
        """Whether the base or a branch that is ready is elsewhere than when the train started."""
        ready = {car.branch: car.head_commit for car in train.cars if car.status == "ready"}
        expected = {**ready, train.base: train.base_commit}
        return await read_heads(Path(project.path), list(expected)) != expected

    async def _save(self, train: Train) -> None:
        await self._records.put(train)
        self._store.record(TrainUpdated(project_id=train.project_id, train=train))

    async def _finish_landed(self, project: Project, train: Train, landing: Landing) -> None:
        landed = train.model_copy(update={"status": "landed", "landing_id": landing.id})
        # In this order: after a kill in between, the recovery does both again.
        await forget_commit(Path(project.path), train.id)
        await self._save(landed)

    async def _forget(self, project: Project | None, train: Train) -> None:
        if project is not None:
            await self._clean_up(project, train)
        await self._records.remove(train)

    async def _clean_up(self, project: Project, train: Train) -> None:
        if train.id in self._clearing:
            await asyncio.wait([self._clearing[train.id]])
        await self._remove_worktree(project, train)
        await forget_commit(Path(project.path), train.id)

    async def _remove_worktree(self, project: Project, train: Train) -> None:
        """Remove what a kill has left."""
        await TrainWorktree(Path(project.path), self._records.worktree(train.id)).remove()

    async def _recover(self, project: Project) -> None:
        async with self._moves.lock(project.id):
            train = await self._records.read(project.id)
            if train is not None and project.id not in self._running:
                await self._recover_train(project, train)

    async def _recover_train(self, project: Project, train: Train) -> None:
        await self._remove_worktree(project, train)
        commits = {car.commit for car in train.cars if car.status == "ready"}
        landings = await self._moves.list_landings(project.id, limit=1)
        if train.status != "landed" and landings and landings[0].after in commits:
            await self._finish_landed(project, train, landings[0])
        elif train.status == "running":
            error = (
                "Spinney ended while the train was running. Start it again: what was checked keeps "
                "its result."
            )
            await self._end(train, "stopped", error)

    async def find(self, train_id: str) -> Train:
        """Return a train. Raises `not_found` if it was discarded."""
        for project_id in await self._records.list_projects():
            train = await self._records.read(project_id)
            if train is not None and train.id == train_id:
                return train
        raise SpinneyError(
            "This train was discarded, or another one took its place. Look at the newest one.",
            "not_found",
        )


async def _make_cars(root: Path, branches: Sequence[Branch]) -> list[TrainCar]:
    heads: dict[str, str] = {}
    cars = []
    for one in branches:
        below = one.worktree.base_branch or ""
        car = TrainCar(
            worktree_id=one.worktree.id,
            branch=one.worktree.branch,
            head_commit=one.head,
            below=below if below in heads else "",
            since=await find_start(root, heads[below], one.head) if below in heads else "",
            status="waiting",
        )
        heads[one.worktree.branch] = one.head
        cars.append(car)
    return cars


def _describe_moved(train: Train) -> str:
    return (
        f"'{clean_line(train.base)}' or one of the branches has moved since the train started. "
        "Start it again."
    )


def _make_ended(train: Train, status: str, error: str) -> Train:
    cars = [
        car.model_copy(update={"status": "left_out"}) if car.status in _UNFINISHED else car
        for car in train.cars
    ]
    changes: dict[str, Any] = {"status": status, "error": error, "cars": cars}
    return train.model_copy(update={**changes, "ended_at": train.ended_at or time.time()})
