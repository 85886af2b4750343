"""Stage and unstage whole files, or single hunks that have not changed since they were shown."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.domain.changes import Side
from model.git.changes import (
    ChangedFile,
    find_changed_file,
    list_changed_files,
    read_patch,
    to_display_name,
    to_pathspecs,
)
from model.git.conflict_markers import has_markers
from model.git.run import git

_TIMEOUT: Final = 120
"""Seconds; `git add` runs the filters of large files."""
_BATCH_SIZE: Final = 500
"""Names per git command: the system limits the length of a command line."""


async def stage(
    path: Path, display_name: str | None, hunk_name: str | None, expected_digest: str | None
) -> None:
    """Stage a file, one of its hunks, or (with `display_name` None) every change.

    Args:
        path: The worktree.
        display_name: The file, as `to_display_name` returns it.
        hunk_name: The name of a hunk; `None` for the whole file.
        expected_digest: The digest of the patch that was shown; if it differs, staging is refused.

    Raises:
        SpinneyError: The file changed meanwhile, or still has conflict markers.
    """
    if display_name is None:
        files = await list_changed_files(path, "unstaged")
        for file in files:
            await _check_resolved(path, file)
        await _run_in_batches(path, files, _add)
        return
    file, patch = await find_selection(path, "unstaged", display_name, hunk_name, expected_digest)
    await _check_resolved(path, file)
    if patch is None:
        await _add(path, to_pathspecs(file.names))
    else:
        await apply_patch(path, patch, "--cached")


async def unstage(
    path: Path, display_name: str | None, hunk_name: str | None, expected_digest: str | None
) -> None:
    """Unstage a file, one of its hunks, or everything; files on disk are not changed.

    Takes the same arguments and raises the same errors as `stage`.
    """
    if display_name is None:
        await _run_in_batches(path, await list_changed_files(path, "staged"), _reset)
        return
    file, patch = await find_selection(path, "staged", display_name, hunk_name, expected_digest)
    if patch is None:
        await _reset(path, to_pathspecs(file.names))
    else:
        await apply_patch(path, patch, "--cached", "--reverse")


async def find_selection(
    path: Path, side: Side, display_name: str, hunk_name: str | None, expected_digest: str | None
) -> tuple[ChangedFile, bytes | None]:
    """Return the file, and the patch of the selected hunk; `None` if the whole file is selected.

    An added or deleted file has a single hunk that covers all of it. Raises `SpinneyError` if the
    patch is not the one that was shown.
    """
    file = await find_changed_file(path, side, display_name)
    if hunk_name is None and expected_digest is None:
        return file, None
    patch, _ = await read_patch(path, side, file)
    if hunk_name is None:
        if patch.digest != expected_digest:
            raise _changed_meanwhile_error(display_name)
        return file, None
    if hunk_name not in patch.hunk_names():
        raise _changed_meanwhile_error(display_name)
    if file.status not in ("modified", "renamed", "copied") or file.is_submodule:
        return file, None
    return file, patch.extract_hunk(hunk_name)


async def apply_patch(
    path: Path, patch: bytes, *options: str, environment: Mapping[str, str] | None = None
) -> None:
    """Apply a patch completely or not at all. Raises `SpinneyError` with git's reason.

    Other than in the index, only to a `FileCopy`, with its environment.
    """
    with tempfile.TemporaryDirectory(prefix="spinney-") as folder:
        file = Path(folder) / "patch"
        await asyncio.to_thread(file.write_bytes, patch)
        await git(
            path, "apply", "--whitespace=nowarn", *options, "--", str(file), write=True,
            timeout=_TIMEOUT, environment=environment,
        )  # fmt: skip


async def _run_in_batches(
    path: Path, files: list[ChangedFile], operation: Callable[[Path, list[str]], Awaitable[None]]
) -> None:
    names = [name for file in files for name in to_pathspecs(file.names)]
    for start in range(0, len(names), _BATCH_SIZE):
        await operation(path, names[start : start + _BATCH_SIZE])


async def _add(path: Path, names: list[str]) -> None:
    await git(path, "add", "--all", "--", *names, write=True, timeout=_TIMEOUT)


async def _reset(path: Path, names: list[str]) -> None:
    await git(path, "reset", "--quiet", "--", *names, write=True, timeout=_TIMEOUT)


async def _check_resolved(path: Path, file: ChangedFile) -> None:
    """Raise `conflict` if a conflicted file still contains git's markers."""
    if file.status == "conflicted" and await asyncio.to_thread(
        _has_conflict_markers, path / file.name
    ):
        raise SpinneyError(
            f"'{to_display_name(file.name)}' still contains conflict markers (<<<<<<< and "
            ">>>>>>>). Resolve the conflict first, or let a session do it.",
            "conflict",
        )


def _has_conflict_markers(file: Path) -> bool:
    try:
        with file.open(errors="replace") as lines:
            return has_markers(line.rstrip("\n") for line in lines)
    except OSError:  # deleted, or a folder: no markers
        return False


def _changed_meanwhile_error(display_name: str) -> SpinneyError:
    return SpinneyError(
        f"'{display_name}' has changed since it was shown, so nothing was done. Review it again, "
        "then retry.",
        "conflict",
    )
