"""Stacks: worktrees that start from the branch of another one, and follow when that has landed."""

import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.events.base import Event
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.landing import MergedBy
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.git.base_branch import list_names
from model.git.changes import to_display_name
from model.git.diff import resolve_head
from model.git.in_the_way import find_in_the_way
from model.git.integrating import integrate, read_tree
from model.git.merged import is_ancestor
from model.git.rebasing import find_start, rebase_onto, take_back_rebase
from model.git.repositories import resolve_base
from model.git.three_way import Place
from model.landing.branches import find_branch
from model.landing.records import LandingRecord, LandingRecords, MovedBranch
from model.state import State
from model.store.store import Store
from model.worktrees import require_project, require_worktree
from model.worktrees.announcing import check_base
from model.worktrees.lookup import refuse_while_archived, refuse_while_unsettled
from model.worktrees.recovery import RecoveryPoints


class Stacks:
    """Changes the bases of worktrees, and moves their commits onto them.

    Args:
        store: The store to read and change worktrees in.
        records: What has landed.
        points: Makes a recovery point before commits are moved.
        get_merged: How a worktree is known to be merged.
    """

    def __init__(
        self,
        store: Store,
        records: LandingRecords,
        points: RecoveryPoints,
        get_merged: Callable[[Worktree], MergedBy | None],
    ) -> None:
        self._store = store
        self._records = records
        self._points = points
        self._get_merged = get_merged

    async def find_new_base(self, worktree: Worktree, tips: Sequence[str]) -> str:
        """Return the branch in which the base of a worktree has landed; empty if it has not.

        What lands in a branch that has landed itself would never come further. `tips` are the
        commits of the base.
        """
        state = self._store.state
        project = require_project(state, worktree.project_id)
        base = worktree.base_branch
        if base is None or base == project.default_branch:
            return ""
        below = _find_worktree(state, project, base)
        if below is not None:
            is_landed = _is_own(below) and self._get_merged(below) is not None
            return (below.base_branch or project.default_branch) if is_landed else ""
        for record in await self._records.read(project.id):
            heads = (record.heads[key] for key, name in record.branches.items() if name == base)
            if record.landing.undone_at is None and not set(tips).isdisjoint(heads):
                return record.landing.base
        return ""

    def select_own(self, worktree_ids: Iterable[str]) -> list[str]:
        """Return those of these worktrees whose branch was made for them, and ends with a landing.

        Others start from a branch like `develop` for good, wherever it lands.
        """
        known = self._store.state.worktrees
        return [key for key in worktree_ids if key in known and _is_own(known[key])]

    def list_beside(self, worktree: Worktree) -> list[Worktree]:
        """Return the worktrees that have not landed, but those that this one starts from, or that
        start from it.
        """
        known = self._store.state.worktrees_of(worktree.project_id, archived=True)
        return [
            one
            for one in known
            if one.id != worktree.id
            and one.session_type != "base"
            and one.branch != worktree.base_branch
            and one.base_branch != worktree.branch
            and self._get_merged(one) is None
        ]

    async def refuse_landed_base(self, worktree: Worktree, project: Project) -> None:
        """Raise `conflict` if a worktree would land in a branch that has landed itself."""
        if worktree.base_branch is None:
            return
        tips = await resolve_base(Path(project.path), worktree.base_branch)
        if new := await self.find_new_base(worktree, tips):
            raise SpinneyError(describe_landed_base(worktree.base_branch, new), "conflict")

    async def set_base(self, worktree_id: str, base: str, *, move_commits: bool) -> Worktree:
        """Change the branch that a worktree lands in.

        With `move_commits` the commits that its present base lacks are copied on top of the new
        one. Conflicts are left in the worktree, to be resolved there.

        Raises:
            SpinneyError: `conflict` if it would land in itself, if it is not ready for a move of
                its commits, or if that stopped with conflicts; the base is changed then.
        """
        state = self._store.state
        worktree = require_worktree(state, worktree_id)
        project = require_project(state, worktree.project_id)
        await check_base(self._store, project, base)
        _refuse_cycle(state, project, worktree, base)
        if not move_commits:
            await self._save_base(worktree_id, base)
            return require_worktree(self._store.state, worktree_id)
        old = worktree.base_branch or project.default_branch
        branch = await find_branch(state, worktree, base)
        path = Path(worktree.path)
        since = await find_start(path, (await self._resolve_old(project, old))[0], branch.head)
        onto = (await resolve_base(Path(project.path), base))[0]
        await self._points.save(worktree_id, "rebase", f"Moved onto {base}")
        await self._save_base(worktree_id, base)
        conflicts = await _move_commits(path, branch.head, onto, since, keeps_conflict=True)
        if conflicts:
            raise SpinneyError(
                f"Moving '{worktree.name}' onto '{base}' stopped with conflicts in "
                f"{', '.join(map(clean_line, conflicts[:5]))}. Resolve them there and continue, or "
                "abort.",
                "conflict",
            )
        return require_worktree(self._store.state, worktree_id)

    async def follow(self, record: LandingRecord) -> LandingRecord:
        """Move the worktrees that start from what has landed onto its base; a note says so.

        What cannot be moved now stays where it is, and a note says why.
        """
        notes, moved = list(record.landing.notes), dict(record.moved)
        for worktree in self._list_above(record):
            try:
                done = await self._follow(record, worktree)
            except SpinneyError as error:
                base = clean_line(worktree.base_branch or "")
                notes.append(
                    f"'{worktree.name}' still starts from '{base}', which has landed: "
                    f"{error.message} Move it onto '{record.landing.base}' then."
                )
                continue
            own = ", and its commits were moved onto it" if done.before != done.after else ""
            note = f"'{worktree.name}' lands in '{record.landing.base}' now{own}."
            moved[worktree.id] = done.model_copy(update={"note": note})
            notes.append(note)
        return record.update(moved=moved, landing_notes=notes)

    async def take_back(self, record: LandingRecord) -> list[str]:
        """Return what a landing has moved; return what a person should know of it."""
        notes = []
        for worktree_id, moved in record.moved.items():
            worktree = self._store.state.worktrees.get(worktree_id)
            if worktree is None or worktree.base_branch != moved.new_base:
                continue
            try:
                await self._save_base(worktree_id, moved.base)
                path = Path(worktree.path)
                if await take_back_rebase(path, moved.after, moved.before):
                    continue
                why = "it has changed since."
            except SpinneyError as error:
                why = error.message
            notes.append(f"'{worktree.name}' keeps its commits as they were moved: {why}")
        return notes

    async def _follow(self, record: LandingRecord, worktree: Worktree) -> MovedBranch:
        project = require_project(self._store.state, worktree.project_id)
        landing, old = record.landing, worktree.base_branch or project.default_branch
        new_base = None if landing.base == project.default_branch else landing.base
        if worktree.id in landing.worktree_ids:  # Its commits have landed as well.
            head = record.heads[worktree.id]
            await self._save_base(worktree.id, landing.base)
            return MovedBranch(base=old, new_base=new_base, before=head, after=head)
        refuse_while_archived(worktree)
        refuse_while_unsettled(worktree)
        path = Path(worktree.path)
        head = after = (await resolve_base(path, worktree.branch))[0]
        since = await find_start(path, (await self._resolve_old(project, old))[0], head)
        if not await is_ancestor(path, since, landing.after):  # Its base landed as other commits.
            await find_branch(self._store.state, worktree, landing.base)
            await self._points.save(worktree.id, "rebase", f"Moved onto {landing.base}")
            if conflicts := await _move_commits(path, head, landing.after, since):
                files = ", ".join(map(clean_line, conflicts[:5]))
                raise SpinneyError(f"its commits are in conflict with it in {files}.", "conflict")
            after = (await resolve_base(path, worktree.branch))[0]
        await self._save_base(worktree.id, landing.base)
        return MovedBranch(base=old, new_base=new_base, before=head, after=after)

    def _list_above(self, record: LandingRecord) -> Iterator[Worktree]:
        """The worktrees whose base has landed, as far as they do not follow yet."""
        branches = set(record.branches.values())
        for worktree in self._store.state.worktrees_of(record.landing.project_id, archived=True):
            if worktree.base_branch in branches:
                yield worktree

    async def _resolve_old(self, project: Project, base: str) -> list[str]:
        try:
            return await resolve_base(Path(project.path), base)
        except SpinneyError as error:
            raise SpinneyError(
                f"Its base '{clean_line(base)}' is gone, so its own commits are not known. "
                "Change the base without moving commits, then rebase it in a shell.",
                error.error_type,
            ) from error

    async def _save_base(self, worktree_id: str, base: str) -> None:
        def make_events(state: State) -> list[Event]:
            worktree = require_worktree(state, worktree_id)
            default = require_project(state, worktree.project_id).default_branch
            changed = {"base_branch": None if base == default else base}
            return [WorktreeUpdated(worktree=worktree.model_copy(update=changed))]

        await self._store.accept(make_events)


