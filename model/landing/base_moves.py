"""Move a base branch to what lands in it, and back; a kill at any step loses nothing.

What is about to be done is recorded first. The next start looks at where the base is, and completes
the step or forgets it.
"""

import asyncio
import logging
import os
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.events.program import TaskCompleted
from model.domain.hosting import MergeMethod
from model.domain.landing import AfterLanding, Landing
from model.domain.projects import Project
from model.git import base_branch
from model.git.base_branch import BaseBranch
from model.git.interrupted_checkout import complete_checkout
from model.git.run import git
from model.git.stashes import apply_stash, find_stash_conflicts, find_stashed, stash
from model.git.submodules import describe_moved_pins
from model.git.three_way import Place
from model.git.working_tree import read_working_tree
from model.landing.fates import WorktreeFates
from model.landing.records import LandingRecord, LandingRecords
from model.landing.stacks import Stacks
from model.store.store import Store
from model.worktrees import require_project

_log = logging.getLogger(__name__)

_PATIENCE: Final = 2.0
"""Seconds to wait for a git that is still at work in a checkout while a person waits."""
_PATIENCE_AT_START: Final = 60.0
"""Seconds for one that has outlived the Spinney before this one, and writes many files."""

_LANDED: Final = (
    "It had landed when that was canceled. A worktree that was to be archived or deleted may still "
    "be there."
)
_RETURNED: Final = (
    "It was taken back when that was canceled. A worktree that was archived or deleted with it may "
    "not be back: unarchive it, or restore its recovery point."
)


@dataclass(frozen=True, slots=True)
class Move:
    """What lands: the branches of these worktrees, at these commits, as one commit of the base."""

    project: Project
    base: BaseBranch
    to: str
    heads: Mapping[str, str]
    branches: Mapping[str, str]
    method: MergeMethod
    fate: AfterLanding
    delete_remote_branch: bool
    why: str
    """For the reflog of the base."""
    stash_place: Place | None = None
    """Where it is looked whether uncommitted changes in the base's checkout fit what lands, so that
    they can be stashed for it; `None` refuses them."""
    notes: Sequence[str] = ()
    """What a person should know of it later, as sentences."""


