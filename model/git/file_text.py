"""Reads the text of changed files as it is after the changes."""

import asyncio
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.domain.changes import Side
from model.git.changes import ChangedFile
from model.git.diff import TIMEOUT, clean_text, resolve_head
from model.git.run import git
from model.git.untracked import read_regular_file

_MAX_BYTES: Final = 5_000_000


async def read_lines(path: Path, side: Side, file: ChangedFile) -> list[str]:
    """Return the lines of a changed file in the worktree at `path`, control characters visible.

    Raises `SpinneyError` if the file was deleted, or has more than 5 MB.
    """
    if side == "unstaged":
        raw = await asyncio.to_thread(read_regular_file, path / file.name, _MAX_BYTES)
    else:
        tree = "" if side == "staged" else await resolve_head(path)
        blob = await git(
            path, "cat-file", "blob", f"{tree}:{file.name}", check=False, timeout=TIMEOUT,
            max_bytes=_MAX_BYTES,
        )  # fmt: skip
        is_whole = blob.returncode == 0 and not blob.is_truncated
        raw = blob.raw_stdout if is_whole else None
    if raw is None:
        raise SpinneyError("This file was deleted, or is too large to be shown.", "conflict")
    return await asyncio.to_thread(_split, raw)


def _split(raw: bytes) -> list[str]:
    text = clean_text(raw.decode("utf-8", "replace").removesuffix("\n"))
    return text.split("\n") if raw else []
