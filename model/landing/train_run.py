"""One run of a train: each branch on top of the one before, with a check after each."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.landing import Train, TrainCar
from model.domain.projects import Project
from model.git.changes import to_display_name
from model.git.integrating import integrate, read_tree
from model.git.three_way import Place, merge_commits
from model.git.trains import keep_commit
from model.landing.train_checks import Outcome, TrainChecks

_MAX_FILES = 100


@dataclass(frozen=True, slots=True)
class TrainPlan:
    """What a run needs beside the train."""

    project: Project
    place: Place
    messages: Mapping[str, str]
    """The message of each worktree's commit."""
    green: Mapping[str, str]
    """The tree on which each worktree's own check has passed."""
    output: Callable[[str], Path]
    """The file for the output of the check after a worktree."""


class TrainRun:
    """Brings the cars in, and saves the train after each step.

    Args:
        train: The train; cars that are `ready` already are not done again.
        plan: What is needed for it.
        checks: Runs the checks; `None` if they are not wanted.
        save: Saves and publishes the train.
    """

    def __init__(
        self,
        train: Train,
        plan: TrainPlan,
        checks: TrainChecks | None,
        save: Callable[[Train], Awaitable[None]],
    ) -> None:
        self.train = train
        self._plan = plan
        self._checks = checks
        self._save = save

    async def run(self) -> Literal["ready", "stopped"]:
        """Run to the end, or to the first problem unless the train keeps going."""
        tip = self.train.base_commit
        for at, car in enumerate(self.train.cars):
            done = car if car.status == "ready" else await self._bring_in(at, car, tip)
            if done.status == "ready":
                tip = done.commit
            elif not self.train.keep_going:
                return "stopped"
        return "stopped" if tip == self.train.base_commit else "ready"

    async def _bring_in(self, at: int, car: TrainCar, tip: str) -> TrainCar:
        if any(one.branch == car.below and one.status != "ready" for one in self.train.cars[:at]):
            why = f"It starts from '{clean_line(car.below)}', which was left out."
            return await self._set(at, car, status="left_out", error=why)
        car = await self._set(at, car, status="merging")
        message = self._plan.messages[car.worktree_id]
        try:
            result = await integrate(
                self._plan.place, tip, car.head_commit, self.train.method, message, car.since
            )
        except SpinneyError as error:
            return await self._set(at, car, status="failed", error=error.message)
        if result.conflicts:
            files = [to_display_name(path) for path in result.conflicts[:_MAX_FILES]]
            found = await self._find_siblings(at, car)
            why = _describe_siblings(car.branch, self.train.base, found) if found else ""
            return await self._set(
                at, car, status="conflict", conflicts=files, siblings=found, error=why
            )
        await keep_commit(self._plan.place.root, self.train.id, result.commit)
        if self._checks is None:
            return await self._set(at, car, status="ready", commit=result.commit)
        car = await self._set(at, car, status="checking", commit=result.commit)
        outcome = await self._check(self._checks, car)
        status = "failed" if outcome.check == "failed" else "ready"
        return await self._set(at, car, status=status, check=outcome.check, error=outcome.error)

    async def _find_siblings(self, at: int, car: TrainCar) -> list[str]:
        """Return the branches before a car that it is in conflict with, if the base is not it."""
        before = [one for one in self.train.cars[:at] if one.status == "ready"]
        place = self._plan.place
        with_base = await merge_commits(place, self.train.base_commit, car.head_commit)
        if not before or with_base.conflicts:
            return []
        merges = [await merge_commits(place, one.head_commit, car.head_commit) for one in before]
        found = [one.branch for one, merge in zip(before, merges, strict=True) if merge.conflicts]
        return found or [one.branch for one in before]

    async def _check(self, checks: TrainChecks, car: TrainCar) -> Outcome:
        tree = await read_tree(self._plan.place.root, car.commit)
        if self._plan.green.get(car.worktree_id) == tree:
            return Outcome("passed")  # The check has passed on these very files.
        return await checks.check(car.commit, self._plan.output(car.worktree_id))

    async def _set(self, at: int, car: TrainCar, **changes: object) -> TrainCar:
        changed = car.model_copy(update=changes)
        cars = [*self.train.cars[:at], changed, *self.train.cars[at + 1 :]]
        self.train = self.train.model_copy(update={"cars": cars})
        await self._save(self.train)
        return changed


def _describe_siblings(branch: str, base: str, siblings: Sequence[str]) -> str:
    """Why no session is asked to resolve a conflict with branches that have not landed.

    Who merged them would bring them in with the own branch, unchecked and unseen.
    """
    names = ", ".join(f"'{clean_line(sibling)}'" for sibling in siblings)
    have = "has" if len(siblings) == 1 else "have"
    return (
        f"'{clean_line(branch)}' is not in conflict with '{clean_line(base)}', but with {names}, "
        f"which {have} not landed. Land what is ready first, then resolve the conflict with "
        f"'{clean_line(base)}'."
    )
