"""Recovery points: a ref for each state of a worktree that was deleted, or is about to change.

A point is a commit with the tree of a snapshot, to which the conversations of a deleted worktree
are added, and a message that says what it is: listing them reads nothing but refs and messages.
"""

import asyncio
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, get_args

from model.base.text import clean_line
from model.git.log import resolve_commit
from model.git.refs import check_branch_name
from model.git.repositories import branch_exists
from model.git.run import git
from model.git.snapshots import files, own_refs, plumbing, state
from model.git.snapshots.chain import (
    RECOVERY_REFS,
    Reason,
    Snapshot,
    SnapshotNote,
    chain_ref,
    commit_tree,
    read_snapshot,
)
from model.git.snapshots.conversations import (
    CONVERSATIONS_FILE,
    NO_CONVERSATIONS,
    Conversations,
    add_conversations,
)
from model.git.snapshots.objects import NewObjects
from model.git.snapshots.trees import edit_trees, replace_entries
from model.git.working_tree import Entry

_USUAL: Final = frozenset(
    {state.STATE_FILE, CONVERSATIONS_FILE}
    | {f"{state.GIT_FOLDER}/{name}" for name in ("ORIG_HEAD", "config.worktree")}
    | {f"{state.GIT_FOLDER}/info/sparse-checkout"}
)
"""What a worktree without changes may have as well."""
_MAX_DETAIL: Final = 300
_HEXADECIMAL: Final = frozenset("0123456789abcdef")
_REASONS: Final = frozenset(get_args(Reason))


@dataclass(frozen=True, slots=True)
class PointFacts:
    """What the message of a recovery point says beside the note of its snapshot."""

    detail: str = ""
    """What was done to the worktree, in a few words."""
    project_id: str = ""
    source: str = ""
    """The snapshot that the point was made from."""
    tip: str = ""
    """The last commit of the branch that was deleted with the worktree."""
    files: int = 0
    """Files that differ from the commit that was checked out."""
    size_bytes: int = 0
    """The size of these files, of ignored ones, and of the conversations."""
    sessions: int = 0
    left_out: int = 0
    """Messages, pictures and long outputs that were too much to keep; repositories and files of a
    deleted worktree that are not in it."""
    project_path: str = ""
    """The folder of the project, by which it is found when it is added again."""

    def to_lines(self) -> str:
        """Return a line for each field."""
        values = ((name, getattr(self, name)) for name in self.__dataclass_fields__)
        lines = (f"{name}: {clean_line(str(value))[:_MAX_DETAIL]}" for name, value in values)
        return "\n".join([*lines, ""])

    @classmethod
    def from_message(cls, message: str) -> "PointFacts":
        """Read the facts; unknown lines are ignored."""
        pairs = dict(line.split(": ", 1) for line in message.split("\n")[1:] if ": " in line)

        def number(name: str) -> int:
            value = pairs.get(name, "")
            return int(value) if value.isascii() and value.isdigit() else 0

        return cls(
            detail=pairs.get("detail", ""),
            project_id=pairs.get("project_id", ""),
            source=pairs.get("source", ""),
            tip=pairs.get("tip", ""),
            files=number("files"),
            size_bytes=number("size_bytes"),
            sessions=number("sessions"),
            left_out=number("left_out"),
            project_path=pairs.get("project_path", ""),
        )


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """A recovery point in a repository."""

    id: str
    snapshot: Snapshot
    """The commit and the tree of the point itself."""
    facts: PointFacts


@dataclass(frozen=True, slots=True)
class Contents:
    """What a snapshot has that its commit does not."""

    files: Mapping[str, tuple[Entry | None, Entry | None]]
    """The changed files, with their entries in the commit and on disk."""
    ignored: Mapping[str, Entry]
    has_state: bool
    """Whether something is staged, or an operation in progress."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is lost that is not in a commit."""
        return not (self.files or self.ignored or self.has_state)


async def read_contents(root: Path, snapshot: Snapshot) -> Contents:
    """Compare a snapshot with the commit that was checked out."""
    commit, normal = snapshot.note.commit, snapshot.note.normal
    if commit:
        changed, special = await files.diff_snapshot(root, commit, snapshot.tree)
    else:
        changed, special = await _list_all(root, snapshot.tree)
    if normal:
        changed = (
            await files.diff_trees(root, commit, normal)
            if commit
            else (await _list_all(root, normal))[0]
        )
    prefix = f"{state.IGNORED_FOLDER}/"
    ignored = {name[len(prefix) :]: special[name] for name in special if name.startswith(prefix)}
    has_state = any(name not in _USUAL and not name.startswith(prefix) for name in special)
    return Contents(changed, ignored, has_state)


