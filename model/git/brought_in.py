"""Which other branches a branch would bring in with it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from model.git.run import git
from model.git.trains import read_heads

_MAX_LISTED: Final = 10_000
"""Commits that are looked at, the newest."""

_Parents = Mapping[str, Sequence[str]]


async def find_brought_in(
    root: Path, head: str, base: Sequence[str], others: Mapping[str, bool]
) -> dict[str, int]:
    """Return how many commits of other branches are in a branch, and not in its base.

    Args:
        root: A working tree of the repository.
        head: The branch's commit.
        base: The commits of the base.
        others: The names of the other branches, and whether each is older: a commit that both have
            had from their beginning is of the older one.
    """
    heads = await read_heads(root, list(others)) if others else {}
    if not heads:
        return {}
    listed = await git(
        root, "rev-list", "--parents", f"--max-count={_MAX_LISTED}", head, *heads.values(),
        "--not", *base, "--", timeout=60,
    )  # fmt: skip
    parents = {commit: rest for commit, *rest in map(str.split, listed.stdout.splitlines())}
    mine, own = set(_walk(parents, head)), set(_walk(parents, head, is_straight=True))
    found = {}
    for name, tip in heads.items():
        theirs = set(_walk(parents, tip, is_straight=True))
        number = len(theirs & mine) if others[name] else len(theirs & (mine - own))
        if number:
            found[name] = number
    return found


def _walk(parents: _Parents, tip: str, *, is_straight: bool = False) -> Iterator[str]:
    """Yield a listed commit and all before it; `is_straight` follows first parents alone."""
    seen, waiting = set(), [tip]
    while waiting:
        commit = waiting.pop()
        if commit in parents and commit not in seen:
            seen.add(commit)
            yield commit
            waiting += parents[commit][:1] if is_straight else parents[commit]
