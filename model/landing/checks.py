"""The results of the `check` script, each of which belongs to the files that it ran on."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Literal

from model.base.errors import SpinneyError
from model.domain.landing import CheckResult
from model.domain.scripts import Script, ScriptRun
from model.domain.worktrees import Worktree
from model.git.content_tree import read_content_tree
from model.git.integrating import read_tree
from model.git.status import GitStatus
from model.scripts.config import read_branch_scripts, read_commit_scripts, read_scripts
from model.scripts.runner import ScriptRunner
from model.store.store import Store
from model.worktrees import require_worktree

_STATUSES: Final[dict[str, Literal["running", "passed", "failed", "stopped"]]] = {
    "running": "running",
    "completed": "passed",
    "failed": "failed",
    "stopped": "stopped",
}

MISSING: Final = (
    "This branch has no script 'check', and its base has one. Update the branch from its base, or "
    "find out why it was taken out."
)

HIDDEN: Final = (
    "The check ran on other files than those of the commit. Files have changed that 'git status' "
    "may not show: marked assume-unchanged or skip-worktree, or inside a submodule. Commit or undo "
    "that."
)


class Checks:
    """Runs `check` in worktrees, and knows whether a result still holds.

    Args:
        store: The store to read worktrees from.
        scripts: What runs the script and keeps its output and result.
    """

    def __init__(self, store: Store, scripts: ScriptRunner) -> None:
        self._store = store
        self._scripts = scripts
        self._statuses: dict[str, GitStatus] = {}
        self._trees: dict[str, tuple[str, str]] = {}
        """For each worktree: its fingerprint, and its tree at that time."""
        self._reading: dict[str, asyncio.Lock] = {}
        self._bases: dict[tuple[str, str], tuple[tuple[str, ...], bool]] = {}
        """For each project and base: its commits, and whether it has the script."""
        self._reading_base = asyncio.Lock()

    def note_status(self, worktree_id: str, status: GitStatus) -> None:
        """Take note of a worktree's status, by which it is known whether anything has changed."""
        self._statuses[worktree_id] = status

    def forget(self, worktree_id: str) -> None:
        """Forget a worktree that was deleted."""
        for known in (self._statuses, self._trees, self._reading):
            known.pop(worktree_id, None)

    async def start(self, worktree_id: str) -> ScriptRun:
        """Start the script in the background, for the files as they are now.

        Raises as `ScriptRunner.start`.
        """
        worktree = require_worktree(self._store.state, worktree_id)
        read = partial(read_content_tree, Path(worktree.path))
        return await self._scripts.start(worktree_id, "check", read)

    async def read_known(self, worktree_id: str) -> CheckResult:
        """Return the result of the current or latest run, for lists that are read again and again.

        Git runs only if the poller has seen a change, so the result may vouch for files that have
        just changed: nothing may be decided by it.

        Raises `SpinneyError` if the worktree cannot be read.
        """
        worktree = require_worktree(self._store.state, worktree_id)
        status = self._statuses.get(worktree_id)
        commits = status.bases if status is not None else ()
        return await self._read(worktree, partial(self._read_known_tree, worktree), commits)

    async def read(self, worktree_id: str, commit: str = "") -> CheckResult:
        """Return the result of the current or latest run, for the files as they are now.

        Given a `commit`, it is stale unless the check ran on exactly its files, and says so if the
        files of now are others.

        Raises `SpinneyError` if the worktree cannot be read.
        """
        worktree = require_worktree(self._store.state, worktree_id)

        path = Path(worktree.path)
        if not commit:
            return await self._read(worktree, partial(read_content_tree, path), ())
        check = await self._read(worktree, partial(read_tree, path, commit), ())
        if check.is_stale and await read_content_tree(path) != await read_tree(path, commit):
            return check.model_copy(update={"error": HIDDEN})
        return check

    async def _read(
        self,
        worktree: Worktree,
        read_tree: Callable[[], Awaitable[str]],
        base_commits: tuple[str, ...],
    ) -> CheckResult:
        """Return the result, which is stale unless its tree is the one that `read_tree` returns."""
        worktree_id = worktree.id
        has_script, problem = await asyncio.to_thread(self._find_script, worktree)
        none = CheckResult(
            worktree_id=worktree_id, status="none", has_script=has_script, error=problem
        )
        if not has_script:
            # No branch lands unchecked by taking the script out.
            if not await self._is_in_base(worktree, base_commits):
                return none
            lacks = {"has_script": True, "is_missing": True, "error": MISSING}
            return none.model_copy(update=lacks)
        try:
            run = await self._scripts.outcome(worktree_id, "check")
        except SpinneyError:
            return none
        is_ended = run.status != "running"
        return CheckResult(
            worktree_id=worktree_id,
            status=_STATUSES[run.status],
            tree=run.tree,
            is_stale=is_ended and run.tree != await read_tree(),
            started_at=run.started_at,
            ended_at=run.ended_at,
            exit_code=run.exit_code,
            error=run.error or problem,
        )

    def _find_script(self, worktree: Worktree) -> tuple[bool, str]:
        """Whether there is a script; also if the file is invalid, with the reason."""
        project = self._store.state.projects.get(worktree.project_id)
        if project is None:
            return False, ""
        try:
            found = read_scripts(Path(worktree.path), project)
        except SpinneyError as error:
            return True, error.message
        return has_check(found), ""

    async def _is_in_base(self, worktree: Worktree, commits: tuple[str, ...]) -> bool:
        """Whether the base of a worktree has the script.

        Git does not run if it is known for these `commits` of the base.
        """
        project = self._store.state.projects.get(worktree.project_id)
        if project is None or worktree.session_type == "base":
            return False
        base = worktree.base_branch or project.default_branch
        async with self._reading_base:
            known = self._bases.get((project.id, base))
            if known is not None and commits and known[0] == commits:
                return known[1]
            is_in_base = has_check(await read_branch_scripts(Path(project.path), base))
            self._bases[project.id, base] = commits, is_in_base
            return is_in_base

    async def _read_known_tree(self, worktree: Worktree) -> str:
        async with self._reading.setdefault(worktree.id, asyncio.Lock()):
            status = self._statuses.get(worktree.id)
            known = self._trees.get(worktree.id)
            if status is not None and known is not None and known[0] == status.fingerprint:
                return known[1]
            tree = await read_content_tree(Path(worktree.path))
            if status is not None:
                self._trees[worktree.id] = status.fingerprint, tree
            return tree


async def is_check_removed(root: Path, base_commit: str) -> bool:
    """Whether the base has a script `check`, for a commit on top of it that has none."""
    try:
        return has_check(await read_commit_scripts(root, base_commit) or [])
    except SpinneyError:
        return False


def has_check(scripts: Sequence[Script]) -> bool:
    """Whether a script `check` is among these."""
    return any(script.name == "check" for script in scripts)


def describe_check(check: CheckResult) -> str:
    """Return why a result keeps a branch from landing, as a sentence; empty if it does not."""
    if not check.has_script:
        return ""
    if check.status == "running":
        return "The check is still running."
    if check.status == "none":
        return check.error or "The check has not run here."
    if check.is_stale:
        return check.error or "The check ran on other files: something has changed since."
    if check.status == "stopped":
        return "The check was stopped."
    if check.status == "failed":
        return f"The check failed. {describe_failure(check)}"
    return ""


def describe_failure(check: CheckResult) -> str:
    """Return how a red check ended, as a sentence."""
    return check.error or f"It ended with exit code {check.exit_code}."