class BaseMoves:
    """Moves base branches, one at a time in each project."""

    def __init__(
        self,
        store: Store,
        records: LandingRecords,
        fates: WorktreeFates,
        stacks: Stacks,
        on_move: Callable[[Landing], None],
    ) -> None:
        """`on_move` is called with each landing that was made or taken back."""
        self._store = store
        self._on_move = on_move
        self._records = records
        self._fates = fates
        self._stacks = stacks
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, project_id: str) -> asyncio.Lock:
        """Return the lock to hold from a look at the base until it has moved."""
        return self._locks.setdefault(project_id, asyncio.Lock())

    async def move(self, move: Move) -> Landing:
        """Move the base, and do with the worktrees what was chosen.

        Raises:
            SpinneyError: `conflict` if the base has moved or its checkout cannot follow; nothing
                has landed then.
        """
        root = Path(move.project.path)
        await self._complete(root, move.project.id, move.base.name)
        stashes = await _can_stash(move)
        if not stashes:
            await base_branch.check_can_follow(move.base, move.to)
        landing = Landing(
            id=str(uuid.uuid4()),
            project_id=move.project.id,
            worktree_ids=list(move.heads),
            base=move.base.name,
            before=move.base.commit,
            after=move.to,
            method=move.method,
            landed_at=time.time(),
        )
        record = LandingRecord(
            landing=landing,
            state="moving",
            since=landing.landed_at,
            checkout=str(move.base.checkout) if move.base.checkout else None,
            stashes=stashes,
            fate=move.fate,
            heads=dict(move.heads),
            branches={key: move.branches[key] for key in self._stacks.select_own(move.branches)},
        )
        await self._records.put(record)
        try:
            if stashes and move.base.checkout is not None:
                await stash(move.base.checkout, _name_stash(landing), untracked=False)
                await base_branch.check_can_follow(move.base, move.to)
            await base_branch.move_base(root, move.base, move.to, move.why)
        except SpinneyError as error:
            raise await self._give_up(root, record, error) from error
        note = await base_branch.describe_outdated(root, move.base)
        notes = [*move.notes, *filter(None, [note]), *await _bring_back(record)]
        record = record.update(state="moved", stashes=False, landing_notes=notes)
        record = await _note_pins(record, landing.before, landing.after)
        await self._records.put(record)
        self._on_move(record.landing)
        try:
            record = await self._stacks.follow(record)
            record = await self._fates.apply(record, delete_remote=move.delete_remote_branch)
        except asyncio.CancelledError:
            record = record.update(state="done", landing_notes=[*record.landing.notes, _LANDED])
        await self._records.put(record)
        return record.landing

    async def forget_project(self, project_id: str) -> None:
        """Forget what landed in a project that was removed."""
        await self._records.forget_project(project_id)

    async def list_landings(self, project_id: str, limit: int) -> list[Landing]:
        """Return what landed in a project, newest first."""
        require_project(self._store.state, project_id)
        records = await self._records.read(project_id)
        landed = [one.landing for one in records if one.state != "moving"]
        return landed[: max(0, limit)]

    async def find(self, landing_id: str) -> Landing:
        """Return a landing. Raises `not_found` if there is none with this id."""
        return (await self._find_record(landing_id)).landing

    async def find_undoable(self, project_id: str) -> str | None:
        """Return the newest landing if it can be taken back."""
        record = await self._find_newest(project_id)
        if record is None:
            return None
        root = Path(require_project(self._store.state, project_id).path)
        try:
            await self._check_newest(root, record)
        except SpinneyError:
            return None
        return record.landing.id

    async def undo(self, landing_id: str) -> Landing:
        """Take a landing back.

        Raises:
            SpinneyError: `conflict` once something came after it or it was pushed, or if the
                base's checkout is not clean; nothing is changed then.
        """
        record = await self._find_record(landing_id)
        project = require_project(self._store.state, record.landing.project_id)
        async with self.lock(project.id):
            root = Path(project.path)
            await self._complete(root, project.id, record.landing.base)
            record = await self._find_record(landing_id)
            if record.landing.undone_at is not None:
                return record.landing
            base = await self._check_newest(root, record)
            await base_branch.check_can_follow(base, record.landing.before)
            checkout = str(base.checkout) if base.checkout else None
            record = record.update(state="returning", since=time.time(), checkout=checkout)
            await self._records.put(record)
            try:
                await base_branch.move_base(root, base, record.landing.before, "undo of a landing")
            except SpinneyError as error:
                raise await self._give_up(root, record, error) from error
            return await self._finish_undo(record)

    async def complete(self, project: Project, base: str) -> None:
        """Complete what was interrupted or canceled in the checkout of a base.

        Raises `conflict` with the next step if that is not possible yet.
        """
        if any(_is_open(record, base) for record in await self._records.read(project.id)):
            async with self.lock(project.id):
                await self._complete(Path(project.path), project.id, base)

    async def list_problems(self) -> list[str]:
        """Return why checkouts of base branches are between two commits, and which records of
        landings are damaged, as sentences.
        """
        keys = await self._records.list_projects()
        records = [one for key in keys for one in await self._records.read(key)]
        projects = self._store.state.projects
        damage = [
            f"Some landings of '{projects[key].name}' cannot be read. They are left out, and cannot"
            f" be taken back here any more. What the file had was kept as {copy}."
            for key, copy in self._records.damage.items()
            if key in projects
        ]
        return [*(one.problem for one in records if one.problem), *damage]

    async def recover(self) -> None:
        """Complete or forget what a kill interrupted. Called once, at start."""
        for project_id in await self._records.list_projects():
            project = self._store.state.projects.get(project_id)
            if project is not None:
                async with self.lock(project_id):
                    await self._recover_all(project)

    async def _recover_all(self, project: Project) -> None:
        for record in await self._records.read(project.id):
            if record.state != "done":
                try:
                    await self._recover(Path(project.path), record, _PATIENCE_AT_START)
                except SpinneyError as error:
                    _log.warning("the landing %s: %s", record.landing.id, error.message)

    async def _complete(self, root: Path, project_id: str, base: str) -> None:
        for record in await self._records.read(project_id):
            if _is_open(record, base):
                problem = await self._recover(root, record, _PATIENCE)
                if problem:
                    raise SpinneyError(problem, "conflict")

    async def _give_up(
        self, root: Path, record: LandingRecord, error: SpinneyError
    ) -> SpinneyError:
        """Bring back what a move that failed has changed; return the error to raise."""
        try:
            left = await self._recover(root, record, _PATIENCE)
        except SpinneyError as failure:
            left = failure.message
        return SpinneyError(f"{error.message} {left}", error.error_type) if left else error

    async def _recover(self, root: Path, record: LandingRecord, patience: float) -> str:
        """Complete or forget a move that was interrupted, once the checkout is where the base is.

        Returns what keeps it from that; it stays as it is then, to be tried again.
        """
        landing = record.landing
        is_return = record.state == "returning"
        if record.state != "moved":
            base = await base_branch.read_base(root, landing.base)
            # Without the stash, it was not begun or its changes are back, which are no rest of git.
            is_whole = record.stashes and not await _is_stashed(record)
            if base.commit in (landing.before, landing.after) and not is_whole:
                other = landing.after if base.commit == landing.before else landing.before
                problem = await complete_checkout(root, base, other, record.since, patience)
                # Meanwhile a git that outlived Spinney may have moved it.
                if not problem and await base_branch.read_base(root, landing.base) != base:
                    return await self._recover(root, record, patience)
                if problem:
                    await self._note_problem(record, problem)
                    return problem
            has_landed = await _contains(root, base, landing.after)
            notes = [*landing.notes, *await _bring_back(record)]
            record = record.update(problem="", stashes=False, landing_notes=notes)
            if is_return == has_landed:  # It did not happen.
                if is_return:
                    await self._records.put(record.update(state="done"))
                else:
                    await self._records.remove(record)
                return ""
        if is_return:
            await self._finish_undo(record)
        else:
            record = await _note_pins(record, landing.before, landing.after)
            record = await self._stacks.follow(record.update(state="moved"))
            done = await self._fates.resume(record)
            await self._records.put(done)
            self._on_move(done.landing)
        return ""

    async def _note_problem(self, record: LandingRecord, problem: str) -> None:
        """Save and report why a checkout has not followed."""
        if problem != record.problem:
            await self._records.put(record.update(problem=problem))
            self._store.record(TaskCompleted(task="landing", ok=False, detail=problem))

    async def _finish_undo(self, record: LandingRecord) -> Landing:
        try:
            notes = await self._fates.take_back(record)
            notes += await self._stacks.take_back(record)
        except asyncio.CancelledError:
            notes = [_RETURNED]
        record = await _note_pins(record, record.landing.after, record.landing.before)
        undone = record.update(
            state="done",
            landing_undone_at=time.time(),
            landing_notes=[*_list_lasting(record), *notes],
        )
        await self._records.put(undone)
        self._on_move(undone.landing)
        return undone.landing

    async def _find_record(self, landing_id: str) -> LandingRecord:
        for project_id in await self._records.list_projects():
            for record in await self._records.read(project_id):
                if record.landing.id == landing_id and record.state != "moving":
                    return record
        raise SpinneyError("There is no such landing.", "not_found")

    async def _find_newest(self, project_id: str) -> LandingRecord | None:
        records = await self._records.read(project_id)
        landed = (one for one in records if one.state == "done" and one.landing.undone_at is None)
        return next(landed, None)

    async def _check_newest(self, root: Path, record: LandingRecord) -> BaseBranch:
        """Return the base if it is where the landing left it. Raises `conflict` otherwise."""
        landing = record.landing
        base = await base_branch.read_base(root, landing.base)
        pushed = await base_branch.find_pushed(root, landing.base, landing.after)
        how = _describe_revert(landing)
        if pushed is not None:
            raise SpinneyError(
                f"This was pushed: {pushed} has it, so it cannot be taken back here. Revert it "
                f"with '{how}', and push that.",
                "conflict",
            )
        if base.commit != landing.after:
            raise SpinneyError(
                f"Something came after this in '{base.name}', so it cannot be taken back. Revert "
                f"it with '{how}'.",
                "conflict",
            )
        return base


