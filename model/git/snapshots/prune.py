"""Delete recovery points and snapshots that are too old or too many. Git frees the space later."""

import logging
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from model.base.errors import SpinneyError
from model.git.run import git
from model.git.snapshots.chain import (
    RECOVERY_REFS,
    WORKTREE_REFS,
    Snapshot,
    SnapshotNote,
    chain_ref,
    commit_tree,
)
from model.git.snapshots.own_refs import (
    delete_ref,
    find_damaged,
    list_refs,
    read_last_change,
    remove_damaged,
    set_ref,
)
from model.git.snapshots.recovery import StoredPoint, delete_point, list_points

_log = logging.getLogger(__name__)

_SUBJECT = "Snapshot: "
_DAY = 86400.0


async def prune_points(root: Path, cutoff: float, max_bytes: float) -> int:
    """Delete points from before `cutoff`, then the oldest ones above `max_bytes`.

    The newest point of each deleted worktree is not counted as too much, only as too old. Returns
    the number of deleted points.
    """
    points = (await list_points(root)).points
    old = [point for point in points if point.snapshot.note.created_at < cutoff]
    kept = points[: len(points) - len(old)]
    too_many = _find_too_many(kept, max_bytes)
    for point in [*old, *too_many]:
        await delete_point(root, point.id)
    return len(old) + len(too_many)


def _find_too_many(newest_first: list[StoredPoint], max_bytes: float) -> list[StoredPoint]:
    last_of_deleted: set[str] = set()
    optional = []
    total = 0
    for point in newest_first:
        note = point.snapshot.note
        total += point.facts.size_bytes
        if note.reason == "delete" and note.worktree_id not in last_of_deleted:
            last_of_deleted.add(note.worktree_id)
        else:
            optional.append(point)
    found = []
    while total > max_bytes and optional:
        found.append(optional.pop())
        total -= found[-1].facts.size_bytes
    return found


async def remove_damaged_refs(root: Path, cutoff: float, known_worktrees: Collection[str]) -> None:
    """Delete refs that stand for nothing, with which `git gc` of the repository would fail.

    Recovery points stay until `cutoff`, as whole ones do, and chains of known worktrees until their
    next snapshot: `get_problems` names both.
    """
    known = {chain_ref(worktree_id) for worktree_id in known_worktrees}
    for ref in await find_damaged(root):
        is_recent = ref.startswith(RECOVERY_REFS) and await read_last_change(root, ref) >= cutoff
        if not is_recent and ref not in known:
            _log.warning("the damaged ref %s in %s is deleted", ref, root)
            await remove_damaged(root, ref)


async def shorten_chains(root: Path, cutoff: float, known_worktrees: Collection[str]) -> None:
    """Drop snapshots from before `cutoff` from the chains of all worktrees.

    Of a known worktree the newest snapshot always stays. A chain is rewritten only once its oldest
    snapshot is a day too old, since that starts a process for each snapshot that stays.
    """
    known = {chain_ref(worktree_id) for worktree_id in known_worktrees}
    for ref in (await list_refs(root, WORKTREE_REFS)).objects:
        try:
            links = await _read_chain(root, ref)
        except SpinneyError as error:
            _log.warning("the chain %s in %s was not shortened: %s", ref, root, error.message)
            continue
        if not links or links[-1].snapshot.note.created_at >= cutoff - _DAY:
            continue
        kept = [link for link in links if link.snapshot.note.created_at >= cutoff]
        if not kept and ref not in known:
            await delete_ref(root, ref)
        elif len(links) > 1:
            await _rewrite(root, ref, links[0], kept or links[:1])


@dataclass(frozen=True, slots=True)
class _Link:
    """A snapshot of a chain, with its message and its parents but the first."""

    snapshot: Snapshot
    message: str
    depends_on: list[str]


async def _read_chain(root: Path, ref: str) -> list[_Link]:
    """Return the snapshots of a chain, newest first."""
    shown = await git(
        root, "log", "--first-parent", "--no-show-signature", "--no-mailmap", "--encoding=UTF-8",
        "--format=%H%x00%T%x00%P%x00%B%x00", "--end-of-options", ref, "--", timeout=120,
    )  # fmt: skip
    fields = shown.stdout.split("\0")
    links = []
    for commit, tree, parents, message in zip(
        fields[::4], fields[1::4], fields[2::4], fields[3::4], strict=False
    ):
        if not message.startswith(_SUBJECT):
            break  # The commit that was checked out when the chain began.
        snapshot = Snapshot(commit.strip(), tree, SnapshotNote.from_message(message))
        links.append(_Link(snapshot, message, parents.split()[1:]))
    return links


async def _rewrite(root: Path, ref: str, newest: _Link, kept: list[_Link]) -> None:
    """Make the chain again: a parent cannot be taken from a commit."""
    previous = ""
    for link in reversed(kept):
        parents = [previous or link.snapshot.note.commit, *link.depends_on]
        previous = await commit_tree(
            root, link.snapshot.tree, [parent for parent in parents if parent], link.message
        )
    await set_ref(root, ref, previous, newest.snapshot.commit)
