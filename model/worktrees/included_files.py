"""Copy the ignored files that `.worktreeinclude` names from a checkout into a new worktree.

A file that cannot be copied is a sentence in the worktree's `copied_files` and never a failure of
its creation.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from model.base.amounts import format_size
from model.base.errors import SpinneyError
from model.base.git_layout import is_bare_repository
from model.base.plural import count
from model.base.text import clean_line
from model.domain.events.program import TaskCompleted
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.worktrees import CopiedFiles, IncludedFiles
from model.git.included_files import IncludedNames, find_ignored, list_included
from model.store.store import Store
from model.worktrees.file_copier import MAX_FILES, MAX_NAMED, FileCopier

_PROGRESS_INTERVAL: Final = 0.5
"""Seconds between two reports of how many were copied."""
_MAX_SHOWN: Final = 100
_LARGE: Final = 50_000_000
"""Bytes from which on a file is named as large."""


async def describe_included(root: Path) -> IncludedFiles:
    """Return what a worktree of the repository at `root` would get."""
    try:
        names = await find_included(root)
    except SpinneyError as error:
        return IncludedFiles(summary=error.message)
    sizes = await asyncio.to_thread(_measure, root, names.files)
    largest = sorted(sizes, key=lambda name: sizes[name], reverse=True)[:MAX_NAMED]
    large = [
        f"{clean_line(name)} ({format_size(sizes[name])})"
        for name in largest
        if sizes[name] >= _LARGE
    ]
    size = sum(sizes.values())
    return IncludedFiles(
        files=[clean_line(name) for name in names.files[:_MAX_SHOWN]],
        count=len(names.files),
        size=size,
        large=large,
        summary=_summarize(names.files, size, large),
    )


def _summarize(names: Sequence[str], size: int, large: Sequence[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    line = f"Copies {clean_line(names[0])}{more}"
    return f"{line}, {format_size(size)} in all: {', '.join(large)}" if large else line


async def copy_included(store: Store, worktree_id: str, source: Path, target: Path) -> None:
    """Copy the files that match in the checkout `source` into a worktree at `target`.

    The worktree's `copied_files` has the progress, then the outcome.
    """
    await copy_files(source, target, lambda copied: _record(store, worktree_id, copied))


async def copy_files(source: Path, target: Path, report: Callable[[CopiedFiles], None]) -> None:
    """Copy the files that match in the checkout `source` into a working tree at `target`.

    `report` gets the progress, then the outcome; nothing if no file matches. Files that are there
    already stay; those that git would not ignore there are left out. Canceling waits for the file
    that is being copied.
    """
    try:
        names = await find_included(source)
        ignored = await find_ignored(target, names.files)
        exposed = await asyncio.to_thread(_find_exposed, target, names.files, ignored)
    except SpinneyError as error:
        report(CopiedFiles(problems=[error.message]))
        return
    if not names.files and not names.repositories:
        return
    wanted = [name for name in names.files if name in ignored]
    copier = FileCopier(source, target)
    running = asyncio.ensure_future(asyncio.to_thread(copier.copy, wanted))
    try:
        while not (await asyncio.wait((running,), timeout=_PROGRESS_INTERVAL))[0]:
            report(CopiedFiles(count=copier.seen, size=copier.size, total=len(wanted)))
    except asyncio.CancelledError:
        copier.stop()
        await asyncio.wait((running,))
        raise
    failure = running.exception()
    if failure is not None and not isinstance(failure, OSError):
        raise failure
    problems = _describe_problems(names, exposed, copier)
    if failure is not None:
        problems.append(f"No files were copied: {failure.strerror or failure}.")
    report(
        CopiedFiles(
            count=copier.copied, size=copier.size, total=len(names.files), problems=problems
        )
    )


def report_problems(store: Store, worktree_id: str) -> None:
    """Publish what was not copied into a worktree that is ready now, if anything."""
    worktree = store.state.worktrees.get(worktree_id)
    copied = worktree.copied_files if worktree is not None else None
    if copied is not None and copied.problems:
        detail = " ".join(copied.problems)
        store.record(
            TaskCompleted(task="copy_files", ok=False, detail=detail, worktree_id=worktree_id)
        )


async def find_included(root: Path) -> IncludedNames:
    """Return the files in a checkout that match; none of a bare repository. Raises as git does."""
    if await asyncio.to_thread(is_bare_repository, root):
        return IncludedNames([], [])
    return await list_included(root)


def _measure(root: Path, names: Sequence[str]) -> dict[str, int]:
    sizes = {}
    for name in names:
        try:
            sizes[name] = os.lstat(root / name).st_size
        except OSError:
            continue  # It was removed meanwhile.
    return sizes


def _find_exposed(target: Path, names: Sequence[str], ignored: frozenset[str]) -> list[str]:
    """Return the files that an agent could commit, because git does not ignore them there."""
    return [name for name in names if name not in ignored and not os.path.lexists(target / name)]


def _describe_problems(
    names: IncludedNames, exposed: Sequence[str], copier: FileCopier
) -> list[str]:
    problems = list(copier.failures)
    if more := copier.failed - len(copier.failures):
        problems.append(f"{count(more, 'more file')} could not be copied.")
    if exposed:
        listed = _enumerate([clean_line(name) for name in exposed])
        problems.append(f"Not copied, because git does not ignore it on this branch: {listed}.")
    if copier.left_out:
        listed = _enumerate(copier.too_large, copier.left_out)
        problems.append(f"Not copied, because there is no room for it: {listed}.")
    if names.repositories:
        listed = _enumerate([clean_line(name) for name in names.repositories])
        problems.append(f"Not copied, because it is a repository of its own: {listed}.")
    if names.is_truncated or len(names.files) > MAX_FILES:
        problems.append(
            f"Only the first {min(len(names.files), MAX_FILES):,} files were copied. Narrow the "
            "patterns in .worktreeinclude."
        )
    return problems


def _enumerate(names: Sequence[str], total: int | None = None) -> str:
    shown = names[:MAX_NAMED]
    more = (len(names) if total is None else total) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def _record(store: Store, worktree_id: str, copied: CopiedFiles) -> None:
    worktree = store.state.worktrees.get(worktree_id)
    if worktree is not None and worktree.copied_files != copied:
        updated = worktree.model_copy(update={"copied_files": copied})
        store.record(WorktreeUpdated(worktree=updated))
