"""Staging and unstaging: whole files, or one hunk that is still as it was seen."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.domain.changes import Side
from model.git.changes import Changed, changed_file, changed_files, literal, patch_of, shown_name
from model.git.run import git

_TIMEOUT: Final = 120
"""Seconds; filters of large files run in `git add`."""
_BEGIN, _END = b"<<<<<<< ", b">>>>>>> "
_MOST_NAMES: Final = 500
"""Names in one call of git: the system bounds the length of a command line."""


async def stage(path: Path, shown: str | None, hunk: str | None, seen: str | None) -> None:
    """Put a file, one of its hunks, or (`shown` is None) every change into the next commit.

    Args:
        path: The worktree.
        shown: The file, as `changed_files` shows its name.
        hunk: The name of a hunk; without it the whole file.
        seen: The name of the file's difference as it was seen; another one is refused.

    Raises:
        SpinneyError: the file changed meanwhile, or has conflict markers left.
    """
    if shown is None:
        files = await changed_files(path, "unstaged")
        for file in files:
            await _check_solved(path, file)
        await _each(path, files, _add)
        return
    file, patch = await seen_file(path, "unstaged", shown, hunk, seen)
    await _check_solved(path, file)
    if patch is None:
        await _add(path, literal(file.names))
    else:
        await apply_patch(path, patch, "--cached")


async def unstage(path: Path, shown: str | None, hunk: str | None, seen: str | None) -> None:
    """Take a file, one of its hunks, or everything out of the next commit; files stay as they are.

    Arguments and failures are those of `stage`.
    """
    if shown is None:
        await _each(path, await changed_files(path, "staged"), _reset)
        return
    file, patch = await seen_file(path, "staged", shown, hunk, seen)
    if patch is None:
        await _reset(path, literal(file.names))
    else:
        await apply_patch(path, patch, "--cached", "--reverse")


async def seen_file(
    path: Path, side: Side, shown: str, hunk: str | None, seen: str | None
) -> tuple[Changed, bytes | None]:
    """The file, and the patch of the hunk that is meant; None where the whole file is.

    A file that came or went has one hunk, which is all of it. Raises `SpinneyError` when the
    difference is not the one that was seen.
    """
    file = await changed_file(path, side, shown)
    if hunk is None and seen is None:
        return file, None
    patch, _ = await patch_of(path, side, file)
    if hunk is None:
        if patch.digest != seen:
            raise _changed_meanwhile(shown)
        return file, None
    if hunk not in patch.names():
        raise _changed_meanwhile(shown)
    if file.status not in ("modified", "renamed", "copied") or file.is_submodule:
        return file, None
    return file, patch.of_hunk(hunk)


async def apply_patch(path: Path, patch: bytes, *options: str) -> None:
    """Let git apply a patch, all of it or nothing. Raises `SpinneyError` with git's reason."""
    with tempfile.TemporaryDirectory(prefix="spinney-") as folder:
        file = Path(folder) / "patch"
        await asyncio.to_thread(file.write_bytes, patch)
        await git(
            path, "apply", "--whitespace=nowarn", *options, "--", str(file), write=True,
            timeout=_TIMEOUT,
        )  # fmt: skip


async def _each(
    path: Path, files: list[Changed], do: Callable[[Path, list[str]], Awaitable[None]]
) -> None:
    names = [name for file in files for name in literal(file.names)]
    for start in range(0, len(names), _MOST_NAMES):
        await do(path, names[start : start + _MOST_NAMES])


async def _add(path: Path, names: list[str]) -> None:
    await git(path, "add", "--all", "--", *names, write=True, timeout=_TIMEOUT)


async def _reset(path: Path, names: list[str]) -> None:
    await git(path, "reset", "--quiet", "--", *names, write=True, timeout=_TIMEOUT)


async def _check_solved(path: Path, file: Changed) -> None:
    """Refuse to call a conflict solved while git's marks stand in the file."""
    if file.status == "conflicted" and await asyncio.to_thread(_has_marks, path / file.name):
        raise SpinneyError(
            f"“{shown_name(file.name)}” still holds conflict markers (<<<<<<< and >>>>>>>). "
            "Solve the conflict first, or let a session do it.",
            "conflict",
        )


def _has_marks(file: Path) -> bool:
    try:
        with file.open("rb") as lines:
            begun = False
            for line in lines:
                begun = begun or line.startswith(_BEGIN)
                if begun and line.startswith(_END):
                    return True
    except OSError:  # deleted, or a folder: nothing to be solved in it
        pass
    return False


def _changed_meanwhile(shown: str) -> SpinneyError:
    return SpinneyError(
        f"“{shown}” has changed since it was shown, so nothing was done. Look at it anew, then "
        "try again.",
        "conflict",
    )
