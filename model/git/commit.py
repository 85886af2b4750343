"""Create commits in a worktree."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import make_visible, restore_hidden
from model.git.added_lines import read_index_tree, read_staged_additions
from model.git.canceling import restore_index
from model.git.changes import to_display_name
from model.git.conflict_markers import (
    find_added_markers,
    may_have_markers,
    refuse_marked,
    refuse_unmerged,
)
from model.git.merging import read_prepared_message
from model.git.run import git
from model.git.secret_gate import SecretGate
from model.git.working_tree import read_working_tree

HOOKS_TIMEOUT: Final = 300
"""Seconds; commit hooks run linters and tests."""


async def commit(
    path: Path,
    message: str,
    gate: SecretGate,
    stage_all: bool = False,
    *,
    allow_markers: bool = False,
) -> str:
    """Commit the staged changes, or with `stage_all` every change including untracked files.

    Args:
        path: The worktree.
        message: The whole message.
        gate: Refuses secrets in what would be committed.
        stage_all: Stage all changes first.
        allow_markers: Whether lines that look like conflict markers may be added.

    Returns:
        The id of the commit.

    Raises:
        SpinneyError: Nothing to commit; a conflict is not resolved; a secret; `git_error` with the
            message of git or a hook.
    """
    text = restore_hidden(make_visible(message), await read_prepared_message(path)).strip()
    if not text:
        raise SpinneyError("The commit message is empty.")
    tree, _ = await read_working_tree(path, submodules="none")
    if not tree.count_files() and not await _is_merging(path):
        raise SpinneyError("No uncommitted changes to commit", "conflict")
    if not stage_all and not tree.has_staged_changes and not await _is_merging(path):
        raise SpinneyError("Nothing is staged. Stage changes first, or commit all.", "conflict")
    unmerged = [to_display_name(name) for _, name, _ in tree.unmerged]
    async with restore_index(path, tree.commit, is_needed=stage_all):
        await stage_checked(
            path, text, gate, unmerged, stage_all=stage_all, allow_markers=allow_markers
        )
        await git(path, "commit", f"--message={text}", write=True, timeout=HOOKS_TIMEOUT)
    return (await git(path, "rev-parse", "HEAD")).stdout


async def stage_checked(
    path: Path,
    message: str,
    gate: SecretGate,
    unmerged: Sequence[str],
    *,
    stage_all: bool,
    allow_markers: bool,
) -> None:
    """Look for conflicts and secrets in what would be committed, and stage all changes if that is
    wanted.

    `unmerged` are the files with a conflict in the index, for people. Raises `conflict`, and stages
    nothing, if there are some.
    """
    refuse_unmerged(unmerged)
    added = await read_staged_additions(path, stage_all=stage_all) if gate.is_on else None
    if not allow_markers and (added is None or may_have_markers(added)):
        refuse_marked(await find_added_markers(path, stage_all=stage_all))
    tree = await gate.check_commit(path, message, stage_all=stage_all, additions=added)
    if stage_all:
        await git(path, "add", "--all", write=True, timeout=HOOKS_TIMEOUT)
    if tree and await read_index_tree(path) != tree:
        raise SpinneyError(
            "The files changed while they were searched for secrets. Commit again.", "conflict"
        )


async def has_staged_changes(path: Path) -> bool:
    """Whether the index differs from the last commit."""
    compared = await git(
        path, "diff", "--cached", "--quiet", "--no-ext-diff", "--no-textconv", check=False
    )
    return compared.returncode == 1


async def _is_merging(path: Path) -> bool:
    """Whether a merge is ready to be committed, even if it changes no file."""
    found = await git(path, "rev-parse", "--verify", "--quiet", "MERGE_HEAD", check=False)
    return found.returncode == 0
