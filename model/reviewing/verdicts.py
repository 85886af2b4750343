"""A person's verdicts about the changes of worktrees, and the files that they viewed."""

import asyncio
import base64
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import make_visible
from model.domain.changes import Side
from model.domain.code_reviews import HunkVerdict, Verdict
from model.domain.events.landing import ReviewUpdated
from model.domain.landing import ReviewProgress
from model.domain.worktrees import Worktree
from model.git.changed_hunks import HunkedFile, parse_file, read_hunks
from model.git.changes import find_changed_file, find_compared_commits, read_patch
from model.git.status import make_fingerprint
from model.git.working_tree import read_working_tree
from model.reviewing import hunks, verdict_file
from model.reviewing.hunks import ChosenHunk
from model.reviewing.progress import SIDES, Changes, count_progress, identify, list_viewed
from model.reviewing.verdict_file import ReviewRecord, VerdictRecord, ViewedRecord
from model.store.store import Store
from model.worktrees import require_project, require_worktree
from model.worktrees.recovery import RecoveryPoints

_MAX_REASON: Final = 4_000
"""Characters of the reason of a rejection."""
_MAX_SEEN: Final = 5_000
"""Blocks of a file that count as viewed; beyond, those seen first are forgotten."""
_MAX_TEXT: Final = 20_000
"""Characters of a hunk that are kept to be shown and sent."""


@dataclass(frozen=True, slots=True)
class ReviewedChanges:
    """What is known of a review at one moment."""

    progress: ReviewProgress
    verdicts: Sequence[HunkVerdict]
    """Newest first."""
    viewed: Sequence[tuple[str, Side]]


@dataclass(slots=True)
class _Known:
    """What was read last of a worktree's changes."""

    fingerprint: str
    changes: Changes


