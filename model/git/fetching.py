"""What is fetched before a worktree is made: its base, or a pull request's head.

A remote that does not answer costs bounded time and never the worktree, where what is here serves.
"""

import asyncio
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.git.refs import check_branch_name
from model.git.remotes import fetch
from model.git.repositories import remotes
from model.git.run import git

PATIENCE: Final = 30.0
"""Seconds for a remote to answer before a worktree is made from what is here."""


async def freshen(root: Path, base: str, patience: float = PATIENCE) -> str | None:
    """Bring the remote's counterpart of the branch `base` up to date; why not, if that failed.

    What no remote has (a local branch, a tag, a commit) needs nothing.
    """
    found = await _counterpart(root, base)
    if found is None:
        return None
    remote, branch = found
    try:
        async with asyncio.timeout(patience):
            fetched, words = await fetch(root, remote, branch)
    except TimeoutError:
        return f"“{remote}” did not answer within {patience:g} seconds"
    except SpinneyError as error:
        return error.message
    return None if fetched else words


async def pull_request_head(root: Path, number: int, head: str) -> tuple[str, str | None]:
    """The commit of a pull request's head, and why it could not be fetched if it was here already.

    Asks the remotes for the request itself (which holds for forks, too), then for the branch
    `head`. Raises `SpinneyError` when nobody has it.
    """
    check_branch_name(head)
    names = await _remotes_origin_first(root)
    reasons: list[str] = []
    for remote in names:
        here = f"refs/spinney/pull/{remote}/{number}"
        for source in (f"refs/pull/{number}/head", f"refs/heads/{head}"):
            fetched = await git(
                root, "fetch", "--quiet", "--no-tags", "--end-of-options", remote,
                f"+{source}:{here}", write=True, timeout=300, check=False,
            )  # fmt: skip
            if fetched.returncode == 0:
                return (await git(root, "rev-parse", "--verify", here + "^{commit}")).stdout, None
            reasons.append(fetched.words)
    for remote in names:
        known = [f"refs/spinney/pull/{remote}/{number}", f"refs/remotes/{remote}/{head}"]
        for name in known:
            found = await git(
                root, "rev-parse", "--verify", "--quiet", name + "^{commit}", check=False
            )
            if found.returncode == 0:
                return found.stdout, reasons[0]
    why = reasons[0] if reasons else "the repository has no remote"
    raise SpinneyError(f"the head of pull request #{number} could not be fetched: {why}")


async def _counterpart(root: Path, base: str) -> tuple[str, str] | None:
    """The remote and its branch that `base` names or follows."""
    names = await _remotes_origin_first(root)
    for remote in names:
        if base.startswith(remote + "/"):
            return remote, base.removeprefix(remote + "/")
    for remote in names:
        ref = f"refs/remotes/{remote}/{base}"
        if (await git(root, "show-ref", "--verify", "--quiet", ref, check=False)).returncode == 0:
            return remote, base
    return None


async def _remotes_origin_first(root: Path) -> list[str]:
    names = [remote.name for remote in await remotes(root)]
    return sorted(names, key=lambda name: name != "origin")
