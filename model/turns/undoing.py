"""Undo what turns did to the files, preview it, and take an undo back."""

import asyncio
import os
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal
from weakref import WeakValueDictionary

from model.base.errors import SpinneyError
from model.base.plural import count
from model.domain.events.sessions import TurnRecorded
from model.domain.tool_uses import Edit, list_edits
from model.domain.turns import Turn, Undo, UndoScope
from model.domain.worktrees import Worktree
from model.git.changes import to_display_name
from model.git.snapshots import capture, chain, files, plumbing, reverse
from model.git.snapshots.chain import Reason, SnapshotNote
from model.git.snapshots.reverse import Change, Choice, ReversedFile
from model.git.snapshots.reversible import read_reversible
from model.git.snapshots.trees import replace_entries
from model.git.submodules import find_changed_since
from model.git.working_tree import Entry
from model.store.store import Store
from model.turns.recorder import TurnRecorder, read_turn_blocks

_MAX_NAMED: Final = 5
"""Files that an error message names."""


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """What an undo does to each file, by the name that clients see."""

    files: dict[str, ReversedFile]
    others: set[str] = field(default_factory=set)
    """Files that others changed at the same time; they are kept unless chosen."""
    modes: dict[str, int] = field(default_factory=dict)
    """Permissions other than 644 and 755 of files that come back."""
    submodules: set[str] = field(default_factory=set)
    """Submodules that have changed since the turns began, which stay as they are."""


