"""The commits of all branches of a repository, read with a single git command.

A poll of hundreds of worktrees of one repository reads them once, not once per worktree.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.git.refs import check_ref
from model.git.repositories import remotes, resolve_base
from model.git.run import git

_HEADS: Final = "refs/heads/"
_REMOTES: Final = "refs/remotes/"


@dataclass(frozen=True, slots=True)
class BranchTips:
    """The branches of a repository at one moment."""

    commits: Mapping[str, str]
    """Commit ids by full ref name, for local and remote branches."""
    on_remotes: frozenset[str]
    """The commit ids of the remote branches."""
    has_remote: bool


async def branch_tips(root: Path) -> BranchTips:
    """Read all branches of the repository that `root` belongs to."""
    listed = await git(
        root, "for-each-ref", "--format=%(refname)%00%(objectname)", _HEADS, _REMOTES
    )
    commits = dict(line.split("\0") for line in listed.stdout.splitlines())
    on_remotes = frozenset(commit for name, commit in commits.items() if name.startswith(_REMOTES))
    return BranchTips(commits, on_remotes, bool(on_remotes) or bool(await remotes(root)))


async def resolve_base_tips(root: Path, base: str, tips: BranchTips) -> list[str]:
    """Like `resolve_base`, but runs git only if `tips` does not contain the branch."""
    check_ref(base)
    names = (_HEADS + base, _REMOTES + base, f"{_REMOTES}origin/{base}")
    found = dict.fromkeys(tips.commits[name] for name in names if name in tips.commits)
    return list(found) or await resolve_base(root, base)