async def _move_commits(
    path: Path, head: str, onto: str, since: str, *, keeps_conflict: bool = False
) -> list[str]:
    """Rebase as `rebase_onto`, if nothing that a merge in the branch resolved is lost by that.

    What must come of it is computed first, beside the checkout.
    """
    if names := await find_in_the_way(path, onto):  # Git overwrites what it ignores.
        raise SpinneyError(f"Files there would be overwritten: {list_names(names)}.", "conflict")
    folder = Path(tempfile.gettempdir()) / f"spinney-{uuid.uuid4().hex}"
    try:
        expected = await integrate(Place(path, folder), onto, head, "rebase", "", since)
    except SpinneyError as error:
        way_out = "Its base can be changed without moving its commits."
        raise SpinneyError(f"{error.message} {way_out}", error.error_type) from error
    if expected.conflicts and not keeps_conflict:
        return [to_display_name(name) for name in expected.conflicts]
    conflicts = await rebase_onto(path, onto, since, keeps_conflict=keeps_conflict)
    if expected.commit and not conflicts:
        if await read_tree(path, "HEAD") == await read_tree(path, expected.commit):
            return []
        now = await resolve_head(path)
        await take_back_rebase(path, now, head)
        raise SpinneyError("A rebase of its commits came to other files, so it was taken back.")
    return conflicts


def describe_landed_base(base: str, new_base: str) -> str:
    """Return why nothing lands in a branch that has landed, and the next step."""
    base, new_base = clean_line(base), clean_line(new_base)
    return f"Its base '{base}' has landed in '{new_base}'. Move it onto '{new_base}' first."


def _is_own(worktree: Worktree) -> bool:
    return not worktree.keeps_branch and not worktree.adopted


def _find_worktree(state: State, project: Project, branch: str) -> Worktree | None:
    known = state.worktrees_of(project.id, archived=True)
    return next((one for one in known if one.branch == branch), None)


def _refuse_cycle(state: State, project: Project, worktree: Worktree, base: str) -> None:
    """Raise if a worktree would land in itself, in the end."""
    if worktree.session_type == "base":
        raise SpinneyError("The project's own directory has no base branch.", "conflict")
    seen: set[str] = set()
    below: str | None = base
    while below is not None and below not in seen:
        if below == worktree.branch:
            raise SpinneyError(
                f"'{clean_line(base)}' starts from '{worktree.name}' itself. Choose another base.",
                "conflict",
            )
        seen.add(below)
        found = _find_worktree(state, project, below)
        below = found.base_branch if found is not None else None
