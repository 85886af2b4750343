"""Differences as unified diff text: the working tree, the index, or a branch since its base."""

import asyncio
from pathlib import Path
from typing import Final, Literal

from model.base.errors import SpinneyError
from model.base.text import make_visible
from model.git.repositories import base_commits, default_branch
from model.git.run import git
from model.git.status import empty_tree, untracked_files
from model.git.untracked import as_new_files

DiffKind = Literal["working", "staged", "branch"]

# The same text whatever the user configured, and no program of the repository's choosing.
DIFF: Final = (
    "-c", "core.quotePath=false",
    "-c", "diff.suppressBlankEmpty=false",
    "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--find-renames",
    "-O/dev/null", "--submodule=short", "--ignore-submodules=dirty",
    "--src-prefix=a/", "--dst-prefix=b/", "--unified=3", "--inter-hunk-context=0",
    "--end-of-options",
)  # fmt: skip
TIMEOUT: Final = 60
MOST_BYTES: Final = 32_000_000
"""Bytes of a difference that are shown; who wrote a million lines does not read them here."""
_PIECE: Final = 100_000
"""Characters cleaned in one go: a longer search would hold up all other threads."""


async def diff(path: Path, kind: DiffKind, base: str | None = None) -> str:
    """The differences of one kind, cleaned for any screen; empty when there are none.

    Args:
        path: The worktree.
        kind: `working`: all that is not committed, staged or not, untracked files as new ones;
            `staged`: what the next commit would hold; `branch`: the commits since the branch
            left its base.
        base: For `branch`: the base, or the default branch.
    """
    match kind:
        case "working":
            new_files = await untracked_files(path)
            text = await _shown(path, await head(path))
            text += await asyncio.to_thread(as_new_files, path, new_files)
        case "staged":
            text = await _shown(path, await head(path), cached=True)
        case "branch":
            text = await _shown(path, *await branch_ends(path, base or await default_branch(path)))
    return await asyncio.to_thread(cleaned, text)


async def _shown(path: Path, *commits: str, cached: bool = False) -> str:
    options = (*DIFF[:-1], "--cached", DIFF[-1]) if cached else DIFF
    shown = await git(path, *options, *commits, "--", timeout=TIMEOUT, most=MOST_BYTES)
    text = shown.raw.decode("utf-8", "replace")
    if not shown.cut:
        return text
    whole_lines = text.rpartition("\n")[0]
    limit = f"{MOST_BYTES // 1_000_000} MB"
    return f"{whole_lines}\n\\ The rest is not shown: the difference is larger than {limit}.\n"


def cleaned(text: str) -> str:
    """`make_visible` for long texts, a piece at a time."""
    pieces = []
    start = 0
    while start < len(text):
        end = text.find("\n", start + _PIECE) + 1 or len(text)
        pieces.append(make_visible(text[start:end]))
        start = end
    return "".join(pieces)


async def branch_ends(path: Path, base: str) -> tuple[str, str]:
    """The commits between which the branch's own work lies: where it left its base, and its head.

    Raises `SpinneyError` where the two have nothing in common.
    """
    bases = await base_commits(path, base)
    tip = await head(path)
    left = await git(path, "merge-base", tip, *bases, check=False)
    if left.returncode != 0:
        raise SpinneyError(
            f"The branch has no commit in common with “{base}”: choose another base branch.",
            "git_error",
        )
    return left.stdout, tip


async def head(path: Path) -> str:
    """The id of the checked-out commit; before the first one that of the empty tree."""
    found = await git(
        path, "rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD", check=False
    )
    return found.stdout or await empty_tree(path)
