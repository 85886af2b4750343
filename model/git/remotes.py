"""Exchange with remotes: fetch, pull, push. A remote is named, never given by its URL."""

from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import make_output_visible
from model.git.refs import check_branch_name
from model.git.repositories import check_remote, current_branch
from model.git.run import Output, git, without_credentials

_TIMEOUT: Final = 300
"""Seconds; a large push takes minutes, one that asks for a password fails at once."""


async def fetch(root: Path, remote: str, branch: str) -> tuple[bool, str]:
    """Bring `remote`'s `branch` into `remote/branch`; whether it worked, and git's words."""
    await check_remote(root, remote)
    check_branch_name(branch)
    refspec = f"+refs/heads/{branch}:refs/remotes/{remote}/{branch}"
    return await _answer(root, "fetch", "--no-tags", "--end-of-options", remote, refspec)


async def pull(path: Path, remote: str, branch: str) -> tuple[bool, str]:
    """Bring `remote`'s `branch` into the checked-out branch; whether it worked, and git's words.

    Merges, unless the user configured otherwise. A conflict stays in the worktree to be solved.
    """
    await check_remote(path, remote)
    check_branch_name(branch)
    chosen = await git(path, "config", "--get-regexp", r"^pull\.(rebase|ff)$", check=False)
    how = [] if chosen.raw else ["--no-rebase"]
    return await _answer(path, "pull", "--no-edit", *how, remote, f"refs/heads/{branch}")


async def push(path: Path, remote: str, to: str | None = None) -> tuple[bool, str]:
    """Push the checked-out branch to the same name on `remote`; whether it worked, git's words.

    The first push makes it the branch's upstream. Never forces.

    Args:
        path: The worktree.
        remote: One of the configured remotes.
        to: Another name for the branch there, such as the head of a pull request.
    """
    await check_remote(path, remote)
    branch = await current_branch(path)
    if branch is None:
        raise SpinneyError(
            "No branch is checked out here (detached HEAD): switch to one before you push.",
            "conflict",
        )
    if to is not None:
        check_branch_name(to)
        refspec = f"refs/heads/{branch}:refs/heads/{to}"
        return await _answer(path, "push", "--end-of-options", remote, refspec)
    upstream = await git(path, "config", "--get", f"branch.{branch}.merge", check=False)
    options = [] if upstream.raw else ["--set-upstream"]
    refspec = f"refs/heads/{branch}:refs/heads/{branch}"
    return await _answer(path, "push", *options, "--end-of-options", remote, refspec)


async def _answer(path: Path, *args: str) -> tuple[bool, str]:
    try:
        output = await git(path, *args, write=True, timeout=_TIMEOUT, check=False)
    except SpinneyError as error:
        if error.error_type != "timeout":
            raise
        return False, error.message
    return output.returncode == 0, _text(output)


def _text(output: Output) -> str:
    said = "\n".join(part for part in (output.stdout, output.stderr.strip()) if part)
    return without_credentials(make_output_visible(said)).strip()
