"""What a branch changes, told so that all of it can be taken in at once: for whoever sums it up."""

import asyncio
import re
from pathlib import Path
from typing import Final

from model.base.text import make_visible
from model.git.repositories import base_commits
from model.git.run import git

_OPTIONS: Final = (
    "-c", "core.quotePath=false",
    "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--find-renames",
    "-O/dev/null", "--submodule=short", "--ignore-submodules=dirty",
    "--src-prefix=a/", "--dst-prefix=b/", "--patch", "--stat=100", "--stat-count=200",
    "--end-of-options",
)  # fmt: skip
_MOST_BYTES: Final = 2_000_000
_FEW: Final = 10
"""Files that share the room evenly; of more, each has a tenth and the last are left out."""


async def branch_overview(path: Path, base: str, most: int) -> tuple[str, str]:
    """What the commits since the branch in `path` left `base` change, cleaned.

    Returns:
        Git's table of the changed files, and the differences; of the latter about `most`
        characters, shared out so that no large file hides those after it.
    """
    left = await git(path, "merge-base", "HEAD", *await base_commits(path, base))
    shown = await git(path, *_OPTIONS, left.stdout, "HEAD", "--", timeout=60, most=_MOST_BYTES)
    return await asyncio.to_thread(_shared_out, shown.raw.decode("utf-8", "replace"), most)


def _shared_out(text: str, most: int) -> tuple[str, str]:
    table, *files = re.split(r"^(?=diff --git )", text, flags=re.MULTILINE)
    share = most // max(1, min(len(files), _FEW))
    parts = (file if len(file) <= share else f"{file[:share]}\n[cut off]\n" for file in files)
    return make_visible(table).strip(), make_visible("".join(parts)[:most])
