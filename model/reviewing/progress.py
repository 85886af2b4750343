"""How much of a worktree's changes a person has decided about, and which files were viewed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from model.domain.changes import Side
from model.domain.landing import ReviewProgress
from model.git.changed_hunks import HunkedFile
from model.reviewing.verdict_file import ReviewRecord, ViewedRecord

SIDES: Final[tuple[Side, ...]] = ("unstaged", "staged", "branch")

Changes = Mapping[Side, Mapping[str, HunkedFile]]
"""The changed files of each side, by key."""


@dataclass(frozen=True, slots=True)
class _Decided:
    """The blocks that were decided about."""

    accepted: frozenset[str]
    rejected: frozenset[str]
    """Those of rejected hunks that the branch has committed."""
    reverting: frozenset[str]
    """Those of the uncommitted changes that revert them."""


def count_progress(changes: Changes, record: ReviewRecord) -> ReviewProgress:
    """Count hunks and files.

    Staged hunks are accepted, by whatever means they were staged; committed ones are if all their
    blocks were. Rejected hunks count until they are sent.
    """
    decided = _list_decided(record)
    unsent = [
        one.verdict
        for one in record.verdicts
        if one.verdict.verdict == "rejected" and not one.verdict.is_sent
    ]
    open_hunks = accepted = 0
    for side, hunk in _list_hunks(changes):
        if side == "unstaged":
            open_hunks += not hunk <= decided.reverting
        elif side == "staged" or hunk <= decided.accepted:
            accepted += not hunk <= decided.reverting
        elif not hunk & decided.rejected:
            open_hunks += 1
    keys = {key for side in SIDES for key in changes[side]}
    done = decided.accepted | decided.rejected | decided.reverting
    marks = {mark.key: mark for mark in record.viewed}
    return ReviewProgress(
        hunks=open_hunks + accepted + len(unsent),
        accepted=accepted,
        rejected=len(unsent),
        files=len(keys),
        viewed=sum(_is_done(key, changes, marks.get(key), done) for key in keys),
    )


def list_viewed(changes: Changes, record: ReviewRecord) -> Iterator[tuple[str, Side]]:
    """Yield each file that was viewed, with the sides on which it has not changed since."""
    for mark in record.viewed:
        seen = frozenset(mark.blocks)
        for side in SIDES:
            file = changes[side].get(mark.key)
            if file is not None and set(identify(file)) <= seen:
                yield mark.path, side


def identify(file: HunkedFile) -> list[str]:
    """Return what identifies a file's changes: its blocks, or the whole change without any."""
    return [block.id for block in file.blocks] or [file.digest]


def _list_decided(record: ReviewRecord) -> _Decided:
    verdicts = [(one.verdict.verdict, one) for one in record.verdicts]
    return _Decided(
        frozenset(key for verdict, one in verdicts if verdict == "accepted" for key in one.blocks),
        frozenset(key for verdict, one in verdicts if verdict == "rejected" for key in one.blocks),
        frozenset(key for _, one in verdicts for key in one.reverse_blocks),
    )


def _list_hunks(changes: Changes) -> Iterator[tuple[Side, frozenset[str]]]:
    for side in SIDES:
        for file in changes[side].values():
            for hunk in file.hunks:
                yield side, frozenset(block.id for block in hunk)


def _is_done(
    key: str, changes: Changes, mark: ViewedRecord | None, decided: frozenset[str]
) -> bool:
    """Whether each change of a file was viewed, staged or decided about."""
    known = decided.union(mark.blocks if mark is not None else ())
    return all(
        set(identify(file)) <= known
        for side in ("unstaged", "branch")
        if (file := changes[side].get(key)) is not None
    )