async def _can_stash(move: Move) -> bool:
    """Whether the base's checkout has uncommitted changes that can be stashed for the landing.

    Raises `conflict` if they would not fit what lands.
    """
    place, path = move.stash_place, move.base.checkout
    if place is None or path is None or not await base_branch.list_changes(path):
        return False
    tree, _ = await read_working_tree(path)
    if replaced := await asyncio.to_thread(_list_replaced, path, tree.removed):
        raise SpinneyError(
            f"In {clean_line(str(path))} something that git does not track is in the place of "
            f"{base_branch.list_names(replaced)}, which a stash would lose. Commit it there, or "
            "move it away.",
            "conflict",
        )
    conflicts = await find_stash_conflicts(place, path, move.to)
    if conflicts:
        raise SpinneyError(
            f"The uncommitted changes in {clean_line(str(path))} are in conflict with what lands, "
            f"in {base_branch.list_names(list(conflicts))}. Commit them there, or take them back.",
            "conflict",
        )
    return True


def _list_replaced(path: Path, removed: Iterable[str]) -> list[str]:
    """Return the deleted files at whose path, or above it, something else is. Blocks."""
    return [
        name
        for name in removed
        if os.path.lexists(path / name)
        or any((path / above).is_file() for above in Path(name).parents)
    ]


