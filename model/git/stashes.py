"""Stash changes and bring them back. A repository has one list of stashes for all its worktrees."""

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.git.error_messages import clean_output
from model.git.integrating import graft, read_tree
from model.git.log import resolve_commit
from model.git.run import git
from model.git.three_way import Place, merge_commits

_MAX_STASHES: Final = 50
_TIMEOUT: Final = 120
_SUBJECT: Final = re.compile(r"(WIP on|On) ([^:]+): (.*)")


@dataclass(frozen=True, slots=True)
class Stash:
    """Changes that were put aside."""

    id: str
    """The id of its commit: positions in the list change when another stash is added or dropped."""
    message: str
    branch: str
    """The branch that was checked out, of any worktree of the repository."""
    created_at: float
    """Seconds since 1970."""
    files: int
    """The number of files in it, new ones included."""


async def list_stashes(path: Path) -> list[Stash]:
    """Return the newest stashes of the repository, newest first."""
    listed = await git(
        path, "stash", "list", "-z", "--format=%H%n%P%n%at%n%gs", f"--max-count={_MAX_STASHES}"
    )
    return list(await asyncio.gather(*(_parse(path, field) for field in listed.fields)))


async def stash(path: Path, message: str = "", *, untracked: bool = True) -> Stash:
    """Put all uncommitted changes aside, with `untracked` those files, too; ignored files stay."""
    before = await list_stashes(path)
    options = [f"--message={clean_line(message)}"] if message.strip() else []
    options += ["--include-untracked"] if untracked else []
    await git(path, "stash", "push", *options, write=True, timeout=_TIMEOUT)
    known = {each.id for each in before}
    made = next((each for each in await list_stashes(path) if each.id not in known), None)
    if made is None:
        raise SpinneyError("There are no changes to stash.", "conflict")
    return made


async def find_stashed(path: Path, message: str) -> Stash | None:
    """Return the newest stash with exactly this message."""
    return next((each for each in await list_stashes(path) if each.message == message), None)


async def find_stash_conflicts(place: Place, path: Path, after: str) -> tuple[str, ...]:
    """Return the files in which the changes in a checkout do not fit a commit; changes nothing.

    Files that git does not track are not looked at: they stay where they are, or are in the way.
    """
    made = await git(path, "stash", "create", write=True, timeout=_TIMEOUT)
    if not made.stdout:
        return ()
    own = await git(path, "rev-parse", "--verify", f"{made.stdout}^1")
    onto = await graft(place, await read_tree(path, after), own.stdout)
    return (await merge_commits(place, onto, made.stdout)).conflicts


async def apply_stash(path: Path, stash_id: str, *, drop: bool) -> tuple[bool, str]:
    """Bring stashed changes back; `drop` removes the stash if they fit.

    Returns whether they fit, and git's output; if they do not, the stash is kept.
    """
    sha = await _find(path, stash_id)
    applied = await git(
        path, "stash", "apply", "--index", sha, write=True, check=False, timeout=_TIMEOUT
    )
    if applied.returncode != 0 and "--index" in applied.stderr:  # what was staged does not fit
        applied = await git(path, "stash", "apply", sha, write=True, check=False, timeout=_TIMEOUT)
    if applied.returncode == 0 and drop:
        await drop_stash(path, sha)
    return applied.returncode == 0, clean_output(f"{applied.stdout}\n{applied.stderr}").strip()


async def drop_stash(path: Path, stash_id: str) -> None:
    """Remove a stash from the list; `restore_stash` brings it back until git prunes it."""
    sha = await _find(path, stash_id)
    listed = await git(path, "stash", "list", "--format=%H")
    position = listed.stdout.split("\n").index(sha)
    dropped = await git(path, "stash", "drop", f"stash@{{{position}}}", write=True)
    gone = dropped.stdout.rpartition("(")[2].rstrip(")")
    if gone != sha:  # the list changed in between
        await restore_stash(path, gone)
        raise SpinneyError("The list of stashes has changed. Try again.", "conflict")


async def restore_stash(path: Path, stash_id: str) -> None:
    """Put a dropped stash back on top of the list."""
    sha = await resolve_commit(path, stash_id)
    shown = await git(path, "log", "--max-count=1", "--format=%P%n%s", "--no-show-signature", sha)
    parents, _, subject = shown.stdout.partition("\n")
    if len(parents.split()) not in (2, 3) or not _SUBJECT.match(subject):
        raise SpinneyError(f"Commit {sha[:10]} is not a stash.", "not_found")
    await git(path, "stash", "store", f"--message={subject}", sha, write=True)


async def _find(path: Path, stash_id: str) -> str:
    listed = await git(path, "stash", "list", "--format=%H")
    if stash_id not in listed.stdout.split("\n"):
        raise SpinneyError("This stash no longer exists. Refresh the list.", "not_found")
    return stash_id


async def _parse(path: Path, field: str) -> Stash:
    sha, parents, at, subject = field.split("\n", 3)
    found = _SUBJECT.match(subject)
    kind, branch, message = found.groups() if found else ("", "", subject)
    if kind == "WIP on":  # without a message git names the commit that was checked out
        message = f"Changes on top of {message}"
    named = await git(
        path, "diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", f"{sha}^1", sha, "--"
    )
    files = len(named.fields)
    if len(parents.split()) == 3:  # the third has the untracked files
        untracked = await git(path, "ls-tree", "-r", "--name-only", "-z", f"{sha}^3")
        files += len(untracked.fields)
    return Stash(sha, clean_line(message), clean_line(branch), float(at), files)
