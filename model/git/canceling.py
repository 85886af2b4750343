"""Leave a worktree as it was when git is canceled while it commits, merges or rebases."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from model.base.errors import SpinneyError
from model.base.git_layout import find_git_directories
from model.git.merging import abort, find_operation
from model.git.run import git


@asynccontextmanager
async def restore_index(path: Path, head: str | None, *, is_needed: bool) -> AsyncIterator[None]:
    """Bring the index back if the commit that is made within is canceled.

    `head` is the commit before it. Raises `conflict` if the commit was made nevertheless: then
    only a hook that runs after it was canceled.
    """
    index = await asyncio.to_thread(_find_index, path) if is_needed else None
    with tempfile.TemporaryDirectory(prefix="spinney-") as folder:
        kept = Path(folder) / "index"
        if index is not None:
            await asyncio.to_thread(shutil.copyfile, index, kept)
        try:
            yield
        except asyncio.CancelledError:
            now = await git(path, "rev-parse", "--verify", "--quiet", "HEAD", check=False)
            if now.stdout != (head or ""):
                raise SpinneyError(
                    "It was committed before that was canceled. What a hook does after a commit "
                    "may be missing.",
                    "conflict",
                ) from None
            if index is not None:
                await asyncio.to_thread(_replace, index, kept)
            raise


@asynccontextmanager
async def abort_operation(path: Path) -> AsyncIterator[None]:
    """Abort the merge or rebase that is begun within if it is canceled."""
    before = await find_operation(path)
    try:
        yield
    except asyncio.CancelledError:
        if before is None and await find_operation(path) is not None:
            await abort(path)
        raise


def _find_index(path: Path) -> Path | None:
    directories = find_git_directories(path)
    index = directories.git_dir / "index" if directories else None
    return index if index and index.exists() else None


def _replace(index: Path, kept: Path) -> None:
    """Replace the index as git does, unless another git works with it."""
    lock = index.with_name("index.lock")
    with suppress(FileExistsError), lock.open("xb") as file:
        with kept.open("rb") as content:
            shutil.copyfileobj(content, file)
        os.replace(lock, index)  # noqa: PTH105
