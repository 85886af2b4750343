"""Keeps known which worktrees are merged; git runs only when a branch or its base moves."""

import asyncio
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, get_args

from model.base.errors import SpinneyError
from model.base.git_layout import find_git_directories
from model.base.paths import create_private_folders, write_atomically
from model.domain.landing import Landing, MergedBy
from model.domain.worktrees import Worktree
from model.git.branch_tips import BranchTips, read_branch_tips, resolve_base_tips
from model.git.merged import Merged, find_merged, is_ancestor
from model.git.snapshots.scratch import ScratchObjects
from model.git.status import GitStatus
from model.store.store import Store

_Heads = tuple[str, ...]
"""The commit of a branch, that of its merged pull request, and those of its base."""
_Answer = MergedBy | Literal["reverted"] | None

_ANSWERS: Final = (*get_args(MergedBy), "reverted")
_FILE: Final = "merged.json"
_MAX_LOOKS: Final = 3
"""At a branch, while landings overtake them."""

_log = logging.getLogger(__name__)


class MergedBranches:
    """Finds merged branches in the background. Belongs to the core's event loop.

    Args:
        store: The store to read worktrees from.
        folder: Where git writes what it needs.
        on_change: Called with a worktree whose answer has changed.
    """

    def __init__(self, store: Store, folder: Path, on_change: Callable[[str], None]) -> None:
        self._store = store
        self._folder = folder
        self._on_change = on_change
        self._known: dict[str, tuple[_Heads, _Answer]] = {}
        self._waiting: dict[str, GitStatus] = {}
        self._has_work = asyncio.Event()
        self._git = asyncio.Lock()
        self._scratch: dict[str, ScratchObjects] = {}

    async def run(self) -> None:
        """Answer what is waiting until canceled, one worktree after the other.

        The answers are saved, so that a start with hundreds of worktrees asks git for none.
        """
        known = await asyncio.to_thread(_read, self._folder / _FILE)
        self._known = {**known, **self._known}
        while True:
            await self._has_work.wait()
            self._has_work.clear()
            has_news = False
            while self._waiting:
                worktree_id = next(iter(self._waiting))
                status = self._waiting.pop(worktree_id)
                worktree = self._store.state.worktrees.get(worktree_id)
                if worktree is None or not status.commit:
                    continue
                if self._has_moved(worktree, status.commit, list(status.bases)):
                    await self._refresh(worktree, status.commit, list(status.bases))
                    has_news = True
            if has_news:
                await self._save()

    def _has_moved(self, worktree: Worktree, head: str, bases: list[str]) -> bool:
        known = self._known.get(worktree.id)
        return known is None or known[0] != _heads_of(worktree, head, bases)

    async def _save(self) -> None:
        worktrees = self._store.state.worktrees
        body = json.dumps({key: one for key, one in self._known.items() if key in worktrees})
        try:
            await asyncio.to_thread(_write, self._folder / _FILE, body)
        except SpinneyError as error:
            _log.debug("what is merged was not saved: %s", error.message)

    def note_status(self, worktree_id: str, status: GitStatus) -> None:
        """Take note of a worktree's status; it is examined soon if its heads have moved."""
        if status.commit:
            self._waiting[worktree_id] = status
            self._has_work.set()

    def note_landing(self, landing: Landing) -> None:
        """Take a landing that was just made for an answer until the branches are examined."""
        for worktree_id in landing.worktree_ids:
            if landing.undone_at is None:
                by: Merged = "commits" if landing.method == "merge" else "squash"
                self._known[worktree_id] = (), by
            else:
                self._known.pop(worktree_id, None)
            self._on_change(worktree_id)

    def forget(self, worktree_id: str) -> None:
        """Forget a worktree that was deleted."""
        self._known.pop(worktree_id, None)
        self._waiting.pop(worktree_id, None)

    async def forget_project(self, project_id: str) -> None:
        """Delete what git wrote for a project that was removed."""
        async with self._git:
            scratch = self._scratch.pop(project_id, None)
            if scratch is not None:
                await scratch.delete()

    def get(self, worktree: Worktree) -> MergedBy | None:
        """Return how a worktree is known to be merged, as far as that was examined."""
        answer = self._get_answer(worktree.id)
        return None if answer == "reverted" else answer

    def is_reverted(self, worktree: Worktree) -> bool:
        """Whether its base has had its changes, and has taken some of them back since."""
        return self._get_answer(worktree.id) == "reverted"

    async def is_merged(self, worktree: Worktree, status: GitStatus) -> bool:
        """Whether a worktree is merged, of which the status was just read."""
        if status.commit and self._has_moved(worktree, status.commit, list(status.bases)):
            await self._refresh(worktree, status.commit, list(status.bases))
        return self.get(worktree) is not None

    async def examine(self, worktree: Worktree, tips: BranchTips | None = None) -> MergedBy | None:
        """Return how a worktree is merged; asks git about one that is not polled.

        `tips` are the branches of the repository, if they were just read.
        """
        await self._find_head(worktree, tips)
        return self.get(worktree)

    async def find_kept(self, worktree: Worktree, tips: BranchTips | None = None) -> list[str]:
        """Return the commits up to which the work of a worktree's branch is elsewhere.

        What was committed since is not: a branch is merged up to a commit, never by its name.
        """
        head, root = await self._find_head(worktree, tips), self._find_root(worktree)
        if root is None or self.is_reverted(worktree):
            return []
        if head and self.get(worktree) is not None:
            return [head]
        proposed = _proposed_by_merged(worktree)
        return [proposed] if proposed and await is_ancestor(root, proposed, proposed) else []

    def _get_answer(self, worktree_id: str) -> _Answer:
        known = self._known.get(worktree_id)
        return known[1] if known else None

    def _find_root(self, worktree: Worktree) -> Path | None:
        project = self._store.state.projects.get(worktree.project_id)
        return None if project is None else Path(project.path)

    async def _find_head(self, worktree: Worktree, tips: BranchTips | None) -> str:
        """Return the branch's commit, about which the answer is known then; empty if it is not."""
        project = self._store.state.projects.get(worktree.project_id)
        if project is None:
            return ""
        root = Path(project.path)
        try:
            tips = tips or await read_branch_tips(root)
            head = tips.commits.get(f"refs/heads/{worktree.branch}", "")
            base = worktree.base_branch or project.default_branch
            bases = await resolve_base_tips(root, base, tips)
        except SpinneyError:
            return ""
        for _ in range(_MAX_LOOKS):
            if not head or not self._has_moved(worktree, head, bases):
                return head
            await self._refresh(worktree, head, bases)
        return ""

    async def _refresh(self, worktree: Worktree, head: str, bases: list[str]) -> None:
        project = self._store.state.projects.get(worktree.project_id)
        if project is None:
            return
        async with self._git:
            if not self._has_moved(worktree, head, bases):
                return  # Another call has asked meanwhile.
            before = self._known.get(worktree.id)
            answer = await self._ask_git(worktree, Path(project.path), head, bases)
            if self._known.get(worktree.id) is not before:
                return  # It landed, or that was taken back, while older branches were looked at.
            self._known[worktree.id] = _heads_of(worktree, head, bases), answer
        if (before[1] if before else None) != answer:
            self._on_change(worktree.id)

    async def _ask_git(
        self, worktree: Worktree, root: Path, head: str, bases: list[str]
    ) -> _Answer:
        answer: _Answer = None
        try:
            scratch = await self._prepare(worktree.project_id, root)
            answer = await find_merged(root, head, bases, worktree.branch, scratch)
            proposed = _proposed_by_merged(worktree)
            if answer != "reverted" and proposed and await is_ancestor(root, head, proposed):
                answer = "pull_request"
        except (SpinneyError, OSError) as error:
            _log.debug("%s is not known to be merged: %s", worktree.id, error)
        return answer

    async def _prepare(self, project_id: str, root: Path) -> ScratchObjects:
        scratch = self._scratch.setdefault(project_id, ScratchObjects(self._folder / project_id))
        directories = await asyncio.to_thread(find_git_directories, root)
        if directories is None:
            raise OSError(f"{root} is no repository")
        await scratch.prepare(directories.common_dir)
        return scratch


def _heads_of(worktree: Worktree, head: str, bases: list[str]) -> _Heads:
    return (head, _proposed_by_merged(worktree), *bases)


def _proposed_by_merged(worktree: Worktree) -> str:
    """Return the commit that its pull request brought in; empty if it is not merged or known."""
    return (worktree.cached_pr_head or "") if worktree.cached_pr_status == "merged" else ""


def _read(path: Path) -> dict[str, tuple[_Heads, _Answer]]:
    try:
        saved = json.loads(path.read_bytes())
        return {
            str(key): (tuple(map(str, heads)), answer if answer in _ANSWERS else None)
            for key, (heads, answer) in saved.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _write(path: Path, body: str) -> None:
    create_private_folders(path.parent)
    write_atomically(path, body.encode())
