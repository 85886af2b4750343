"""Keeps known which worktrees of a project are heading for a conflict, and where.

A round compares the worktrees of one project: each pair, and each with its base branch. It runs
when the poller reports another state of a worktree than before, and asks git only about worktrees
and pairs that have changed.

Left out is what another worktree cannot be blamed for: a branch whose changes are in its base
already, and between two worktrees the files in which one of them conflicts with its base.
"""

import asyncio
import itertools
import logging
import shutil
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from model.base.errors import SpinneyError
from model.base.git_layout import find_git_directories
from model.base.text import clean_line, make_visible
from model.domain.conflicts import (
    ConflictedFile,
    ConflictHunk,
    ConflictPartner,
    ConflictSummary,
    WorktreeConflict,
)
from model.domain.events.worktrees import WorktreeConflictsUpdated
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.git.snapshots import radar
from model.git.snapshots.overlaps import OverlapFinder
from model.git.snapshots.scratch import ScratchObjects
from model.git.status import GitStatus
from model.store.store import Store

MAX_WORKTREES: Final = 60
"""Worktrees of a project that are compared, those created last: 60 make 1,770 pairs."""
_MAX_FILES: Final = 50
"""Files that are listed for each pair."""
_DELAY: Final = 0.05
"""Seconds for which changes are collected before a round begins."""
_CONCURRENCY: Final = 2

_log = logging.getLogger(__name__)

_Pair = tuple[str, str]
"""Two commits."""


_IsMerged = Callable[[Worktree, GitStatus], Awaitable[bool]]


class _Merge(NamedTuple):
    """What merging two commits would leave in conflict."""

    files: list[ConflictedFile]
    """The first of them."""
    paths: frozenset[str]
    """All of them, as they are shown."""


_NONE: Final = _Merge([], frozenset())


@dataclass(frozen=True, slots=True)
class _Side:
    """What of a worktree is compared."""

    worktree_id: str
    commit: str
    base: str
    """The name of the branch."""
    base_commits: tuple[str, ...]


@dataclass(slots=True)
class _ProjectRadar:
    """What is known of a project's worktrees."""

    scratch: ScratchObjects
    finder: OverlapFinder = field(default_factory=OverlapFinder)
    commits: dict[str, tuple[str, str]] = field(default_factory=dict)
    """For each worktree: its fingerprint, and the commit with its files at that time."""
    pairs: dict[_Pair, _Merge] = field(default_factory=dict)
    conflicts: dict[str, list[WorktreeConflict]] = field(default_factory=dict)
    """By worktree."""
    published: dict[str, WorktreeConflictsUpdated] = field(default_factory=dict)