async def _is_stashed(record: LandingRecord) -> bool:
    path = Path(record.checkout or "")
    return await find_stashed(path, _name_stash(record.landing)) is not None


async def _bring_back(record: LandingRecord) -> list[str]:
    """Bring back what was stashed for a landing; return a note about what could not be."""
    if not record.stashes or record.checkout is None:
        return []
    path = Path(record.checkout)
    try:
        found = await find_stashed(path, _name_stash(record.landing))
        if found is None:
            return []
        is_back, output = await apply_stash(path, found.id, drop=True)
    except SpinneyError as error:
        is_back, output = False, error.message
    if is_back:
        return []
    return [
        f"The changes that were stashed in {clean_line(record.checkout)} are still there "
        f"('git stash list'): {clean_line(output)}"
    ]


def _name_stash(landing: Landing) -> str:
    return f"Stashed while {landing.id} landed"


async def _note_pins(record: LandingRecord, before: str, after: str) -> LandingRecord:
    """Note the submodules of the base's checkout that a move has left behind."""
    notes = record.landing.notes
    if record.checkout is not None:
        with suppress(SpinneyError):  # It has moved, whatever can be read there now.
            note = await describe_moved_pins(Path(record.checkout), before, after)
            notes = list(dict.fromkeys([*notes, note] if note else notes))
    return record.update(landing_notes=notes)


def _list_lasting(record: LandingRecord) -> list[str]:
    """Return the notes of a landing that hold after its undo: not those of what has returned."""
    returned = {moved.note for moved in record.moved.values()}
    return [note for note in record.landing.notes if note not in returned]


async def _contains(root: Path, base: BaseBranch, commit: str) -> bool:
    found = await git(root, "merge-base", "--is-ancestor", commit, base.commit, check=False)
    return found.returncode == 0


def _is_open(record: LandingRecord, base: str) -> bool:
    return record.state in ("moving", "returning") and record.landing.base == base


def _describe_revert(landing: Landing) -> str:
    """Return the command that reverts a landing by new commits."""
    after = landing.after[:12]
    commits = f"{landing.before[:12]}..{after}"
    is_single = len(landing.worktree_ids) == 1
    if landing.method == "merge":
        merges = after if is_single else f"$(git rev-list --first-parent {commits})"
        return f"git revert -m 1 {merges}"
    return f"git revert {after if is_single and landing.method == 'squash' else commits}"
