"""A compact summary of a branch's changes, used as prompt input."""

import asyncio
import re
from pathlib import Path
from typing import Final

from model.base.text import make_visible
from model.git.diff import find_merge_base
from model.git.run import git

_OPTIONS: Final = (
    "-c", "core.quotePath=false",
    "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--find-renames",
    "-O/dev/null", "--submodule=short", "--ignore-submodules=dirty",
    "--src-prefix=a/", "--dst-prefix=b/", "--patch", "--stat=100", "--stat-count=200",
    "--end-of-options",
)  # fmt: skip
_MAX_BYTES: Final = 2_000_000
_MAX_SHARES: Final = 10
"""Up to this many files share the limit evenly; of more, each gets a tenth, the last none."""


async def summarize_branch(path: Path, base: str, limit: int) -> tuple[str, str]:
    """Summarize the changes of the branch in `path` since it left `base`, as visible text.

    Returns:
        Git's table of changed files, and the diffs limited to about `limit` characters, shared so
        that no large file hides the files after it.
    """
    merge_base = await find_merge_base(path, "HEAD", base)
    result = await git(path, *_OPTIONS, merge_base, "HEAD", "--", timeout=60, max_bytes=_MAX_BYTES)
    return await asyncio.to_thread(
        _split_evenly, result.raw_stdout.decode("utf-8", "replace"), limit
    )


def _split_evenly(text: str, limit: int) -> tuple[str, str]:
    table, *files = re.split(r"^(?=diff --git )", text, flags=re.MULTILINE)
    share = limit // max(1, min(len(files), _MAX_SHARES))
    parts = (file if len(file) <= share else f"{file[:share]}\n[cut off]\n" for file in files)
    return make_visible(table).strip(), make_visible("".join(parts)[:limit])
