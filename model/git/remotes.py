"""Fetch, pull and push. A remote is given by its configured name, never by its URL."""

from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.git.canceling import abort_operation
from model.git.error_messages import clean_output
from model.git.push_refusals import explain_refusal
from model.git.refs import check_branch_name
from model.git.repositories import check_remote, get_current_branch
from model.git.run import GitResult, git
from model.git.secret_gate import SecretGate
from model.git.submodules import describe_moved_pins

_TIMEOUT: Final = 300
"""Seconds; a large push takes minutes, a password prompt fails at once."""


async def fetch(root: Path, remote: str, branch: str) -> tuple[bool, str]:
    """Fetch `remote`'s `branch` into `remote/branch`; return success and git's output."""
    await check_remote(root, remote)
    check_branch_name(branch)
    refspec = f"+refs/heads/{branch}:refs/remotes/{remote}/{branch}"
    return await _run(root, "fetch", "--no-tags", "--end-of-options", remote, refspec)


async def pull(path: Path, remote: str, branch: str) -> tuple[bool, str]:
    """Pull `remote`'s `branch` into the checked-out branch; return success and git's output.

    Merges, unless the user configured otherwise. Conflicts are left in the worktree. The remote `.`
    is the repository itself: its local branch. The output also says which submodules git has left
    at the commit from before.
    """
    if remote != ".":
        await check_remote(path, remote)
    check_branch_name(branch)
    configured = await git(path, "config", "--get-regexp", r"^pull\.(rebase|ff)$", check=False)
    options = [] if configured.raw_stdout else ["--no-rebase"]
    before = await git(path, "rev-parse", "--verify", "--quiet", "HEAD", check=False)
    async with abort_operation(path):
        success, output = await _run(
            path, "pull", "--no-edit", *options, remote, f"refs/heads/{branch}"
        )
    note = await describe_moved_pins(path, before.stdout, "HEAD") if before.stdout else ""
    return success, f"{output}\n\n{note}".rstrip()


async def push(
    path: Path, remote: str, gate: SecretGate, to: str | None = None
) -> tuple[bool, str]:
    """Push the checked-out branch to the same name on `remote`; return success and git's output.

    Why it was refused comes before the output, if that is known. The first push sets the branch's
    upstream. Never forces.

    Args:
        path: The worktree.
        remote: The name of a configured remote.
        gate: Refuses secrets in the commits that the remote does not have, and in the name.
        to: A different branch name on the remote, such as the head of a pull request.
    """
    await check_remote(path, remote)
    branch = await get_current_branch(path)
    if branch is None:
        raise SpinneyError(
            "No branch is checked out here (detached HEAD). Switch to a branch before you push.",
            "conflict",
        )
    if to is not None:
        check_branch_name(to)
    await gate.check_push(path, remote, f"refs/heads/{branch}", to or branch)
    if to is not None:
        refspec = f"refs/heads/{branch}:refs/heads/{to}"
        return await _push(path, "--end-of-options", remote, refspec)
    upstream = await git(path, "config", "--get", f"branch.{branch}.merge", check=False)
    options = [] if upstream.raw_stdout else ["--set-upstream"]
    refspec = f"refs/heads/{branch}:refs/heads/{branch}"
    return await _push(path, *options, "--end-of-options", remote, refspec)


async def list_push_options(root: Path) -> list[str]:
    """Return the options with which a push sends nothing along that was not searched for secrets.

    Where git is configured to push submodules as well, it checks instead that they were pushed.
    """
    names = r"^(push\.recursesubmodules|submodule\.recurse)$"
    configured = await git(root, "config", "--get-regexp", names, check=False)
    values = {line.rpartition(" ")[2] for line in configured.stdout.splitlines()}
    submodules = "check" if values - {"no", "false"} else "no"
    return ["--no-follow-tags", f"--recurse-submodules={submodules}"]


async def _push(path: Path, *args: str) -> tuple[bool, str]:
    success, output = await _run(path, "push", *await list_push_options(path), *args)
    reason = "" if success else explain_refusal(output)
    return success, f"{reason}\n\n{output}" if reason else output


async def _run(path: Path, *args: str) -> tuple[bool, str]:
    try:
        result = await git(path, *args, write=True, timeout=_TIMEOUT, check=False)
    except SpinneyError as error:
        if error.error_type != "timeout":
            raise
        return False, error.message
    return result.returncode == 0, _output_text(result)


def _output_text(result: GitResult) -> str:
    text = "\n".join(part for part in (result.stdout, result.stderr.strip()) if part)
    return clean_output(text).strip()
