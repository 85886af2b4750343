"""Find out whether a branch is merged: by its commits, by their patches, or by the content.

Patch ids only find candidates: git makes them without white space, which in many languages has a
meaning. And what the base has taken back since is not merged, whatever its history says.
"""

import asyncio
import hashlib
from collections.abc import Iterable
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
_MAX_PATCHES: Final = 20_000_000
"""Bytes of patches that are compared exactly; more are not taken for equal."""
_TIMEOUT: Final = 60.0
_WORK: Final = ("commit", "rebase", "cherry-pick", "revert", "am:", "merge")
"""How the entries of a reflog begin that made a commit on the branch."""


async def find_merged(
    root: Path, head: str, bases: list[str], branch: str, scratch: ScratchObjects
) -> Merged | Literal["reverted"] | None:
    """Return how the branch is known to be in its base; `None` if it is not.

    A branch on which nothing was committed is not merged. `reverted`: it was in the base, which has
    taken some of it back since.

    Args:
        root: The repository.
        head: The branch's commit.
        bases: The commits of the base and of its remote counterpart.
        branch: The name of the branch.
        scratch: Where objects are written that are needed for this.

    Raises:
        SpinneyError: As `model.git.run.git`.
    """
    containing = [base for base in bases if await is_ancestor(root, head, base)]
    if containing:
        if not await _had_commits(root, branch):
            return None
        for base in containing:
            start = await _find_start(root, base, head, branch)
            if start and await _is_taken_back(root, base, head, start, scratch):
                return "reverted"
        return "commits"
    found: Merged | None = None
    for base in bases:
        left_at = await git(root, "merge-base", base, head, check=False)
        if left_at.returncode != 0:
            continue
        if await _has_patches(root, base, head, left_at.stdout, scratch):
            if await _is_taken_back(root, base, head, left_at.stdout, scratch):
                return "reverted"
            found = found or "squash"
        elif await _has_content(root, base, head, scratch):
            found = found or "content"
    return found


async def is_ancestor(root: Path, commit: str, of: str) -> bool:
    """Whether `commit` is `of` or one of its ancestors; false if either is not there."""
    found = await git(root, "merge-base", "--is-ancestor", commit, of, check=False)
    return found.returncode == 0


async def _had_commits(root: Path, branch: str) -> bool:
    log = await git(
        root, "log", "--walk-reflogs", "--no-show-signature", "--max-count=200", "--format=%gs",
        "--end-of-options", f"refs/heads/{branch}", "--", check=False,
    )  # fmt: skip
    return log.returncode == 0 and any(entry.startswith(_WORK) for entry in log.stdout.splitlines())


async def _find_start(root: Path, base: str, head: str, branch: str) -> str:
    """Return where a branch began that the base contains; empty if that is not known."""
    merges = await git(
        root, "rev-list", "--merges", "--parents", "--ancestry-path", f"{head}..{base}",
        timeout=_TIMEOUT,
    )  # fmt: skip
    for line in merges.stdout.splitlines():
        _, into, *brought_in = line.split()
        if head in brought_in:
            return (await git(root, "merge-base", into, head, check=False)).stdout
    log = await git(
        root, "log", "--walk-reflogs", "--no-show-signature", "--format=%H %gs",
        "--end-of-options", f"refs/heads/{branch}", "--", check=False,
    )  # fmt: skip
    first, _, what = log.stdout.rpartition("\n")[2].partition(" ")
    is_start = what.startswith("branch: Created") and await is_ancestor(root, first, head)
    return first if is_start else ""


async def _is_taken_back(
    root: Path, base: str, head: str, start: str, scratch: ScratchObjects
) -> bool:
    """Whether merging the branch once more would bring back what the base does not have now."""
    if not await radar.can_merge():
        own = await _list_changed(root, start, head, scratch)
        return not own <= await _list_changed(root, start, base, scratch)
    again = await _commit_together(root, head, start, scratch)
    merged = await git(
        root, *await asyncio.to_thread(replace_merge_drivers, root),
        "merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", base, again,
        check=False, environment=scratch.environment, timeout=_TIMEOUT, filters=False,
    )  # fmt: skip
    if merged.returncode not in (0, 1):
        return False
    tree, *conflicted = merged.fields
    # In a file with a conflict the base went on from what the branch had brought.
    return not await _list_changed(root, base, tree, scratch) <= set(conflicted)


