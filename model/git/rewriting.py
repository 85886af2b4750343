"""Change commits that only this branch has: amend the last one, fix up an earlier one."""

from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import make_visible
from model.git.canceling import restore_index
from model.git.commit import HOOKS_TIMEOUT, has_staged_changes, stage_checked
from model.git.conflict_markers import list_unmerged
from model.git.diff import resolve_head
from model.git.log import LoggedCommit, list_log, resolve_commit
from model.git.merging import find_operation, refuse_while_unfinished
from model.git.run import git
from model.git.secret_gate import SecretGate

_REACH: Final = 250
"""Commits behind the newest that can be fixed up."""


async def amend(
    path: Path,
    base: str,
    message: str | None,
    gate: SecretGate,
    *,
    stage_all: bool = False,
    force: bool = False,
    allow_markers: bool = False,
) -> str:
    """Replace the last commit by one with the staged or (`stage_all`) all changes as well.

    Args:
        path: The worktree.
        base: The branch that it was created from.
        message: The new message; `None` keeps it.
        gate: Refuses secrets in what is added.
        stage_all: Whether to stage everything first.
        force: Whether to replace a commit that was pushed or that the base has as well.
        allow_markers: Whether lines that look like conflict markers may be added.

    Returns:
        The id of the new commit. The old one stays in the reflog.

    Raises:
        SpinneyError: There is nothing to amend, the commit is not the branch's own, or a hook
            refused it.
    """
    await refuse_while_unfinished(path)
    log = await list_log(path, base, 1)
    if not log:
        raise SpinneyError("There is no commit to amend yet.", "conflict")
    if not force:
        _check_own(log[0], "amended")
    text = make_visible(message).strip() if message is not None else None
    if text == "":
        raise SpinneyError("The commit message is empty.")
    async with restore_index(path, log[0].sha, is_needed=stage_all):
        await _stage_checked(path, text or "", gate, stage_all, allow_markers)
        if text is None and not await has_staged_changes(path):
            raise SpinneyError(
                "Nothing is staged. Stage changes, or write a new message.", "conflict"
            )
        option = "--no-edit" if text is None else f"--message={text}"
        await git(path, "commit", "--amend", option, write=True, timeout=HOOKS_TIMEOUT)
    return await resolve_head(path)


async def fix_up(
    path: Path,
    base: str,
    commit: str,
    gate: SecretGate,
    *,
    stage_all: bool = False,
    allow_markers: bool = False,
) -> str:
    """Put the staged or (`stage_all`) all changes into an earlier commit of the branch.

    Returns the id of the branch's new last commit. If the changes do not fit there, everything is
    as before, still staged.
    """
    await refuse_while_unfinished(path)
    sha = await resolve_commit(path, commit)
    log = await list_log(path, base, _REACH)
    position = next((number for number, each in enumerate(log) if each.sha == sha), None)
    if position is None:
        raise SpinneyError(
            f"Commit {sha[:10]} is not among the last {_REACH} commits of this branch.", "conflict"
        )
    _check_own(log[position], "changed")
    if any(each.is_merge for each in log[: position + 1]):
        raise SpinneyError(
            "There is a merge after that commit. Fix it up with git rebase in a shell.", "conflict"
        )
    if position == 0:
        return await amend(path, base, None, gate, stage_all=stage_all, allow_markers=allow_markers)
    async with restore_index(path, log[0].sha, is_needed=stage_all):
        await _stage_checked(path, "", gate, stage_all, allow_markers)
        if not await has_staged_changes(path):
            raise SpinneyError("Nothing is staged. Stage the changes for that commit.", "conflict")
        await git(path, "commit", f"--fixup={sha}", write=True, timeout=HOOKS_TIMEOUT)
        await _autosquash(path, sha)
    return await resolve_head(path)


async def _autosquash(path: Path, sha: str) -> None:
    """Rebase the fixup commit onto its target, or take it back."""
    fixup = await resolve_head(path)
    parent = await git(path, "rev-parse", "--verify", "--quiet", f"{sha}^", check=False)
    onto = (parent.stdout,) if parent.returncode == 0 else ("--root",)
    try:
        await git(
            path, "-c", "sequence.editor=:", "rebase", "--interactive", "--autosquash",
            "--autostash", *onto, write=True, timeout=HOOKS_TIMEOUT,
        )  # fmt: skip
    except BaseException as error:
        if await find_operation(path) is not None:
            await git(path, "rebase", "--abort", write=True, timeout=HOOKS_TIMEOUT)
        if await resolve_head(path) == fixup:  # otherwise it was complete when it was canceled
            await git(path, "reset", "--soft", "HEAD^", write=True)
        if isinstance(error, SpinneyError):
            raise SpinneyError(
                f"The changes do not fit into commit {sha[:10]}, because later commits changed the "
                "same lines. Nothing was changed; they are still staged.",
                "conflict",
            ) from error
        raise


async def _stage_checked(
    path: Path, message: str, gate: SecretGate, stage_all: bool, allow_markers: bool
) -> None:
    unmerged = await list_unmerged(path)
    await stage_checked(
        path, message, gate, unmerged, stage_all=stage_all, allow_markers=allow_markers
    )


def _check_own(commit: LoggedCommit, verb: str) -> None:
    if commit.is_in_base:
        raise SpinneyError(
            f"Commit {commit.short_sha} belongs to the base branch and is not {verb} here.",
            "conflict",
        )
    if commit.is_pushed:
        raise SpinneyError(
            f"Commit {commit.short_sha} was pushed and is not {verb}: others may build on it. "
            "Make a new commit instead.",
            "conflict",
        )