class ConflictRadar:
    """Finds conflicts between worktrees in the background. Belongs to the core's event loop.

    Args:
        store: The store to read worktrees from and record results in.
        folder: Where git writes what it needs; emptied at the first use.
        is_merged: Says of a worktree, by its status, whether its base has what it committed.
    """

    def __init__(self, store: Store, folder: Path, is_merged: _IsMerged) -> None:
        self._store = store
        self._folder = folder
        self._is_merged = is_merged
        self._statuses: dict[str, GitStatus] = {}
        self._projects: dict[str, _ProjectRadar] = {}
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._has_work = asyncio.Event()
        self._running: tuple[str, asyncio.Future[None]] | None = None

    async def run(self) -> None:
        """Run rounds until canceled, one at a time."""
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
        while True:
            await self._has_work.wait()
            await asyncio.sleep(_DELAY)
            self._has_work.clear()
            while self._waiting:
                project_id = next(iter(self._waiting))
                self._running = project_id, self._waiting.pop(project_id)
                await self._run_round(*self._running)
                self._running = None

    def note_status(self, worktree_id: str, status: GitStatus) -> None:
        """Take note of a worktree's status; a round begins soon if it is another than before."""
        before = self._statuses.get(worktree_id)
        self._statuses[worktree_id] = status
        worktree = self._store.state.worktrees.get(worktree_id)
        has_changed = before is None or (
            (before.fingerprint, before.bases) != (status.fingerprint, status.bases)
        )
        if worktree is not None and has_changed:
            self.request(worktree.project_id)

    def request(self, project_id: str) -> None:
        """Begin a round for a project soon: its worktrees have changed."""
        if project_id not in self._waiting:
            self._waiting[project_id] = asyncio.get_running_loop().create_future()
            self._has_work.set()

    async def settle(self, project_id: str) -> None:
        """Wait until all that was noted of a project has been compared."""
        rounds = {self._waiting[project_id]} if project_id in self._waiting else set()
        if self._running is not None and self._running[0] == project_id:
            rounds.add(self._running[1])
        if rounds:
            await asyncio.wait(rounds)

    def list_conflicts(self, project_id: str) -> list[WorktreeConflict]:
        """Return the conflicts of a project's worktrees, each pair once from either side."""
        known = self._projects.get(project_id)
        # One that has just been archived or deleted is left out before it is compared again.
        here = {one.id for one in self._store.state.worktrees_of(project_id)}
        return [
            one
            for conflicts in (known.conflicts.values() if known else ())
            for one in conflicts
            if one.worktree_id in here and (one.with_kind == "branch" or one.partner in here)
        ]

    # A round -----------------------------------------------------------------------------------

    async def _run_round(self, project_id: str, done: asyncio.Future[None]) -> None:
        started = time.perf_counter()
        try:
            project = self._store.state.projects.get(project_id)
            if project is not None:
                await self._compare(project)
            elif (known := self._projects.pop(project_id, None)) is not None:
                await known.scratch.delete()
        except (SpinneyError, OSError) as error:
            _log.debug("the worktrees of %s were not compared: %s", project_id, error)
        except Exception:
            _log.exception("the worktrees of %s were not compared", project_id)
        finally:
            done.set_result(None)
            _log.debug("compared %s in %.3f s", project_id, time.perf_counter() - started)

    async def _compare(self, project: Project) -> None:
        known = self._projects.setdefault(
            project.id, _ProjectRadar(ScratchObjects(self._folder / project.id))
        )
        worktrees = self._choose_worktrees(project)
        root = await asyncio.to_thread(_find_root, project, worktrees)
        if root is None:
            self._publish(project, known, [])
            return
        if await known.scratch.prepare(root[1]):
            known.commits.clear()
        sides = await self._capture_all(root[0], known, project, worktrees)
        pairs = list(_list_pairs(sides))
        new = [pair for pair in dict.fromkeys(pairs) if pair not in known.pairs]
        known.pairs |= dict(zip(new, await _find_conflicts(root[0], new, known), strict=True))
        known.pairs = {pair: known.pairs[pair] for pair in pairs}
        self._publish(project, known, await self._leave_out_merged(known, sides, worktrees))

    async def _leave_out_merged(
        self, known: _ProjectRadar, sides: list[_Side], worktrees: list[Worktree]
    ) -> list[_Side]:
        """Return the sides that have something which their base lacks.

        Only of those in conflict is that asked.
        """
        by_id = {one.id: one for one in worktrees}
        marked = _collect(known.pairs, sides).keys()
        merged = set()
        for worktree_id in marked:
            status = self._statuses[worktree_id]
            if not status.changed_files and await self._is_merged(by_id[worktree_id], status):
                merged.add(worktree_id)
        return [side for side in sides if side.worktree_id not in merged]

    def _choose_worktrees(self, project: Project) -> list[Worktree]:
        """Return the worktrees that have something to be merged."""
        ready = [
            worktree
            for worktree in self._store.state.worktrees_of(project.id)
            if worktree.archived_at is None
            and worktree.status == "ready"
            and worktree.renaming_to is None
            and (status := self._statuses.get(worktree.id)) is not None
            and status.commit is not None
            and (status.ahead or status.changed_files)
        ]
        return sorted(ready, key=lambda one: one.created_at)[-MAX_WORKTREES:]

    async def _capture_all(
        self, root: Path, known: _ProjectRadar, project: Project, worktrees: list[Worktree]
    ) -> list[_Side]:
        """Bring `known.commits` up to date, and return what is compared."""
        statuses = {one.id: self._statuses[one.id] for one in worktrees}
        commits = {
            key: known.commits[key]
            for key, status in statuses.items()
            if key in known.commits and known.commits[key][0] == status.fingerprint
        }
        read = await self._read_changed([one for one in worktrees if one.id not in commits], known)
        made = await radar.make_commits(root, list(read.values()), known.scratch)
        for key, commit in zip(read, made, strict=True):
            commits[key] = statuses[key].fingerprint, commit
        for key, status in statuses.items():
            if not status.changed_files:
                commits[key] = status.fingerprint, status.commit or ""
        known.commits = commits
        return [
            _Side(
                one.id,
                commits[one.id][1],
                clean_line(one.base_branch or project.default_branch),
                statuses[one.id].bases,
            )
            for one in worktrees
            if one.id in commits
        ]

    async def _read_changed(
        self, worktrees: list[Worktree], known: _ProjectRadar
    ) -> dict[str, radar.Files]:
        """Read what is not committed in these worktrees; those that cannot be read are left out."""
        limit = asyncio.Semaphore(_CONCURRENCY)
        found: dict[str, radar.Files] = {}

        async def read(worktree: Worktree) -> None:
            status = self._statuses[worktree.id]
            async with limit:
                try:
                    found[worktree.id] = await radar.read_files(
                        Path(worktree.path),
                        status.commit or "",
                        known.scratch,
                        status.working_tree,
                    )
                except (SpinneyError, OSError) as error:
                    _log.debug("%s is not compared: %s", worktree.id, error)

        changed = (one for one in worktrees if self._statuses[one.id].changed_files)
        await asyncio.gather(*(read(worktree) for worktree in changed))
        return found

    # Results -----------------------------------------------------------------------------------

    def _publish(self, project: Project, known: _ProjectRadar, sides: list[_Side]) -> None:
        known.conflicts = _collect(known.pairs, sides)
        published, known.published = known.published, {}
        for worktree in self._store.state.worktrees_of(project.id):
            event = _make_event(worktree.id, known.conflicts.get(worktree.id, []))
            known.published[worktree.id] = event
            is_marked = bool(worktree.conflicts_with) or worktree.conflicts_with_base
            before = published.get(worktree.id)
            if event != before and (event.conflicts or before or is_marked):
                self._store.record(event)
        self._statuses = {
            key: status
            for key, status in self._statuses.items()
            if key in self._store.state.worktrees
        }


