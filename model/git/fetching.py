"""Fetch what a new worktree starts from: its base branch, or a pull request's head.

A remote that does not respond costs a bounded time; creation continues with local commits.
"""

import asyncio
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.git.hosts import list_hosting_remotes
from model.git.refs import check_branch_name
from model.git.remotes import fetch
from model.git.repositories import list_remotes
from model.git.run import git
from model.git.snapshots.own_refs import OWN_REFS, remove_damaged

TIMEOUT: Final = 30.0
"""Seconds for a remote to respond before a worktree is created from local commits."""

_HEADS: Final = {"github": "refs/pull/{}/head", "gitlab": "refs/merge-requests/{}/head"}
"""Where a service keeps the heads of pull requests, by number."""


async def fetch_base(root: Path, base: str, timeout: float = TIMEOUT) -> str | None:
    """Update the remote branch that `base` names or follows; return the reason if that failed.

    A local branch, tag or commit without a remote counterpart needs no update.
    """
    found = await find_remote_branch(root, base)
    if found is None:
        return None
    remote, branch = found
    try:
        async with asyncio.timeout(timeout):
            fetched, output = await fetch(root, remote, branch)
    except TimeoutError:
        return f"'{remote}' did not respond within {timeout:g} seconds"
    except SpinneyError as error:
        return error.message
    return None if fetched else output


async def fetch_pull_request_head(root: Path, number: int, head: str) -> tuple[str, str | None]:
    """Return the commit of a pull request's head, and why it was not fetched if it is a local one.

    Asks each remote for the request itself (which also works for forks), then for the branch
    `head`. Raises `SpinneyError` if the commit is not available.
    """
    check_branch_name(head)
    names = await _list_remotes_origin_first(root)
    services = {remote.name: remote.service for remote in await list_hosting_remotes(root)}
    reasons: list[str] = []
    for remote in names:
        target = f"{OWN_REFS}pull/{remote}/{number}"
        await remove_damaged(root, target)  # Git fetches into no ref that it cannot read.
        heads = [_HEADS[services[remote]]] if remote in services else _HEADS.values()
        for source in (*(ref.format(number) for ref in heads), f"refs/heads/{head}"):
            fetched = await git(
                root, "fetch", "--quiet", "--no-tags", "--end-of-options", remote,
                f"+{source}:{target}", write=True, timeout=300, check=False,
            )  # fmt: skip
            if fetched.returncode == 0:
                return (await git(root, "rev-parse", "--verify", target + "^{commit}")).stdout, None
            reasons.append(fetched.message)
    for remote in names:
        local_refs = [f"{OWN_REFS}pull/{remote}/{number}", f"refs/remotes/{remote}/{head}"]
        for ref in local_refs:
            found = await git(
                root, "rev-parse", "--verify", "--quiet", ref + "^{commit}", check=False
            )
            if found.returncode == 0:
                return found.stdout, reasons[0]
    why = reasons[0] if reasons else "the repository has no remote"
    raise SpinneyError(f"the head of pull request #{number} could not be fetched: {why}")


async def find_remote_branch(root: Path, base: str) -> tuple[str, str] | None:
    """Return the remote and the branch on it that `base` names or follows."""
    names = await _list_remotes_origin_first(root)
    for remote in names:
        if base.startswith(remote + "/"):
            return remote, base.removeprefix(remote + "/")
    for remote in names:
        ref = f"refs/remotes/{remote}/{base}"
        if (await git(root, "show-ref", "--verify", "--quiet", ref, check=False)).returncode == 0:
            return remote, base
    return None


async def _list_remotes_origin_first(root: Path) -> list[str]:
    names = [remote.name for remote in await list_remotes(root)]
    return sorted(names, key=lambda name: name != "origin")
