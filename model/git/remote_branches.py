"""Push a branch that is not checked out, and delete branches of remotes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.git.error_messages import clean_output
from model.git.refs import check_branch_name
from model.git.remotes import list_push_options
from model.git.repositories import list_remote_names
from model.git.run import git
from model.git.secret_gate import SecretGate

_TIMEOUT: Final = 300
"""Seconds; a large push takes minutes, a password prompt fails at once."""


@dataclass(frozen=True, slots=True)
class RemoteBranch:
    """A branch at a remote."""

    remote: str
    name: str
    commit: str
    """The commit that it may have when it is deleted."""


async def push_branch(root: Path, branch: str, gate: SecretGate) -> None:
    """Push a local branch to the branch of its remote that it follows; never forces.

    Raises:
        SpinneyError: `conflict` for secrets in commits that the remote does not have, or in the
            name; `git_error` with git's own words and the next step.
    """
    check_branch_name(branch)
    remote, name = await find_upstream(root, branch)
    await gate.check_push(root, remote, f"refs/heads/{branch}", name)
    refspec = f"refs/heads/{branch}:refs/heads/{name}"
    result = await git(
        root, "push", *await list_push_options(root), "--end-of-options", remote, refspec,
        write=True, timeout=_TIMEOUT, check=False,
    )  # fmt: skip
    if result.returncode == 0:
        return
    output = clean_output(f"{result.stdout}\n{result.stderr}").strip()
    if "non-fast-forward" in output or "fetch first" in output:
        step = f"The remote has commits that '{branch}' lacks. Pull it, then push again."
    else:
        step = (
            "If the branch is protected, push the worktree's branch instead and open a pull "
            "request; 'Undo landing' takes the landing back."
        )
    raise SpinneyError(f"'{branch}' was not pushed to {clean_line(remote)}. {step}\n{output}")


async def find_upstream(root: Path, branch: str) -> tuple[str, str]:
    """Return the remote of a branch, and the name of the branch there.

    That is what is configured; else `origin`, or the only remote, and the same name. Raises
    `conflict` without a remote.
    """
    names = await list_remote_names(root)
    remote = await git(root, "config", "--get", f"branch.{branch}.remote", check=False)
    merge = await git(root, "config", "--get", f"branch.{branch}.merge", check=False)
    if remote.stdout in names and merge.stdout.startswith("refs/heads/"):
        return remote.stdout, check_branch_name(merge.stdout.removeprefix("refs/heads/"))
    return ("origin" if "origin" in names else names[0]), branch


async def find_remote_branch(root: Path, branch: str) -> RemoteBranch | None:
    """Return the branch of the remote that a local branch follows; `None` if it was never pushed.

    Raises `SpinneyError` without a remote.
    """
    check_branch_name(branch)
    remote, name = await find_upstream(root, branch)
    known = f"refs/remotes/{remote}/{name}"
    found = await git(root, "rev-parse", "--verify", "--quiet", known, check=False)
    return RemoteBranch(remote, name, found.stdout) if found.returncode == 0 else None


async def delete_remote_branch(root: Path, branch: RemoteBranch) -> str:
    """Delete a branch at its remote; return why it was kept, or nothing.

    It is kept if it has another commit than `branch.commit` there.
    """
    result = await git(
        root, "push", f"--force-with-lease=refs/heads/{branch.name}:{branch.commit}",
        "--end-of-options", branch.remote, f":refs/heads/{branch.name}",
        write=True, timeout=_TIMEOUT, check=False,
    )  # fmt: skip
    if result.returncode == 0:
        return ""
    if "remote ref does not exist" in result.stderr:
        known = f"refs/remotes/{branch.remote}/{branch.name}"
        await git(root, "update-ref", "-d", known, write=True, check=False)
        return ""
    if "stale info" in result.stderr:
        return "it has commits that did not land from here."
    return result.message
