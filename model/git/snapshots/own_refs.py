"""Reads, sets and deletes Spinney's own refs, of which any may be damaged.

A power cut can leave an empty file, and `git prune` a ref without its object. Git fails on
one such ref where many are read, so names are read first, and objects after. No ref of a person is
ever changed.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.git_layout import find_git_directories
from model.git.run import git
from model.git.snapshots import plumbing

OWN_REFS: Final = "refs/spinney/"

_TIMEOUT: Final = 60.0
_IGNORED: Final = ("warning: ignoring broken ref ", "warning: ignoring dangling symref ")
"""What `for-each-ref` says of refs that it leaves out."""


@dataclass(frozen=True, slots=True)
class ListedRefs:
    """The refs below a prefix, in the order of their names."""

    objects: dict[str, str]
    """The object of each ref; it may be missing."""
    unreadable: list[str]
    """Refs whose content is no object id."""


async def list_refs(root: Path, prefix: str) -> ListedRefs:
    """List the refs below `prefix`, or the one of that name; no object is read."""
    listed = await git(
        root, "for-each-ref", "--format=%(refname) %(objectname)%(symref)", prefix,
        timeout=_TIMEOUT,
    )  # fmt: skip
    objects = dict(line.split(" ", 1) for line in listed.stdout.splitlines())
    # Spinney makes none. Deleted like the others, it would take the ref of a person with it.
    symbolic = [ref for ref, value in objects.items() if "/" in value]
    ignored = {
        line.removeprefix(start).strip()
        for line in listed.stderr.splitlines()
        for start in _IGNORED
        if line.startswith(start + prefix)
    }
    kept = {ref: value for ref, value in objects.items() if ref not in symbolic}
    return ListedRefs(kept, sorted({*ignored, *symbolic}))


async def read_commits(root: Path, commits: Sequence[str]) -> dict[str, bytes]:
    """Return the contents of commits; what is missing, damaged or no commit is left out."""
    if not commits:
        return {}
    request = "\n".join(commits).encode() + b"\n"
    read = await git(root, "cat-file", "--batch", stdin=request, check=False, timeout=_TIMEOUT)
    if read.returncode == 0:
        found = plumbing.split_batch(read.raw_stdout)
        return {name: content for name, content in found if content.startswith(b"tree ")}
    if len(commits) == 1:
        return {}
    middle = len(commits) // 2  # Git ends at an object that it cannot unpack.
    first = await read_commits(root, commits[:middle])
    return first | await read_commits(root, commits[middle:])


async def find_damaged(root: Path, prefix: str = OWN_REFS) -> list[str]:
    """Return the refs below `prefix` that stand for nothing."""
    refs = await list_refs(root, prefix)
    whole = await read_commits(root, list(dict.fromkeys(refs.objects.values())))
    missing = [ref for ref, commit in refs.objects.items() if commit not in whole]
    return sorted([*refs.unreadable, *missing])


async def set_ref(root: Path, ref: str, commit: str, expected: str | None = None) -> None:
    """Set one of Spinney's refs. If `expected` is given, it must be the present value.

    A damaged ref is replaced. Raises `conflict` if another program changed it meanwhile; an empty
    `expected` is a new ref.
    """
    old = [] if expected is None else [expected or "0" * len(commit)]
    changed = await plumbing.run(root, "update-ref", ref, commit, *old, "--no-deref", check=False)
    if changed.returncode != 0 and await remove_damaged(root, ref):
        changed = await plumbing.run(
            root, "update-ref", ref, commit, *old, "--no-deref", check=False
        )
    if changed.returncode != 0:
        is_taken = "but expected" in changed.stderr or "already exists" in changed.stderr
        raise SpinneyError(changed.message, "conflict" if is_taken else "git_error")


async def delete_ref(root: Path, ref: str) -> None:
    """Delete one of Spinney's refs, if it exists. Its objects stay until `git gc`."""
    deleted = await plumbing.run(root, "update-ref", "-d", ref, "--no-deref", check=False)
    if deleted.returncode != 0:
        if not await remove_damaged(root, ref):
            raise SpinneyError(deleted.message, "git_error")
        await plumbing.run(root, "update-ref", "-d", ref, "--no-deref")


async def remove_damaged(root: Path, ref: str) -> bool:
    """Delete one of Spinney's refs if it stands for nothing; returns whether it did.

    Where git had packed an older value, the ref has this one then.
    """
    if not ref.startswith(OWN_REFS) or ref not in await find_damaged(root, ref):
        return False
    path = await asyncio.to_thread(find_file, root, ref)  # Git locks no ref that it cannot read.
    if path is not None:
        await asyncio.to_thread(path.unlink, missing_ok=True)
    else:
        await plumbing.run(root, "update-ref", "-d", ref, "--no-deref")
    return True


def find_file(root: Path, ref: str) -> Path | None:
    """Return the file of a ref; `None` if it is packed, or there is none."""
    directories = find_git_directories(root)
    path = directories.common_dir / ref if directories else None
    return path if path is not None and path.is_file() else None


async def read_last_change(root: Path, ref: str) -> float:
    """Return when the file of a ref was written, or the refs of a repository were packed.

    In seconds since 1970; 0 if neither is known.
    """
    return await asyncio.to_thread(_read_time, root, ref)


def _read_time(root: Path, ref: str) -> float:
    path = find_file(root, ref) or find_file(root, "packed-refs")
    try:
        return path.stat().st_mtime if path else 0.0
    except OSError:
        return 0.0
