"""Clone a repository; a clone that fails or is canceled leaves nothing behind."""

import asyncio
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import make_output_visible
from model.git.run import git

_TIMEOUT: Final = 3600
"""Seconds; a large repository over a slow connection takes most of an hour."""
_URL: Final = re.compile(
    r"(?:https?|ssh|git|file)://[^\s]+"  # a URL
    r"|[\w.-]+@[\w.-]+:[^\s]+"  # the scp-like form: git@example.com:ada/engine.git
    r"|/[^\0\n]+"  # a local directory
)


def check_url(url: str) -> str:
    """Return `url` if it has a form that git can clone. Raises `SpinneyError` otherwise."""
    url = url.strip()
    if not _URL.fullmatch(url):
        raise SpinneyError(
            "Invalid field 'url': must be a URL such as https://host/owner/name.git or "
            "git@host:owner/name.git, or an absolute path"
        )
    return url


async def clone(url: str, target: Path, on_progress: Callable[[str], None]) -> None:
    """Clone `url` into `target`, a directory that does not exist yet or is empty; that stays.

    Args:
        url: A URL accepted by `check_url`.
        target: An absolute path.
        on_progress: Called in a thread with git's latest progress line.

    Raises:
        SpinneyError: `conflict` if `target` is in use; `git_error` with git's own message.
    """
    is_new = not await asyncio.to_thread(os.path.lexists, target)
    created = await asyncio.to_thread(_create_parents, target)
    try:
        await git(
            target.parent, "clone", "--progress", "--", url, target.name,
            write=True, timeout=_TIMEOUT, on_stderr=_ProgressReader(on_progress).feed,
        )  # fmt: skip
    except BaseException:
        # Git removes what it created unless it was killed; our empty parent directories remain.
        removing = _remove if is_new else _remove_clone
        await asyncio.shield(asyncio.to_thread(removing, target, created))
        raise


def _create_parents(target: Path) -> list[Path]:
    """Create the missing parents of `target` and return them, outermost first."""
    if os.path.lexists(target) and not (target.is_dir() and not any(target.iterdir())):
        raise SpinneyError(
            f"{target} already exists. Choose another directory, or add that one as a project.",
            "conflict",
        )
    missing = [parent for parent in target.parents if not parent.exists()][::-1]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpinneyError(
            f"Invalid field 'path': {target.parent} cannot be created ({error.strerror})"
        ) from None
    return missing


def _remove(target: Path, created: list[Path]) -> None:
    shutil.rmtree(target, ignore_errors=True)
    for parent in reversed(created):
        try:
            parent.rmdir()
        except OSError:
            return


def _remove_clone(target: Path, _: list[Path]) -> None:
    """Empty a directory of the person's that has an unfinished clone in it."""
    if (target / ".git").is_dir():
        for entry in target.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)


class _ProgressReader:
    """Extracts the latest line from git's progress output."""

    def __init__(self, on_progress: Callable[[str], None]) -> None:
        self._on_progress = on_progress
        self._rest = b""

    def feed(self, chunk: bytes) -> None:
        """Add a chunk of standard error; lines end with a carriage return or a line feed."""
        *lines, self._rest = re.split(rb"[\r\n]", self._rest[-1000:] + chunk)
        progress = [line for line in lines if line.strip()]
        if progress:
            self._on_progress(make_output_visible(progress[-1].decode("utf-8", "replace")).strip())