class TurnUndoer:
    """Undoes turns in the worktrees. Hold `lock` from selecting turns until they are recorded."""

    def __init__(self, store: Store, recorder: TurnRecorder) -> None:
        self._store = store
        self._recorder = recorder
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, worktree_id: str) -> asyncio.Lock:
        """Return the lock that an undo or redo in this worktree holds."""
        return self._locks.setdefault(worktree_id, asyncio.Lock())

    async def select(
        self, turn_id: str, through: str | None, what: UndoScope = "files"
    ) -> list[Turn]:
        """Return the turns from `turn_id` to `through` that can be undone, the newest first.

        Raises `not_found`; `conflict` if there is nothing left to undo.
        """
        first = await self.find_turn(turn_id)
        last = first if through is None else await self.find_turn(through)
        if last.session_id != first.session_id or last.number < first.number:
            raise SpinneyError("Invalid field 'through': it is no later turn of the session.")
        await self._recorder.settle(first.session_id)
        turns = [
            turn
            for turn in await self._store.turns(first.session_id, first.number, last.number + 1)
            if _can_undo(turn, what)
        ]
        if not turns:
            raise SpinneyError("This turn was undone already.", "conflict")
        if turns[-1].ended_at is None:
            raise SpinneyError(
                "The turn has not ended yet. Stop it, or answer what it waits for.", "conflict"
            )
        return turns[::-1]

    async def find_turn(self, turn_id: str) -> Turn:
        """Return a turn. Raises `not_found`."""
        turn = await self._store.turn(turn_id)
        if turn is None:
            raise SpinneyError("There is no such turn.", "not_found")
        return turn

    async def preview(self, worktree: Worktree, turns: Sequence[Turn]) -> UndoPlan:
        """Return what undoing these turns, the newest first, would do to the files."""
        root = Path(worktree.path)
        return await self._plan(root, turns, (await capture.write_tree(root)).tree)

    async def undo(
        self,
        worktree: Worktree,
        turns: Sequence[Turn],
        what: UndoScope,
        choices: Mapping[str, Choice],
    ) -> Undo:
        """Take back what these turns, the newest first, did to the files.

        All that the undo needs is stored first, then it is noted, and then files are written. What
        is interrupted from there on is completed by undoing again.

        Raises `conflict` for a file with a conflict and without a choice, when nothing is done, and
        for files that were saved meanwhile, when all others are undone.
        """
        done = [turn for turn in turns if turn.undone is None]
        began = turns[0].undo_began
        if began:  # The snapshot is without what the interrupted undo left.
            written = (await self._plan(Path(worktree.path), done, began)).files.values()
            paths = [file.path for file in written]
            await asyncio.to_thread(files.remove_orphans, Path(worktree.path), paths)
        with _changing_nothing():
            before = await self._take_snapshot(worktree, turns[0], "undo")
            plan = await self._plan(Path(worktree.path), done, before)
            decided = _decide(plan, choices)
            after = await self._store_result(worktree, turns[0], before, decided)
            if began:
                before = await self._add_undone(Path(worktree.path), done, plan, began, before)
        noted = turns[0].model_copy(update={"undo_began": began or before})
        await self._store.accept(TurnRecorded(turn=noted))
        await self._apply(worktree, decided, plan.modes, "undo")
        return make_undo(turns, what).model_copy(
            update={
                "before_tree": before,
                "after_tree": after,
                "submodules": sorted(plan.submodules),
            }
        )

    async def redo(self, worktree: Worktree, undo: Undo, choices: Mapping[str, Choice]) -> None:
        """Take back an undo of files; what was changed since stays. Raises as `undo`."""
        if undo.before_tree == undo.after_tree:
            return
        with _changing_nothing():
            now = await self._take_snapshot(worktree, None, "redo")
            plan = await _plan_redo(Path(worktree.path), undo, now)
        await self._apply(worktree, _decide(plan, choices), plan.modes, "redo")

    async def preview_redo(self, worktree: Worktree, undo: Undo) -> UndoPlan:
        """Return what taking back an undo would do to the files."""
        if undo.before_tree == undo.after_tree:
            return UndoPlan({})
        root = Path(worktree.path)
        return await _plan_redo(root, undo, (await capture.write_tree(root)).tree)

    # Internal ----------------------------------------------------------------------------------

    async def _plan(self, root: Path, turns: Sequence[Turn], now: str) -> UndoPlan:
        changes: list[Change] = []
        modes: dict[str, int] = {}
        others: set[str] = set()
        mixed: set[str] = set()
        moved: set[str] = set()
        for turn in turns:
            if not turn.before_tree or not turn.after_tree:
                raise SpinneyError(
                    f"The files of turn {turn.number} cannot be undone: "
                    f"{turn.problem or 'there is no snapshot of them.'}",
                    "conflict",
                )
            reversible = await read_reversible(root, turn.before_tree, turn.after_tree)
            change = reversible.files
            modes |= reversible.modes
            moved |= reversible.submodules
            listed = {file.path: file.others for file in turn.files}
            # Of very many files some are not listed.
            is_shared = any(listed.values())
            others |= {path for path in change if listed.get(to_display_name(path), is_shared)}
            if turn.shared:
                change = await self._leave_out_others(root, turn, change, mixed)
            changes.append(change)
        planned = _by_name(await reverse.plan_reverse(root, changes, now, others))
        for path in mixed & {file.path for file in planned.values() if file.now != file.before}:
            name = to_display_name(path)
            planned[name] = replace(planned[name], action="conflict", result=planned[name].now)
        return UndoPlan(planned, others, modes, await _find_submodules(root, turns, moved))

    async def _add_undone(
        self, root: Path, turns: Sequence[Turn], plan: UndoPlan, began: str, before: str
    ) -> str:
        """Return the snapshot `before`, without what an interrupted undo has written.

        So a redo brings back all of it.
        """
        earlier = (await self._plan(root, turns, began)).files
        written = {
            plumbing.to_tree_path(file.path): earlier[name].now if name in earlier else None
            for name, file in plan.files.items()
            if _was_written(earlier.get(name), file)
        }
        return await replace_entries(root, before, written)

    async def _leave_out_others(
        self, root: Path, turn: Turn, change: Change, mixed: set[str]
    ) -> Change:
        """Take the agent's own edits back from the content after the turn.

        While others worked in the same files, the content before the turn lacks their changes too.
        Files whose changes cannot be separated are added to `mixed`.
        """
        edits: dict[str, list[Edit]] = {}
        for edit in list_edits(await read_turn_blocks(self._store, turn)):
            edits.setdefault(edit.path, []).append(edit)
        found = dict(change)
        for path, (before, after) in change.items():
            own = edits.get(to_display_name(path))
            if own and before is not None and after is not None:
                without_edits = await _reverse_edits(root, after, own)
                if without_edits is None:
                    mixed.add(path)
                else:
                    found[path] = without_edits, after
        return found

    async def _store_result(
        self, worktree: Worktree, turn: Turn, before: str, decided: Sequence[ReversedFile]
    ) -> str:
        """Store the tree that the worktree has after an undo, and return it.

        It is not read from the worktree: what others save meanwhile is no part of the undo.
        """
        root, written = Path(worktree.path), reverse.list_written(decided)
        changes = {plumbing.to_tree_path(path): entry for path, entry in written.items()}
        after = await replace_entries(root, before, changes)
        if after != before:
            await chain.add_tree(root, _make_note(worktree, turn, "request"), after)
        return after

    async def _apply(
        self,
        worktree: Worktree,
        decided: Sequence[ReversedFile],
        modes: Mapping[str, int],
        act: Literal["undo", "redo"],
    ) -> None:
        self._recorder.note_company(worktree.id)
        try:
            left = await reverse.apply_reverse(Path(worktree.path), decided, modes)
        except SpinneyError as error:
            raise SpinneyError(
                f"{error.message} The {act} is not complete: some files may be changed already. "
                f"Once that is solved, {act} again to complete it.",
                error.error_type,
            ) from error
        finally:
            # Turns that have begun meanwhile.
            self._recorder.note_company(worktree.id)
        if left:
            raise SpinneyError(
                f"{files.describe_left(left)} Everything else is done. To take that in as well, "
                f"{act} again.",
                "conflict",
            )

    async def _take_snapshot(self, worktree: Worktree, turn: Turn | None, reason: Reason) -> str:
        note = _make_note(worktree, turn, reason)
        return (await chain.take_snapshot(Path(worktree.path), note)).tree


