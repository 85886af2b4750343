"""The commits of all branches of a repository, read with a single git command.

A poll of hundreds of worktrees of one repository reads them once, not once per worktree.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.git.repositories import list_remotes, read_refs, resolve_base, select_base

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


async def read_branch_tips(root: Path) -> BranchTips:
    """Read all branches of the repository that `root` belongs to."""
    commits = await read_refs(root, _HEADS, _REMOTES)
    on_remotes = frozenset(commit for name, commit in commits.items() if name.startswith(_REMOTES))
    return BranchTips(commits, on_remotes, bool(on_remotes) or bool(await list_remotes(root)))


async def resolve_base_tips(root: Path, base: str, tips: BranchTips) -> list[str]:
    """Like `resolve_base`, but runs git only if `tips` does not contain the branch."""
    return select_base(base, tips.commits) or await resolve_base(root, base)
