"""The refs of snapshots: a chain for each worktree, and a ref for each recovery point.

A snapshot is a commit whose first parent is the snapshot before it, or the commit that was checked
out when the chain began. Further parents keep what the snapshot depends on from `git gc`.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from model.base.errors import SpinneyError
from model.base.git_layout import find_git_directories
from model.base.text import clean_line
from model.domain.recovery import SnapshotReason
from model.git.run import git
from model.git.snapshots import plumbing
from model.git.snapshots.capture import CapturedTree, capture_tree
from model.git.snapshots.own_refs import OWN_REFS, find_file, remove_damaged, set_ref
from model.git.snapshots.reading import KnownFile
from model.git.snapshots.state import WorktreeState

WORKTREE_REFS: Final = OWN_REFS + "worktrees/"
RECOVERY_REFS: Final = OWN_REFS + "recovery/"

Reason = SnapshotReason

_SEPARATOR: Final = ": "
_MAX_LOOSE: Final = 24
"""Snapshots whose objects are left loose."""
_PACKING: Final = ("-c", "core.bigFileThreshold=1m")
"""Deltas of large files would take long."""
_MAX_MEMORIES: Final = 32
"""Chains whose last snapshot is remembered."""


@dataclass(frozen=True, slots=True)
class SnapshotNote:
    """What the message of a snapshot says."""

    reason: Reason
    session_id: str = ""
    turn_id: str = ""
    worktree_id: str = ""
    worktree_name: str = ""
    branch: str = ""
    commit: str = ""
    """The commit that was checked out."""
    normal: str = ""
    """The tree as git would store it, if that differs."""
    created_at: float = 0.0
    """Seconds since 1970."""

    def to_message(self) -> str:
        """Return the commit message: a subject and a line for each field."""
        subject = f"Snapshot: {self.reason}"
        if self.worktree_name:
            subject += f" in {clean_line(self.worktree_name)}"
        lines = [
            f"{name}{_SEPARATOR}{clean_line(str(value))}"
            for name in self.__dataclass_fields__
            if (value := getattr(self, name))
        ]
        return "\n".join([subject, "", *lines, ""])

    @classmethod
    def from_message(cls, message: str) -> "SnapshotNote":
        """Read a note; unknown lines of a newer version are ignored."""
        pairs = (line.split(_SEPARATOR, 1) for line in message.split("\n")[1:] if ": " in line)
        values = {name: value for name, value in pairs if name in cls.__dataclass_fields__}
        created_at = float(values.pop("created_at", "0") or 0)
        reason = values.pop("reason", "request")
        return cls(reason=reason, created_at=created_at, **values)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot that is stored in the repository."""

    commit: str
    tree: str
    note: SnapshotNote
    is_new: bool = True
    """False if nothing had changed since the snapshot before it."""
    state: WorktreeState | None = None
    """What it has beside the files, if it was captured just now."""


def chain_ref(worktree_id: str) -> str:
    """Return the ref of a worktree's chain."""
    return WORKTREE_REFS + "".join(c if c.isalnum() or c in "-_" else "-" for c in worktree_id)


_locks: WeakValueDictionary[tuple[asyncio.AbstractEventLoop, str], asyncio.Lock] = (
    WeakValueDictionary()
)


def _lock(ref: str) -> asyncio.Lock:
    return _locks.setdefault((asyncio.get_running_loop(), ref), asyncio.Lock())


async def take_snapshot(
    root: Path,
    note: SnapshotNote,
    *,
    complete: bool = False,
    include_ignored: bool = False,
    besides: Sequence[str] = (),
) -> Snapshot:
    """Add a snapshot of the worktree at `root` to its chain, unless nothing has changed.

    Args:
        root: The worktree.
        note: Why it is made; `worktree_id` names the chain.
        complete, include_ignored, besides: As for `capture.capture_tree`.

    Raises:
        SpinneyError: What git reports, such as a full disk; the chain is unchanged then.
    """
    ref = chain_ref(note.worktree_id)
    async with _lock(ref):
        last = await _recall(root, ref)
        previous = last.snapshot if last else await _read_tip(root, ref)
        captured = await capture_tree(
            root,
            last.files if last else {},
            complete=complete,
            include_ignored=include_ignored,
            besides=besides,
        )
        kept = last.kept if last else []
        if previous is not None and previous.tree == captured.tree:
            taken = replace(previous, is_new=False, state=captured.state)
        else:
            known = {captured.state.commit, *kept}
            kept = await _find_existing(root, captured.operation_commits, known)
            taken = await _add(root, ref, previous, captured, kept, note)
        packed = previous.commit if previous else captured.state.commit or ""
        loose = (last.loose if last else 0) + taken.is_new
        memory = _Memory(taken, captured.known, kept, last.packed if last else packed, loose)
        _remember(root, ref, memory)
        return taken


async def add_tree(root: Path, note: SnapshotNote, tree: str) -> None:
    """Add a tree to a chain that the worktree is going to have, so that it is stored and kept.

    Raises as `take_snapshot`.
    """
    ref = chain_ref(note.worktree_id)
    async with _lock(ref):
        last = await _recall(root, ref)
        previous = last.snapshot if last else await read_snapshot(root, ref)
        created_at = note.created_at or time.time()
        branch, commit = (previous.note.branch, previous.note.commit) if previous else ("", "")
        full = replace(note, branch=branch, commit=commit, created_at=created_at)
        parents = [previous.commit] if previous else []
        added = Snapshot(await commit_tree(root, tree, parents, full.to_message()), tree, full)
        await set_ref(root, ref, added.commit, parents[0] if parents else "")
        if last is not None:
            _remember(root, ref, replace(last, snapshot=added, loose=last.loose + 1))


