"""Unified diffs of the working tree, the index, or a branch since its base."""

import asyncio
from pathlib import Path
from typing import Final, Literal

from model.base.errors import SpinneyError
from model.base.git_layout import find_git_directories
from model.base.text import make_visible
from model.git.repositories import find_default_branch, resolve_base
from model.git.run import git
from model.git.snapshots.plumbing import RESERVED
from model.git.status import get_empty_tree, list_untracked_files
from model.git.untracked import render_new_files

DiffKind = Literal["working", "staged", "branch"]

# Same output whatever the user configured, without running programs named by the repository.
DIFF_ARGUMENTS: Final = (
    "-c", "core.quotePath=false",
    "-c", "diff.suppressBlankEmpty=false",
    "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--find-renames",
    "-O/dev/null", "--submodule=short", "--ignore-submodules=dirty",
    "--src-prefix=a/", "--dst-prefix=b/", "--unified=3", "--inter-hunk-context=0",
    "--end-of-options",
)  # fmt: skip
TIMEOUT: Final = 60
MAX_BYTES: Final = 32_000_000
"""Bytes of a diff that are shown; a million lines cannot be reviewed here."""
_CHUNK_SIZE: Final = 100_000
"""Characters sanitized at a time: a longer regex search would block all other threads."""


async def diff(path: Path, kind: DiffKind, base: str | None = None) -> str:
    """Return a diff of one kind, safe to display; empty if there are no differences.

    Args:
        path: The worktree.
        kind: `working`: all uncommitted changes, staged or not, untracked files as new ones;
            `staged`: what the next commit would contain; `branch`: the commits since the branch
            left its base.
        base: For `branch`: the base; by default the default branch.
    """
    match kind:
        case "working":
            new_files = await list_untracked_files(path)
            text = await _run_diff(path, await resolve_head(path))
            text += await asyncio.to_thread(render_new_files, path, new_files)
        case "staged":
            text = await _run_diff(path, await resolve_head(path), cached=True)
        case "branch":
            text = await _run_diff(
                path, *await find_branch_range(path, base or await find_default_branch(path))
            )
    return await asyncio.to_thread(clean_text, text)


async def read_diff_between(path: Path, before: str, after: str) -> str:
    """Return the diff between two snapshots' trees, safe to display."""
    text = await _run_diff(path, before, after, pathspec=f":(exclude,top,literal){RESERVED}")
    return await asyncio.to_thread(clean_text, text)


async def _run_diff(
    path: Path, *commits: str, cached: bool = False, pathspec: str = ":(top)"
) -> str:
    options = (*DIFF_ARGUMENTS[:-1], "--cached", DIFF_ARGUMENTS[-1]) if cached else DIFF_ARGUMENTS
    result = await git(
        path, *options, *commits, "--", pathspec, timeout=TIMEOUT, max_bytes=MAX_BYTES
    )
    text = result.raw_stdout.decode("utf-8", "replace")
    if not result.is_truncated:
        return text
    whole_lines = text.rpartition("\n")[0]
    limit = f"{MAX_BYTES // 1_000_000} MB"
    return f"{whole_lines}\n\\ The rest is not shown: the diff is larger than {limit}.\n"


def clean_text(text: str) -> str:
    """Apply `make_visible` to a long text in chunks."""
    chunks = []
    start = 0
    while start < len(text):
        end = text.find("\n", start + _CHUNK_SIZE) + 1 or len(text)
        chunks.append(make_visible(text[start:end]))
        start = end
    return "".join(chunks)


async def find_branch_range(path: Path, base: str) -> tuple[str, str]:
    """Return the two commits that enclose the branch's own work: the merge base and the tip.

    Raises `SpinneyError` if the branch and `base` have no common commit.
    """
    tip = await resolve_head(path)
    return await find_merge_base(path, tip, base), tip


async def find_merge_base(path: Path, tip: str, base: str) -> str:
    """Return the commit at which `tip` left `base`. Raises `SpinneyError` if there is none."""
    found = await git(path, "merge-base", tip, *await resolve_base(path, base), check=False)
    if found.returncode != 0:
        error = SpinneyError(
            f"The branch has no commit in common with '{base}'. Choose another base branch.",
            "git_error",
        )
        raise await asyncio.to_thread(explain_no_common_commit, path, error)
    return found.stdout


def explain_no_common_commit(path: Path, error: SpinneyError) -> SpinneyError:
    """Return the error for two branches without a common commit: the given one, if all is there.

    Reads files; blocks.
    """
    directories = find_git_directories(path)
    if directories is None or not (directories.common_dir / "shallow").exists():
        return error
    return SpinneyError(
        "The clone is shallow: it has the newest commits only, and not the one that the two "
        "branches have in common. Run 'git fetch --unshallow' there in a terminal, then try again.",
        "conflict",
    )


async def resolve_head(path: Path) -> str:
    """Return the id of the checked-out commit, or of the empty tree before the first commit."""
    found = await git(
        path, "rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD", check=False
    )
    return found.stdout or await get_empty_tree(path)
