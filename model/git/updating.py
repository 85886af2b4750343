"""Bring what is new in a base branch into a worktree: what is here, and what is at its remote."""

from pathlib import Path

from model.git import remotes
from model.git.fetching import fetch_base, find_remote_branch
from model.git.merged import is_ancestor
from model.git.repositories import list_base_refs, read_refs, resolve_base

_HERE = "."
"""The repository itself, as a remote."""


async def update_from_base(path: Path, base: str) -> tuple[bool, str]:
    """Merge what a worktree lacks of its base; return success, and what git said.

    Conflicts are left in the worktree. A remote that cannot be reached is no failure if what is
    here was brought in; it is named. Raises `not_found` if there is no such base.
    """
    unreachable = await fetch_base(path, base)
    remote_branch = await find_remote_branch(path, base)
    local, *others = list_base_refs(base)
    refs = await read_refs(path, local, *others)
    sources = [(_HERE, base)] if local in refs else []
    sources += [remote_branch] if remote_branch is not None and not unreachable else []
    said = [f"The remote was not asked: {unreachable}"] if unreachable else []
    if not sources and not unreachable:
        await resolve_base(path, base)  # Raises if there is nothing of that name.
    for remote, branch in sources:
        name = local if remote == _HERE else f"refs/remotes/{remote}/{branch}"
        if name in refs and await is_ancestor(path, refs[name], "HEAD"):
            continue
        success, output = await remotes.pull(path, remote, branch)
        said.append(output)
        if not success:
            return False, "\n\n".join(said)
    return bool(sources) or not unreachable, "\n\n".join(said) or "Already up to date."