def _find_root(project: Project, worktrees: list[Worktree]) -> tuple[Path, Path] | None:
    """Return a checkout in which git can run, and the directory that the worktrees share."""
    for path in (Path(project.path), *(Path(worktree.path) for worktree in worktrees)):
        directories = find_git_directories(path)
        if directories is not None:
            return path, directories.common_dir
    return None


def _list_pairs(sides: list[_Side]) -> Iterator[_Pair]:
    for side in sides:
        for base in side.base_commits:
            yield side.commit, base
    for one, other in itertools.combinations(sides, 2):
        if one.commit != other.commit:
            yield one.commit, other.commit


async def _find_conflicts(root: Path, pairs: list[_Pair], known: _ProjectRadar) -> list[_Merge]:
    if not await radar.can_merge():
        return await _find_overlapping_paths(root, pairs, known)
    merges = await radar.merge_pairs(root, pairs, known.scratch)
    cut = [merge[:_MAX_FILES] for merge in merges]
    files = [file for merge in cut for file in merge]
    described = iter(await known.finder.describe(root, files, known.scratch))
    return [
        _Merge(
            list(itertools.islice(described, len(shown))),
            frozenset(make_visible(file.path) for file in merge),
        )
        for shown, merge in zip(cut, merges, strict=True)
    ]


async def _find_overlapping_paths(
    root: Path, pairs: list[_Pair], known: _ProjectRadar
) -> list[_Merge]:
    """Return the files that both sides changed since their common ancestor, for an older git."""
    found = []
    for pair in pairs:
        ours = await radar.list_changes(root, *pair, known.scratch)
        theirs = await radar.list_changes(root, *pair[::-1], known.scratch)
        paths = [
            make_visible(path) for path in ours if path in theirs and ours[path] != theirs[path]
        ]
        files = [ConflictedFile(path=path, kind="path") for path in paths[:_MAX_FILES]]
        found.append(_Merge(files, frozenset(paths)))
    return found


def _collect(pairs: dict[_Pair, _Merge], sides: list[_Side]) -> dict[str, list[WorktreeConflict]]:
    """Return the conflicts of each worktree, seen from it."""
    found: dict[str, list[WorktreeConflict]] = {}

    def add(
        worktree_id: str, partner: str, kind: ConflictPartner, files: list[ConflictedFile]
    ) -> None:
        if files:
            conflict = WorktreeConflict(
                worktree_id=worktree_id, partner=partner, with_kind=kind, files=files
            )
            found.setdefault(worktree_id, []).append(conflict)

    with_base: dict[str, frozenset[str]] = {}
    for side in sides:
        merges = [pairs[side.commit, base] for base in side.base_commits]
        files = [file for merge in merges for file in merge.files]
        add(side.worktree_id, side.base, "branch", list({one.path: one for one in files}.values()))
        with_base[side.worktree_id] = frozenset().union(*(merge.paths for merge in merges))
    for one, other in itertools.combinations(sides, 2):
        merge = pairs.get((one.commit, other.commit), _NONE)
        of_base = with_base[one.worktree_id] | with_base[other.worktree_id]
        files = [file for file in merge.files if file.path not in of_base]
        add(one.worktree_id, other.worktree_id, "worktree", files)
        add(other.worktree_id, one.worktree_id, "worktree", [_swap(file) for file in files])
    return found


def _swap(file: ConflictedFile) -> ConflictedFile:
    """Return the file as the other side sees it."""
    hunks = [ConflictHunk(ours=hunk.theirs, theirs=hunk.ours) for hunk in file.hunks]
    return file.model_copy(update={"hunks": hunks})


def _make_event(worktree_id: str, conflicts: list[WorktreeConflict]) -> WorktreeConflictsUpdated:
    summaries = [
        ConflictSummary(
            partner=one.partner, with_kind=one.with_kind, files=[file.path for file in one.files]
        )
        for one in conflicts
    ]
    return WorktreeConflictsUpdated(worktree_id=worktree_id, conflicts=summaries)