@contextmanager
def _changing_nothing() -> Iterator[None]:
    """Say with what git reports, such as a full disk, that nothing was done yet."""
    try:
        yield
    except SpinneyError as error:
        if error.error_type != "git_error":
            raise
        raise SpinneyError(
            f"Nothing was changed, because the files could not be saved first: {error.message}",
            "git_error",
        ) from error


def _make_note(worktree: Worktree, turn: Turn | None, reason: Reason) -> SnapshotNote:
    return SnapshotNote(
        reason,
        session_id=turn.session_id if turn else "",
        worktree_id=worktree.id,
        worktree_name=worktree.name,
    )


def make_undo(turns: Sequence[Turn], what: UndoScope) -> Undo:
    """Return the record of an undo that changes no files."""
    ids = [turn.id for turn in turns]
    return Undo(id=str(uuid.uuid4()), at=time.time(), what=what, turn_ids=ids)


def _can_undo(turn: Turn, what: UndoScope) -> bool:
    return turn.undone is None or (what != "files" and turn.undone.what == "files")


def _was_written(earlier: ReversedFile | None, file: ReversedFile) -> bool:
    """Whether a file is what an undo made of it; `earlier` is what that was going to do."""
    if earlier is None:  # It did not exist.
        return file.now == file.before
    results = [earlier.result, earlier.before]
    results += [earlier.markers] if earlier.markers else []
    return file.now != earlier.now and file.now in results


def _by_name(planned: Sequence[ReversedFile]) -> dict[str, ReversedFile]:
    return {to_display_name(file.path): file for file in planned}


async def _plan_redo(root: Path, undo: Undo, now: str) -> UndoPlan:
    change = await read_reversible(root, undo.before_tree, undo.after_tree)
    planned = await reverse.plan_reverse(root, [change.files], now)
    return UndoPlan(_by_name(planned), modes=change.modes)


async def _find_submodules(root: Path, turns: Sequence[Turn], moved: set[str]) -> set[str]:
    """Return the submodules that were moved, or have changed since the turns began."""
    began = min((turn.started_at for turn in turns), default=time.time())
    inside = await find_changed_since(root, began)
    return {to_display_name(name) for name in moved.union(inside)}


def _decide(plan: UndoPlan, choices: Mapping[str, Choice]) -> list[ReversedFile]:
    """Apply a person's choices. Raises `conflict` for a conflict without one."""
    for name, choice in choices.items():
        if name in plan.submodules and choice == "keep":
            continue
        if name not in plan.files:
            raise SpinneyError(f"Invalid field 'choices': the turn did not change '{name[:200]}'.")
    decided = [
        file.choose(choices[name]) if name in choices else file for name, file in plan.files.items()
    ]
    _refuse_conflicts(decided)
    return decided


def _refuse_conflicts(planned: Sequence[ReversedFile]) -> None:
    names = [to_display_name(file.path) for file in planned if file.action == "conflict"]
    if names:
        more = ", …" if len(names) > _MAX_NAMED else ""
        raise SpinneyError(
            f"{count(len(names), 'file')} changed since in the same place: "
            f"{', '.join(names[:_MAX_NAMED])}{more}. Choose for each whether to keep it, to take "
            "the old content, or to get both with conflict markers.",
            "conflict",
        )


async def _reverse_edits(root: Path, after: Entry, edits: Sequence[Edit]) -> Entry | None:
    """Return a content without these edits, the last of which was made last.

    `None` if one of them is not in it exactly once.
    """
    text = os.fsdecode(await files.read_blob(root, after.object_id))
    for edit in reversed(edits):
        if not edit.new or text.count(edit.new) != 1:
            return None
        text = text.replace(edit.new, edit.old)
    stored = await plumbing.run(
        root, "hash-object", "-w", "--no-filters", "--stdin", stdin=os.fsencode(text)
    )
    return Entry(after.mode, stored.stdout)
