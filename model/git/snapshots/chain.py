"""The refs of snapshots: a chain for each worktree, and a ref for each recovery point.

A snapshot is a commit whose first parent is the snapshot before it, or the commit that was checked
out when the chain began. Further parents keep what the snapshot depends on from `git gc`.
"""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.recovery import SnapshotReason
from model.git.run import git
from model.git.snapshots import plumbing
from model.git.snapshots.capture import CapturedTree, write_tree

WORKTREE_REFS: Final = "refs/spinney/worktrees/"
RECOVERY_REFS: Final = "refs/spinney/recovery/"

Reason = SnapshotReason

_SEPARATOR: Final = ": "


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


def chain_ref(worktree_id: str) -> str:
    """Return the ref of a worktree's chain."""
    return WORKTREE_REFS + "".join(c if c.isalnum() or c in "-_" else "-" for c in worktree_id)


_locks: WeakValueDictionary[tuple[asyncio.AbstractEventLoop, str], asyncio.Lock] = (
    WeakValueDictionary()
)


async def take_snapshot(
    root: Path, note: SnapshotNote, *, complete: bool = False, include_ignored: bool = False
) -> Snapshot:
    """Add a snapshot of the worktree at `root` to its chain, unless nothing has changed.

    Args:
        root: The worktree.
        note: Why it is made; `worktree_id` names the chain.
        complete, include_ignored: As for `capture.write_tree`.

    Raises:
        SpinneyError: What git reports, such as a full disk; the chain is unchanged then.
    """
    ref = chain_ref(note.worktree_id)
    lock = _locks.setdefault((asyncio.get_running_loop(), ref), asyncio.Lock())
    async with lock:
        captured, previous = await asyncio.gather(
            write_tree(root, complete=complete, include_ignored=include_ignored),
            read_snapshot(root, ref),
        )
        if previous is not None and previous.tree == captured.tree:
            return Snapshot(previous.commit, previous.tree, previous.note, is_new=False)
        return await _add(root, ref, previous, captured, note)


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


async def _add(
    root: Path, ref: str, previous: Snapshot | None, captured: CapturedTree, note: SnapshotNote
) -> Snapshot:
    head = captured.state.commit
    parents = [previous.commit] if previous else []
    if head and (previous is None or previous.note.commit != head):
        parents.append(head)
    parents += await _find_existing(root, captured.operation_commits)
    normal = captured.state.normal_tree or ""
    if normal:
        parents.append(await commit_tree(root, normal, [], "The files as git stores them"))
    full = SnapshotNote(
        **{
            **{name: getattr(note, name) for name in note.__dataclass_fields__},
            "branch": captured.state.branch or "",
            "commit": head or "",
            "normal": normal,
            "created_at": note.created_at or time.time(),
        }
    )
    commit = await commit_tree(root, captured.tree, parents, full.to_message())
    await set_ref(root, ref, commit, previous.commit if previous else "")
    return Snapshot(commit, captured.tree, full)


async def _find_existing(root: Path, commits: list[str]) -> list[str]:
    """Return the commits that the repository has."""
    if not commits:
        return []
    checked = await git(
        root, "cat-file", "--batch-check", stdin="\n".join(commits).encode() + b"\n", check=False
    )
    lines = (line.split(" ") for line in checked.stdout.split("\n"))
    return [line[0] for line in lines if line[1:2] == ["commit"]]


async def commit_tree(root: Path, tree: str, parents: list[str], message: str) -> str:
    """Store a commit, and return its id."""
    options = [option for parent in dict.fromkeys(parents) for option in ("-p", parent)]
    stored = await plumbing.run(root, "commit-tree", *options, tree, stdin=message.encode())
    return stored.stdout


async def set_ref(root: Path, ref: str, commit: str, expected: str | None = None) -> None:
    """Set one of Spinney's refs. If `expected` is given, it must be the present value.

    Raises `conflict` if another program changed it meanwhile; an empty `expected` is a new ref.
    """
    old = [] if expected is None else [expected or "0" * len(commit)]
    changed = await plumbing.run(root, "update-ref", ref, commit, *old, check=False)
    if changed.returncode != 0:
        is_taken = "but expected" in changed.stderr or "already exists" in changed.stderr
        raise SpinneyError(changed.message, "conflict" if is_taken else "git_error")


async def delete_ref(root: Path, ref: str) -> None:
    """Delete one of Spinney's refs, if it exists. Its objects stay until `git gc`."""
    await plumbing.run(root, "update-ref", "-d", ref)
