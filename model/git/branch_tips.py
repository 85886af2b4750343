"""The commits that all branches of a repository point at, read with one call of git.

A sweep over hundreds of worktrees of one repository reads them once and not for each worktree.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.git.refs import check_ref
from model.git.repositories import base_commits, remotes
from model.git.run import git

_HEADS: Final = "refs/heads/"
_REMOTES: Final = "refs/remotes/"


@dataclass(frozen=True, slots=True)
class BranchTips:
    """Where the branches of a repository stood at one moment."""

    commits: Mapping[str, str]
    """Commit ids by full ref name, local branches and those of remotes."""
    on_remotes: frozenset[str]
    """The commit ids of the remotes' branches."""
    has_remote: bool


async def branch_tips(root: Path) -> BranchTips:
    """Look at all branches of the repository at `root`, or of the one that `root` belongs to."""
    listed = await git(
        root, "for-each-ref", "--format=%(refname)%00%(objectname)", _HEADS, _REMOTES
    )
    commits = dict(line.split("\0") for line in listed.stdout.splitlines())
    there = frozenset(commit for name, commit in commits.items() if name.startswith(_REMOTES))
    return BranchTips(commits, there, bool(there) or bool(await remotes(root)))


async def base_tips(root: Path, base: str, tips: BranchTips) -> list[str]:
    """As `base_commits`, without asking git where `tips` knows the branch."""
    check_ref(base)
    names = (_HEADS + base, _REMOTES + base, f"{_REMOTES}origin/{base}")
    found = dict.fromkeys(tips.commits[name] for name in names if name in tips.commits)
    return list(found) or await base_commits(root, base)