async def _list_all(root: Path, tree: str) -> tuple[files.Changed, dict[str, Entry]]:
    """Return the files of a snapshot before the first commit, and what it has beside them."""
    entries = await files.read_entries(root, tree)
    named = {name: plumbing.to_file_path(name) for name in entries}
    added: files.Changed = {
        path: (None, entries[name]) for name, path in named.items() if path is not None
    }
    return added, {name: entries[name] for name, path in named.items() if path is None}


async def create_point(
    root: Path,
    snapshot: Snapshot,
    note: SnapshotNote,
    facts: PointFacts,
    contents: Contents,
    conversations: Conversations = NO_CONVERSATIONS,
) -> StoredPoint:
    """Store a recovery point for a snapshot.

    Args:
        root: The repository.
        snapshot: The state to keep.
        note: Why the point is made; the rest is taken from the snapshot.
        facts: `detail`, `project_id`, `tip` and `left_out` of it.
        contents: What `read_contents` returned.
        conversations: The sessions of a deleted worktree, if any.

    Raises:
        SpinneyError: What git reports, such as a full disk; there is no point then.
    """
    size = await _measure(root, contents) + conversations.size_bytes
    tree = snapshot.tree
    objects = await NewObjects.create(root)
    if conversations.content:
        tree = await add_conversations(root, tree, conversations, objects)
    is_last = note.reason == "delete"
    parents = [snapshot.commit] if is_last else await _list_needed(root, snapshot)
    parents = [parent for parent in (*parents, facts.tip) if parent]
    kept = snapshot.note
    full_note = replace(note, branch=kept.branch, commit=kept.commit, normal=kept.normal)
    full_facts = replace(
        facts,
        source=snapshot.commit,
        files=len(contents.files),
        size_bytes=size,
        sessions=conversations.sessions,
        left_out=facts.left_out + conversations.left_out,
    )
    return await _store_point(root, tree, parents, full_note, full_facts, objects)


async def _list_needed(root: Path, snapshot: Snapshot) -> list[str]:
    """Return the commits without which a snapshot cannot be restored."""
    # Of its own parents the first is the snapshot before it.
    listed = await git(
        root, "log", "-1", "--no-show-signature", "--format=%P", "--end-of-options",
        snapshot.commit, "--",
    )  # fmt: skip
    return [snapshot.note.commit, *listed.stdout.split()[1:]]


async def create_conversation_point(
    root: Path, note: SnapshotNote, facts: PointFacts, conversations: Conversations
) -> StoredPoint:
    """Store a recovery point of sessions alone. Raises as `create_point`."""
    objects = await NewObjects.create(root)
    tree = await add_conversations(root, None, conversations, objects)
    full_facts = replace(
        facts,
        size_bytes=conversations.size_bytes,
        sessions=conversations.sessions,
        left_out=conversations.left_out,
    )
    return await _store_point(root, tree, [], note, full_facts, objects)


async def _store_point(
    root: Path,
    tree: str,
    parents: list[str],
    note: SnapshotNote,
    facts: PointFacts,
    objects: NewObjects,
) -> StoredPoint:
    message = note.to_message() + facts.to_lines()
    commit = objects.add_commit(tree, parents, message, int(time.time()))
    await objects.store()
    point_id = str(uuid.uuid4())
    await own_refs.set_ref(root, RECOVERY_REFS + point_id, commit, "")
    return StoredPoint(point_id, Snapshot(commit, tree, note), facts)


async def find_tip(root: Path, branch: str, snapshot: Snapshot | None = None) -> str:
    """Return the last commit of a local branch; empty if there is none.

    Git is not asked about the branch that was checked out in a snapshot captured just now.
    """
    state_now = snapshot.state if snapshot else None
    if state_now is not None and state_now.branch == branch and state_now.commit:
        return state_now.commit
    ref = f"refs/heads/{branch}"
    found = await git(
        root, "rev-parse", "--verify", "--quiet", "--end-of-options", ref, check=False
    )
    return found.stdout if found.returncode == 0 else ""


async def create_branch(root: Path, branch: str, tip: str) -> None:
    """Create a branch at its last commit, unless there is one of its name."""
    if not await branch_exists(root, check_branch_name(branch)):
        await plumbing.run(root, "branch", "--no-track", "--end-of-options", branch, tip)


