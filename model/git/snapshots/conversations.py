"""The conversations of a recovery point: their messages, and the files that belong to them.

Those of a deleted worktree are in the point of its files. Those of what had no files to delete are
points of their own, in a bare repository in the data directory: a project's own repository may be
gone, and is not asked any more once the project was removed.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from model.base.git_layout import is_bare_repository
from model.base.paths import create_private_directory
from model.git.snapshots import files, plumbing
from model.git.snapshots.objects import NewObjects
from model.git.snapshots.trees import edit_trees
from model.git.working_tree import Entry

CONVERSATIONS_FILE: Final = f"{plumbing.RESERVED}/conversations.jsonl"
"""Projects, worktrees, sessions and their messages."""
_ATTACHMENTS: Final = f"{plumbing.RESERVED}/attachments/"
_UNREACHABLE_PERIOD: Final = "1.hour.ago"
"""Objects without a point stay as long: one may be about to be made of them."""


@dataclass(frozen=True, slots=True)
class Conversations:
    """What is kept of sessions."""

    content: bytes = b""
    """The content of `CONVERSATIONS_FILE`."""
    attachments: Mapping[str, Path] = field(default_factory=dict)
    """Pictures and long outputs, by the names under which they are kept."""
    sessions: int = 0
    left_out: int = 0
    """Messages, pictures and outputs that are too much to keep."""
    size_bytes: int = 0


NO_CONVERSATIONS: Final = Conversations()


async def prepare_archive(root: Path) -> None:
    """Create the repository for points without files, unless there is one."""
    if not is_bare_repository(root):
        create_private_directory(root)
        await plumbing.run(root, "init", "--quiet", "--bare", "--template=", ".")


async def add_conversations(
    root: Path, tree: str | None, kept: Conversations, objects: NewObjects
) -> str:
    """Return a copy of a point's tree, `None` for no files, with conversations.

    What is new in it is added to `objects`.
    """
    added = {CONVERSATIONS_FILE: Entry("100644", objects.add("blob", kept.content))}
    lines = [plumbing.quote_path(str(path)) + b"\n" for path in kept.attachments.values()]
    if lines:
        hashed = await plumbing.run(
            root, "hash-object", "-w", "--no-filters", "--stdin-paths", stdin=b"".join(lines)
        )
        for name, object_id in zip(kept.attachments, hashed.stdout.split(), strict=True):
            added[_ATTACHMENTS + name] = Entry("100644", object_id)
    (edited,) = await edit_trees(root, [(tree, added)], objects)
    return edited


async def read_conversations(root: Path, tree: str) -> bytes:
    """Return the content of a point's `CONVERSATIONS_FILE`; empty if it has none."""
    entries = await files.read_entries(root, tree, [CONVERSATIONS_FILE])
    if CONVERSATIONS_FILE not in entries:
        return b""
    return await files.read_blob(root, entries[CONVERSATIONS_FILE].object_id)


async def read_attachments(root: Path, tree: str) -> AsyncIterator[tuple[str, bytes]]:
    """Yield the names and contents of a point's pictures and long outputs."""
    entries = await files.read_entries(root, tree, [_ATTACHMENTS.rstrip("/")])
    by_object: dict[str, list[str]] = {}
    for path, entry in entries.items():
        by_object.setdefault(entry.object_id, []).append(path.removeprefix(_ATTACHMENTS))
    async for object_id, content in files.read_blobs(root, by_object):
        for name in by_object[object_id]:
            yield name, content


async def drop_unreachable(root: Path) -> None:
    """Free the space of deleted points in the repository for points without files."""
    if is_bare_repository(root):
        await plumbing.run(root, "prune", f"--expire={_UNREACHABLE_PERIOD}")
