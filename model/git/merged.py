"""Find out whether a branch is merged: by its commits, by their patches, or by the content."""

import asyncio
from pathlib import Path
from typing import Final, Literal

from model.git.run import git
from model.git.safe_config import replace_merge_drivers
from model.git.snapshots import radar
from model.git.snapshots.scratch import ScratchObjects

Merged = Literal["commits", "squash", "content"]

_MAX_COMMITS: Final = 2000
"""Commits of the base since the branch left it, of which patches are compared."""
_MAX_OWN: Final = 500
"""Commits of the branch."""
_TIMEOUT: Final = 60.0
_WORK: Final = ("commit", "rebase", "cherry-pick", "revert", "am:", "merge")
"""How the entries of a reflog begin that made a commit on the branch."""


async def find_merged(
    root: Path, head: str, bases: list[str], branch: str, scratch: ScratchObjects
) -> Merged | None:
    """Return how the branch is known to be in its base; `None` if it is not.

    A branch on which nothing was committed is not merged.

    Args:
        root: The repository.
        head: The branch's commit.
        bases: The commits of the base and of its remote counterpart.
        branch: The name of the branch.
        scratch: Where objects are written that are needed for this.

    Raises:
        SpinneyError: As `model.git.run.git`.
    """
    for base in bases:
        found = await git(root, "merge-base", "--is-ancestor", head, base, check=False)
        if found.returncode == 0:
            return "commits" if await _had_commits(root, branch) else None
    for base in bases:
        left_at = await git(root, "merge-base", base, head, check=False)
        if left_at.returncode != 0:
            continue
        if await _has_patches(root, base, head, left_at.stdout, scratch):
            return "squash"
        if await _has_content(root, base, head, scratch):
            return "content"
    return None


async def _had_commits(root: Path, branch: str) -> bool:
    log = await git(
        root, "log", "--walk-reflogs", "--no-show-signature", "--max-count=200", "--format=%gs",
        "--end-of-options", f"refs/heads/{branch}", "--", check=False,
    )  # fmt: skip
    return log.returncode == 0 and any(entry.startswith(_WORK) for entry in log.stdout.splitlines())


async def _has_patches(
    root: Path, base: str, head: str, left_at: str, scratch: ScratchObjects
) -> bool:
    """Whether the base has the branch's patches, one by one or all in one commit."""
    if not await _is_comparable(root, base, head):
        return False
    together = await git(
        root, "commit-tree", f"{head}^{{tree}}", "-p", left_at,
        stdin=b"Together\n", environment={**scratch.environment, **_IDENTITY},
    )  # fmt: skip
    for commit in dict.fromkeys((head, together.stdout)):
        listed = await git(
            root, "cherry", base, commit, timeout=_TIMEOUT, environment=scratch.environment
        )
        marks = {line[:1] for line in listed.stdout.splitlines()}
        if marks == {"-"}:
            return True
    return False


_IDENTITY: Final = {
    f"GIT_{role}_{name}": value
    for role in ("AUTHOR", "COMMITTER")
    for name, value in (("NAME", "-"), ("EMAIL", "-"), ("DATE", "@1 +0000"))
}


async def _is_comparable(root: Path, base: str, head: str) -> bool:
    counted = await git(root, "rev-list", "--count", "--left-right", f"{base}...{head}")
    theirs, own = map(int, counted.stdout.split())
    return theirs <= _MAX_COMMITS and 0 < own <= _MAX_OWN


async def _has_content(root: Path, base: str, head: str, scratch: ScratchObjects) -> bool:
    """Whether merging the branch would change nothing in the base."""
    if not await radar.can_merge():
        compared = await git(root, "rev-parse", f"{base}^{{tree}}", f"{head}^{{tree}}")
        one, other = compared.stdout.split()
        return one == other
    merged = await git(
        root, *await asyncio.to_thread(replace_merge_drivers, root),
        "merge-tree", "--write-tree", "--no-messages", base, head,
        check=False, environment=scratch.environment, timeout=_TIMEOUT, filters=False,
    )  # fmt: skip
    if merged.returncode != 0:
        return False
    tree = await git(root, "rev-parse", f"{base}^{{tree}}")
    return merged.stdout == tree.stdout