async def pack_chain(root: Path, worktree_id: str) -> None:
    """Pack the objects of a chain's newest snapshots, if there are many.

    Each changed file and folder is a file of its own at first, of at least one block on the disk.
    """
    ref = chain_ref(worktree_id)
    memory = await _recall(root, ref)
    if memory is None or memory.loose < _MAX_LOOSE:
        return
    tip = memory.snapshot.commit
    _remember(root, ref, replace(memory, packed=tip, loose=0))
    directories = await asyncio.to_thread(find_git_directories, root)
    if directories is not None:
        folder = directories.common_dir / "objects" / "pack"
        revisions = f"{tip}\n^{memory.packed}\n" if memory.packed else f"{tip}\n"
        with suppress(SpinneyError):  # Everything stays as it is.
            await plumbing.run(
                root, *_PACKING, "pack-objects", "--revs", "--quiet", "--non-empty",
                "--delta-base-offset", "--threads=1", str(folder / "pack"),
                stdin=revisions.encode(),
            )  # fmt: skip
            await plumbing.run(root, "prune-packed", "--quiet")


@dataclass(frozen=True, slots=True)
class _Memory:
    """The last snapshot of a chain, and the files that the next one need not read."""

    snapshot: Snapshot
    files: dict[str, KnownFile]
    kept: list[str]
    """The commits of a merge or rebase in progress that the snapshot keeps."""
    packed: str
    """The newest commit that is not among the loose objects of the chain."""
    loose: int
    """Snapshots since then."""


_memories: OrderedDict[tuple[Path, str], _Memory] = OrderedDict()


async def _recall(root: Path, ref: str) -> _Memory | None:
    """Return what is known of a chain's last snapshot, if the ref still keeps it."""
    memory = _memories.get((root, ref))
    if memory is None:
        return None
    tip = await asyncio.to_thread(_read_loose_ref, root, ref)
    return memory if tip == memory.snapshot.commit else None


def _remember(root: Path, ref: str, memory: _Memory) -> None:
    _memories[root, ref] = memory
    _memories.move_to_end((root, ref))
    if len(_memories) > _MAX_MEMORIES:
        _memories.popitem(last=False)


def _read_loose_ref(root: Path, ref: str) -> str:
    path = find_file(root, ref)
    try:
        return path.read_text().strip() if path else ""
    except (OSError, ValueError):
        return ""


async def read_snapshot(root: Path, revision: str) -> Snapshot | None:
    """Return the snapshot that a ref or a commit id stands for; `None` if there is none."""
    shown = await git(
        root, "log", "-1", "--no-show-signature", "--no-mailmap", "--encoding=UTF-8",
        "--format=%H%n%T%n%B", "--end-of-options", revision, "--", check=False,
    )  # fmt: skip
    if shown.returncode != 0:
        return None
    commit, tree, message = (*shown.stdout.split("\n", 2), "")[:3]
    return Snapshot(commit, tree, SnapshotNote.from_message(message), is_new=False)


async def _read_tip(root: Path, ref: str) -> Snapshot | None:
    """Return the last snapshot of a chain; `None` for a new one.

    A damaged chain begins again, with what git had packed of it.
    """
    tip = await read_snapshot(root, ref)
    has_file = tip is None and await asyncio.to_thread(find_file, root, ref) is not None
    return await read_snapshot(root, ref) if has_file and await remove_damaged(root, ref) else tip


async def _add(
    root: Path,
    ref: str,
    previous: Snapshot | None,
    captured: CapturedTree,
    kept: list[str],
    note: SnapshotNote,
) -> Snapshot:
    head = captured.state.commit
    parents = [previous.commit] if previous else []
    if head and (previous is None or previous.note.commit != head):
        parents.append(head)
    parents += kept
    created_at = note.created_at or time.time()
    objects, normal = captured.objects, captured.state.normal_tree or ""
    if normal:
        message = "The files as git stores them"
        parents.append(objects.add_commit(normal, [], message, int(created_at)))
    full = replace(
        note,
        branch=captured.state.branch or "",
        commit=head or "",
        normal=normal,
        created_at=created_at,
    )
    commit = objects.add_commit(captured.tree, parents, full.to_message(), int(created_at))
    await objects.store()
    await set_ref(root, ref, commit, previous.commit if previous else "")
    return Snapshot(commit, captured.tree, full, state=captured.state)


async def _find_existing(
    root: Path, commits: list[str], known: Collection[str | None]
) -> list[str]:
    """Return the commits that the repository has; those that are `known` are not looked for."""
    doubtful = [commit for commit in commits if commit not in known]
    if not doubtful:
        return commits
    checked = await git(
        root, "cat-file", "--batch-check", stdin="\n".join(doubtful).encode() + b"\n", check=False
    )
    lines = (line.split(" ") for line in checked.stdout.split("\n"))
    found = {line[0] for line in lines if line[1:2] == ["commit"]}
    return [commit for commit in commits if commit in known or commit in found]


async def commit_tree(root: Path, tree: str, parents: list[str], message: str) -> str:
    """Store a commit, and return its id."""
    options = [option for parent in dict.fromkeys(parents) for option in ("-p", parent)]
    stored = await plumbing.run(root, "commit-tree", *options, tree, stdin=message.encode())
    return stored.stdout