class Verdicts:
    """Records verdicts and counts them. Belongs to the core's event loop.

    Args:
        store: The store to read worktrees from and publish changes in.
        folder: A folder for each worktree, with its verdicts and rejected hunks.
        points: Keeps a worktree's uncommitted changes before a hunk is reverted.
    """

    def __init__(self, store: Store, folder: Path, points: RecoveryPoints) -> None:
        self._store = store
        self._folder = folder
        self._points = points
        self._locks: dict[str, asyncio.Lock] = {}
        self._known: dict[str, _Known] = {}

    async def read(self, worktree_id: str) -> ReviewedChanges:
        """Return the verdicts, the files viewed, and the progress. Changes nothing."""
        worktree = require_worktree(self._store.state, worktree_id)
        changes = await self._read_changes(worktree)
        record = await self._load(worktree_id)
        return ReviewedChanges(
            await asyncio.to_thread(count_progress, changes, record),
            [one.verdict for one in reversed(record.verdicts)],
            [*list_viewed(changes, record)],
        )

    async def read_progress(self, worktree_id: str) -> ReviewProgress:
        """Return how much of a worktree's changes was decided about.

        Costs one `git status` while nothing has changed, and three diffs otherwise. Raises
        `SpinneyError` as git does.
        """
        return (await self.read(worktree_id)).progress

    async def decide(
        self, worktree_id: str, side: Side, path: str, hunk: str, verdict: Verdict, reason: str,
        seen: str | None,
    ) -> HunkVerdict:  # fmt: skip
        """Accept or reject a hunk. Raises `SpinneyError`, and nothing has changed then."""
        if len(reason) > _MAX_REASON:
            raise SpinneyError(f"The reason is longer than {_MAX_REASON:,} characters.")
        if side == "staged":
            raise SpinneyError(
                "Staged hunks are accepted. Unstage this one first to reject it.", "conflict"
            )
        async with self._lock(worktree_id):
            worktree, base = self._locate(worktree_id)
            root = Path(worktree.path)
            chosen = await hunks.find_hunk(root, base, side, path, hunk, seen)
            record = _make_record(side, path, chosen, verdict, make_visible(reason).strip())
            if verdict == "rejected":
                await self._points.save(worktree_id, "discard", f"Rejected a hunk of {path}")
                kept = self._kept(worktree_id)
                discard = await hunks.revert(root, kept, path, side, hunk, chosen)
                record = _with_verdict(record, discard_id=discard)
            elif side == "unstaged":
                before, after = await hunks.stage(root, path, hunk, chosen)
                entries = {
                    "before": verdict_file.to_records(before),
                    "after": verdict_file.to_records(after),
                }
                record = record.model_copy(update=entries)
            try:
                await self._change(worktree_id, lambda known: [*known, record])
            except SpinneyError:
                await self._take_back(worktree, record)
                raise
        return record.verdict

    async def undo(self, worktree_id: str, verdict_id: str | None) -> HunkVerdict:
        """Take the newest verdict back, or the one of this id, and return it."""
        async with self._lock(worktree_id):
            worktree, _ = self._locate(worktree_id)
            known = (await self._load(worktree_id)).verdicts
            found = (one for one in reversed(known) if verdict_id in (None, one.verdict.id))
            record = next(found, None)
            if record is None:
                raise SpinneyError("There is no verdict to take back here.", "not_found")
            await self._take_back(worktree, record)
            await self._change(
                worktree_id,
                lambda known: [one for one in known if one.verdict.id != record.verdict.id],
            )
        return record.verdict

    async def mark_viewed(self, worktree_id: str, path: str, side: Side, viewed: bool) -> None:
        """Mark a file as viewed until it has other changes, or remove the mark."""
        async with self._lock(worktree_id):
            worktree, base = self._locate(worktree_id)
            root = Path(worktree.path)
            marks: list[ViewedRecord] = []
            if viewed:
                file = await find_changed_file(root, side, path, base)
                patch, _ = await read_patch(root, side, file, base)
                seen = await asyncio.to_thread(parse_file, patch.raw)
                marks = [ViewedRecord(path=path, key=seen.key, blocks=identify(seen))]
            record = await self._load(worktree_id)
            others = [one for one in record.viewed if one.path != path]
            if marks:
                marks = [_join(marks[0], [one for one in record.viewed if one.path == path])]
            await self._save(worktree_id, record.model_copy(update={"viewed": others + marks}))

    async def list_unsent(self, worktree_id: str) -> list[HunkVerdict]:
        """Return the rejections that no session got yet, oldest first."""
        require_worktree(self._store.state, worktree_id)
        record = await self._load(worktree_id)
        rejected = (one.verdict for one in record.verdicts if one.verdict.verdict == "rejected")
        return [one for one in rejected if not one.is_sent]

    async def note_sent(self, worktree_id: str, verdict_ids: Iterable[str]) -> None:
        """Note that a session got these rejections."""
        sent = frozenset(verdict_ids)
        async with self._lock(worktree_id):
            await self._change(
                worktree_id,
                lambda known: [
                    _with_verdict(one, is_sent=True) if one.verdict.id in sent else one
                    for one in known
                ],
            )

    async def _take_back(self, worktree: Worktree, record: VerdictRecord) -> None:
        root, verdict = Path(worktree.path), record.verdict
        if verdict.discard_id is not None:
            kept = self._kept(worktree.id)
            await hunks.bring_back(root, kept, verdict.discard_id, record.raw_patch)
        elif record.after:
            before, after = map(verdict_file.to_entries, (record.before, record.after))
            await hunks.unstage(root, verdict.path, before, after, record.raw_patch)

    async def _read_changes(self, worktree: Worktree) -> Changes:
        root, base = Path(worktree.path), self._locate(worktree.id)[1]
        tree, printed = await read_working_tree(root)
        status = await asyncio.to_thread(make_fingerprint, root, printed, tree)
        try:
            compared = await find_compared_commits(root, "branch", base)
        except SpinneyError:
            compared = ()  # the base is gone, or has no common commit: nothing to compare with
        fingerprint = f"{status} {compared}"
        known = self._known.get(worktree.id)
        if known is None or known.fingerprint != fingerprint:
            sides: dict[Side, Mapping[str, HunkedFile]] = {side: {} for side in SIDES}
            for side in SIDES if compared else SIDES[:2]:
                sides[side] = await read_hunks(root, side, base)
            self._known[worktree.id] = known = _Known(fingerprint, sides)
            self._known = {
                key: one for key, one in self._known.items() if key in self._store.state.worktrees
            }
        return known.changes

    def _locate(self, worktree_id: str) -> tuple[Worktree, str]:
        """Return the worktree, and the branch that it is compared with."""
        worktree = require_worktree(self._store.state, worktree_id)
        project = require_project(self._store.state, worktree.project_id)
        return worktree, worktree.base_branch or project.default_branch

    def _lock(self, worktree_id: str) -> asyncio.Lock:
        return self._locks.setdefault(worktree_id, asyncio.Lock())

    def _kept(self, worktree_id: str) -> Path:
        return self._folder / worktree_id / "rejected"

    async def _load(self, worktree_id: str) -> ReviewRecord:
        return await asyncio.to_thread(verdict_file.load, self._folder / worktree_id)

    async def _save(self, worktree_id: str, record: ReviewRecord) -> None:
        await asyncio.to_thread(verdict_file.save, self._folder / worktree_id, record)
        self._store.record(ReviewUpdated(worktree_id=worktree_id))

    async def _change(
        self, worktree_id: str, change: Callable[[list[VerdictRecord]], list[VerdictRecord]]
    ) -> None:
        record = await self._load(worktree_id)
        changed = record.model_copy(update={"verdicts": change(record.verdicts)})
        await self._save(worktree_id, changed)


def _make_record(
    side: Side, path: str, chosen: ChosenHunk, verdict: Verdict, reason: str
) -> VerdictRecord:
    text = chosen.text
    if len(text) > _MAX_TEXT:
        text = f"{text[:_MAX_TEXT]}\n… the rest is left out\n"
    is_reverted = verdict == "rejected" and side == "branch"
    return VerdictRecord(
        verdict=HunkVerdict(
            id=str(uuid.uuid4()),
            path=path,
            side=side,
            verdict=verdict,
            reason=reason,
            text=text,
            decided_at=time.time(),
        ),
        blocks=[block.id for block in chosen.blocks],
        reverse_blocks=[block.reverse_id for block in chosen.blocks if is_reverted],
        patch=base64.b64encode(chosen.patch).decode(),
    )


def _with_verdict(record: VerdictRecord, **fields: object) -> VerdictRecord:
    changed = record.verdict.model_copy(update=fields)
    return record.model_copy(update={"verdict": changed})


def _join(mark: ViewedRecord, earlier: Iterable[ViewedRecord]) -> ViewedRecord:
    """Return the mark with what was seen of the file before, as on another side."""
    seen = [key for one in earlier if one.key == mark.key for key in one.blocks]
    return mark.model_copy(update={"blocks": [*dict.fromkeys(seen + mark.blocks)][-_MAX_SEEN:]})