async def snapshot_without_folder(root: Path, branch: str, note: SnapshotNote) -> Snapshot | None:
    """Return the last known state of a worktree whose folder is gone.

    That is the newest snapshot, or the branch if it has moved on or there is none; `None` if there
    is no branch either.
    """
    last = await read_snapshot(root, chain_ref(note.worktree_id))
    tip = await find_tip(root, branch)
    if not tip or (last is not None and last.note.commit == tip):
        return last
    content = state.WorktreeState(commit=tip, branch=branch).to_json()
    tree = await _add_file(root, f"{tip}^{{tree}}", state.STATE_FILE, content)
    full = replace(note, branch=branch, commit=tip)
    parents = [*([last.commit] if last else []), tip]
    commit = await commit_tree(root, tree, parents, full.to_message())
    return Snapshot(commit, tree, full)


async def snapshot_of_stash(root: Path, stash_id: str, note: SnapshotNote) -> Snapshot:
    """Return a stash as a snapshot of the worktree that it was made in, untracked files included.

    Raises `SpinneyError` if there is no such stash.
    """
    sha = await resolve_commit(root, stash_id)
    shown = await git(
        root, "log", "-1", "--no-show-signature", "--format=%P", "--end-of-options", sha, "--"
    )
    base, *others = shown.stdout.split() or [""]
    content = state.WorktreeState(commit=base, branch=None).to_json()
    tree = await _add_file(root, f"{sha}^{{tree}}", state.STATE_FILE, content)
    if len(others) == 2:
        tree = await replace_entries(root, tree, await files.read_entries(root, others[1]))
    full = replace(note, commit=base)
    return Snapshot(await commit_tree(root, tree, [base, sha], full.to_message()), tree, full)


@dataclass(frozen=True, slots=True)
class ListedPoints:
    """The recovery points of a repository."""

    points: list[StoredPoint]
    """Newest first."""
    damaged: list[str]
    """The ids of points of which nothing can be read."""


async def list_points(root: Path) -> ListedPoints:
    """Return the recovery points of a repository. Two processes read them all."""
    refs = await own_refs.list_refs(root, RECOVERY_REFS)
    commits = await own_refs.read_commits(root, list(dict.fromkeys(refs.objects.values())))
    return await asyncio.to_thread(_read_points, refs, commits)


def _read_points(refs: own_refs.ListedRefs, commits: Mapping[str, bytes]) -> ListedPoints:
    found = []
    damaged = list(refs.unreadable)
    for ref, commit in refs.objects.items():
        if commit not in commits:
            damaged.append(ref)
        elif point := _read_point(_to_id(ref), commit, commits[commit]):
            found.append(point)
    newest_first = sorted(found, key=lambda point: -point.snapshot.note.created_at)
    return ListedPoints(newest_first, [_to_id(ref) for ref in damaged])


def _to_id(ref: str) -> str:
    return ref.removeprefix(RECOVERY_REFS)


def _read_point(point_id: str, commit: str, content: bytes) -> StoredPoint | None:
    """Return the point, unless another program put something else at its ref."""
    head, _, message = content.decode("utf-8", "replace").partition("\n\n")
    tree = head.partition("\n")[0].removeprefix("tree ")
    try:
        note, facts = SnapshotNote.from_message(message), PointFacts.from_message(message)
    except ValueError:
        return None
    named = f"{note.commit}{note.normal}{facts.source}{facts.tip}"
    if not _HEXADECIMAL.issuperset(named) or note.reason not in _REASONS:
        return None
    return StoredPoint(point_id, Snapshot(commit, tree, note, is_new=False), facts)


async def delete_point(root: Path, point_id: str) -> None:
    """Delete a recovery point; its objects stay until `git gc`."""
    await own_refs.delete_ref(root, RECOVERY_REFS + point_id)


async def _measure(root: Path, contents: Contents) -> int:
    objects = [after.object_id for _, after in contents.files.values() if after is not None]
    objects += [entry.object_id for entry in contents.ignored.values()]
    if not objects:
        return 0
    sizes = await git(
        root, "cat-file", "--batch-check=%(objectsize)",
        stdin="\n".join(dict.fromkeys(objects)).encode() + b"\n", timeout=120,
    )  # fmt: skip
    return sum(int(size) for size in sizes.stdout.split("\n") if size.isdigit())


async def _add_file(root: Path, tree: str, path: str, content: bytes) -> str:
    """Return a copy of a tree with one more file."""
    objects = await NewObjects.create(root)
    added = {path: Entry("100644", objects.add("blob", content))}
    (edited,) = await edit_trees(root, [(tree, added)], objects)
    await objects.store()
    return edited
