"""Complete a checkout's move from one commit to another after git was interrupted in it.

Git changes the files first and the index last, so a kill, a full disk or a file that cannot be
written leaves the old index and a part of the files. Here they are brought back to what the index
has, and then git moves the checkout again. What has neither commit's content is never touched.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from model.git.base_branch import BaseBranch, follow, list_names, refresh_index
from model.git.index_entries import write_entries
from model.git.left_locks import clear_left_locks
from model.git.replacing import SavedMeanwhileError
from model.git.run import git
from model.git.snapshots.files import diff_trees, find_existing, remove_file
from model.git.snapshots.reading import has_content, identify
from model.git.submodules import SUBMODULE_MODE
from model.git.three_way import NO_HOOKS, TIMEOUT
from model.git.working_tree import Entry, read_working_tree

_LINK: Final = "120000"
_MAX_PARTS: Final = 100
"""Files for which it is looked whether they were written in part; git writes a few at a time."""

_Entries = Mapping[str, Entry | None]


async def complete_checkout(
    root: Path, base: BaseBranch, other: str, since: float, patience: float
) -> str:
    """Bring the checkout of a base to its commit, after a move from or to `other` was interrupted.

    Does nothing if it is there. `since` and `patience` as for `clear_left_locks`. Returns what
    keeps it from that and what to do, as sentences; else nothing.
    """
    path = base.checkout or root
    if not await asyncio.to_thread(path.is_dir):
        return ""
    try:
        problem = await clear_left_locks(path, base.ref, since, patience)
        if not problem and base.checkout is not None:
            problem = await _complete(path, other, base.commit)
    except SpinneyError as error:
        problem = error.message
    if not problem:
        return ""
    return (
        f"The checkout of '{base.name}' in {clean_line(str(path))} is between two commits: Spinney "
        f"or git was interrupted while it changed the files there. {problem} Do not commit there "
        "before; Spinney completes it with the next landing, or when it starts."
    )


async def _complete(path: Path, other: str, target: str) -> str:
    moved = await diff_trees(path, other, target)
    changes = {
        name: sides
        for name, sides in moved.items()
        if all(side is None or side.mode != SUBMODULE_MODE for side in sides)
    }
    await refresh_index(path)
    differs = await _differ_in_index(path, target) & moved.keys()
    is_there = not differs
    if differs and (staged := differs & await _differ_in_index(path, other)):
        return (
            f"Other content is staged for {list_names(sorted(staged))}. Run 'git reset' there, "
            "which changes no file."
        )
    mine, theirs = ({name: sides[side] for name, sides in changes.items()} for side in (1, 0))
    if not is_there:
        mine, theirs = theirs, mine
    kept = await _bring_back(path, mine, theirs)
    if is_there:
        # What the target does not have is a file of its own now, and in the way of nothing.
        return _describe_kept([name for name in kept if mine[name] is not None])
    if any(theirs[name] is None for name in kept):
        return _describe_kept(kept)  # Git would have to delete it.
    if kept:
        # Git leaves the files alone whose entries are those of the target already.
        await write_entries(path, {name: theirs[name] for name in kept})
    problem = await follow(path, other, target)
    return f"Git says: {problem}" if problem else _describe_kept(kept)


def _describe_kept(names: list[str]) -> str:
    if not names:
        return ""
    has, them = ("has", "it") if len(names) == 1 else ("have", "them")
    return (
        f"{count(len(names), 'file')} there ({list_names(names)}) {has} content of neither commit "
        f"and may be yours: save what you need elsewhere, then 'git restore' {them}."
    )


async def _bring_back(path: Path, mine: _Entries, theirs: _Entries) -> list[str]:
    """Bring these files to the content that the index has; return those that were kept.

    A file is replaced or deleted only if it has the content of one of the sides, or the beginning
    of one.
    """
    found, _ = await read_working_tree(path, submodules="all")
    gone = [name for name in found.removed if name in mine]
    extra = [name for name, entry in mine.items() if entry is None]
    present = await asyncio.to_thread(
        find_existing, path, [*(name for name in found.present if name in mine), *extra]
    )
    seen = {name: await asyncio.to_thread(identify, path / name) for name in present}
    known = await _find_known(path, sorted(present), mine, theirs)
    for name in sorted(known):
        try:
            await asyncio.to_thread(remove_file, path, name, partial(has_content, seen[name]))
        except SavedMeanwhileError:
            known.discard(name)
    missing = [name for name in (*gone, *known) if mine[name] is not None]
    if missing:
        names = b"".join(os.fsencode(name) + b"\0" for name in missing)
        # Without force: a file that has appeared meanwhile stays.
        await git(
            path, *NO_HOOKS, "checkout-index", "-u", "-z", "--stdin", stdin=names,
            write=True, timeout=TIMEOUT,
        )  # fmt: skip
    return sorted(present - known)


async def _differ_in_index(path: Path, commit: str) -> set[str]:
    """Return the files that the index has otherwise than a commit."""
    compared = await git(
        path, "diff-index", "--cached", "--name-only", "-z", "--no-renames",
        "--ignore-submodules=none", commit, "--", timeout=TIMEOUT,
    )  # fmt: skip
    return set(compared.fields)


async def _find_known(
    path: Path, names: Sequence[str], mine: _Entries, theirs: _Entries
) -> set[str]:
    """Return the files whose content is that of one of two sides, or the beginning of one."""
    links = {name for name in names if (path / name).is_symlink()}
    files = [name for name in names if name not in links]
    ids = await _hash_files(path, files)
    known = set()
    parts = 0
    for name in names:
        sides = [side for side in (mine[name], theirs[name]) if side is not None]
        sides = [side for side in sides if (side.mode == _LINK) == (name in links)]
        if ids.get(name) in [side.object_id for side in sides]:
            known.add(name)
        elif parts < _MAX_PARTS:
            parts += 1
            if await _is_beginning(path, name, sides):
                known.add(name)
    return known


async def _hash_files(path: Path, names: Sequence[str]) -> dict[str, str]:
    """Return the ids of the blobs that git would store for files."""
    if not names:
        return {}
    quoted = ("".join(f"\\{byte:03o}" for byte in os.fsencode(name)) for name in names)
    hashed = await git(
        path, "-c", "core.safecrlf=false", "hash-object", "--stdin-paths", write=True,
        timeout=TIMEOUT, stdin="".join(f'"{name}"\n' for name in quoted).encode(),
    )  # fmt: skip
    return dict(zip(names, hashed.stdout.splitlines(), strict=True))


async def _is_beginning(path: Path, name: str, sides: Sequence[Entry]) -> bool:
    """Whether a file or link has the beginning of what git would write for one of these entries."""
    content = await asyncio.to_thread(_read_content, path / name)
    for side in sides:
        filtered = [] if side.mode == _LINK else ["--filters", f"--path={name}"]
        whole = await git(
            path, "cat-file", *(filtered or ["blob"]), side.object_id, write=True, timeout=TIMEOUT
        )
        if whole.raw_stdout.startswith(content):
            return True
    return False


def _read_content(file: Path) -> bytes:
    return os.fsencode(file.readlink()) if file.is_symlink() else file.read_bytes()