async def _list_changed(root: Path, one: str, other: str, scratch: ScratchObjects) -> set[str]:
    listed = await git(
        root, "diff-tree", "-r", "-z", "--name-only", "--no-renames", one, other,
        environment=scratch.environment, timeout=_TIMEOUT,
    )  # fmt: skip
    return set(listed.fields)


async def _commit_together(root: Path, head: str, start: str, scratch: ScratchObjects) -> str:
    """Return a commit that does at once what the branch did since `start`."""
    made = await git(
        root, "commit-tree", f"{head}^{{tree}}", "-p", start,
        stdin=b"Together\n", environment={**scratch.environment, **_IDENTITY},
    )  # fmt: skip
    return made.stdout


async def _has_patches(
    root: Path, base: str, head: str, left_at: str, scratch: ScratchObjects
) -> bool:
    """Whether the base has the branch's patches, one by one or all in one commit."""
    if not await _is_comparable(root, base, head):
        return False
    together = await _commit_together(root, head, left_at, scratch)
    for commit in dict.fromkeys((head, together)):
        if await _has_each_patch(root, base, commit, scratch):
            return True
    return False


async def _has_each_patch(root: Path, base: str, commit: str, scratch: ScratchObjects) -> bool:
    own = set(await _list_commits(root, f"{base}..{commit}", scratch))
    marked = await _list_commits(root, f"{base}...{commit}", scratch, "--cherry-mark")
    same = {line[1:] for line in marked if line[0] == "="}
    if not own or not own <= same:
        return False
    patches = await _read_patches(root, same, scratch)
    return {patches.get(one) for one in own} <= {patches.get(one, "") for one in same - own}


async def _list_commits(
    root: Path, commits: str, scratch: ScratchObjects, *options: str
) -> list[str]:
    listed = await git(
        root, "rev-list", "--no-merges", *options, commits,
        timeout=_TIMEOUT, environment=scratch.environment,
    )  # fmt: skip
    return listed.stdout.split()


async def _read_patches(
    root: Path, commits: Iterable[str], scratch: ScratchObjects
) -> dict[str, str]:
    """Return what stands for the exact patch of each commit, wherever in a file it applies.

    None of them if there is too much to read.
    """
    shown = await git(
        root, "diff-tree", "--stdin", "--root", "-r", "-p", "--binary", "--full-index",
        "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color",
        stdin="".join(f"{commit}\n" for commit in commits).encode(), max_bytes=_MAX_PATCHES,
        environment=scratch.environment, timeout=_TIMEOUT,
    )  # fmt: skip
    if shown.is_truncated:
        return {}
    return await asyncio.to_thread(_hash_patches, shown.raw_stdout, {*commits})


def _hash_patches(output: bytes, commits: set[str]) -> dict[str, str]:
    hashes = {commit: hashlib.sha256() for commit in commits}
    current = hashlib.sha256()
    for line in output.removesuffix(b"\n").split(b"\n"):
        if (commit := line.decode("ascii", "replace")) in hashes:
            current = hashes[commit]
        elif line.startswith(b"@@ "):
            current.update(b"@@\n")
        elif not line.startswith(b"index "):
            current.update(line + b"\n")
    return {commit: found.hexdigest() for commit, found in hashes.items()}


_IDENTITY: Final = {
    f"GIT_{role}_{name}": value
    for role in ("AUTHOR", "COMMITTER")
    for name, value in (("NAME", "-"), ("EMAIL", "-"), ("DATE", "@1 +0000"))
}


async def _is_comparable(root: Path, base: str, head: str) -> bool:
    counted = await git(root, "rev-list", "--count", "--left-right", f"{base}...{head}")
    theirs, own = map(int, counted.stdout.split())
    # A base without commits since then has no patch of the branch.
    return 0 < theirs <= _MAX_COMMITS and 0 < own <= _MAX_OWN


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
