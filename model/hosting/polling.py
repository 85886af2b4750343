"""Poll the pull requests of worktrees and record changes of their status.

A pull request that was opened elsewhere, in a browser or by an agent, is found by its branch. When
one is merged, its worktree is archived as soon as no session is running in it.
"""

import logging
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from model.base.errors import SpinneyError
from model.domain.events.base import Event
from model.domain.events.worktrees import WorktreeStatusUpdated, WorktreeUpdated
from model.domain.worktrees import Worktree
from model.git.branch_tips import BranchTips
from model.git.hosts import list_hosting_remotes
from model.hosting.forge import Forge, PullRequestState
from model.hosting.forges import find_forge
from model.state import State
from model.store.store import Store

_MAX_SEARCH_INTERVAL: Final = 900.0
"""Maximum seconds between searches for a pull request of an unchanged branch."""

_RATE_LIMIT_PAUSE: Final = 300.0
"""Seconds without requests after a rate limit was exceeded whose end is not known."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Search:
    """The searches for a pull request of a branch at one commit."""

    commit: str
    started_at: float
    last_at: float


class PullRequestPoller:
    """Polls the pull request of one worktree at a time.

    Args:
        store: Provides the worktrees and records the changes.
        archive: Archives a worktree; raises `conflict` while a session is running in it.
        tips: Returns the branches of the repository at a path, possibly from a cache.
        on_changed: Gets the id of a worktree whose pull request has changed in any way.
        clock: Returns seconds on a monotonic clock.
    """

    def __init__(
        self,
        store: Store,
        archive: Callable[[Store, str], Awaitable[None]],
        tips: Callable[[Path], Awaitable[BranchTips]],
        on_changed: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._archive = archive
        self._tips = tips
        self._on_changed = on_changed
        self._clock = clock
        self._searches: dict[str, _Search] = {}
        self._versions: dict[str, tuple[int | str, str]] = {}
        """By worktree, the pull request and the version of it that is known."""
        self._resume_at = 0.0
        """When to ask the service again after its rate limit was exceeded."""

    def needs_polling(self, worktree: Worktree) -> bool:
        """Whether polling again may find a change."""
        return worktree.archive_when_idle or worktree.cached_pr_status != "merged"

    def handle_turn_end(self, worktree: Worktree) -> bool:
        """Reset the search, as the agent may have opened one; return whether to poll now."""
        self._searches.pop(worktree.id, None)
        return worktree.archive_when_idle or worktree.pr_number is None

    def forget(self, worktree_id: str) -> None:
        """Forget the version that is known, so that the next poll reads the state anyway."""
        self._versions.pop(worktree_id, None)

    async def poll(self, worktree_id: str) -> None:
        """Poll the service and record changes. Errors are only logged; known values are kept.

        After a rate limit was exceeded, nothing is asked until it ends.
        """
        worktree = self._store.state.worktrees.get(worktree_id)
        if worktree is None:
            return
        try:
            if worktree.archive_when_idle:
                await self._archive_worktree(worktree)
            elif self._clock() < self._resume_at:
                return
            elif worktree.pr_number is None:
                await self._find_pull_request(worktree)
            else:
                await self._update_status(worktree, worktree.pr_number)
        except SpinneyError as error:
            if error.error_type == "rate_limit_error":
                self._resume_at = self._clock() + (error.retry_after or _RATE_LIMIT_PAUSE)
            # Reported where the user requests something.
            _log.debug("pull request of %s: %s", worktree_id, error.message)

    async def _find_pull_request(self, worktree: Worktree) -> None:
        project = self._store.state.projects[worktree.project_id]
        if worktree.branch in (project.default_branch, worktree.base_branch):
            return
        root, path = Path(project.path), Path(worktree.path)
        suffix = f"/{worktree.branch}"
        tips = (await self._tips(root)).commits
        pushed = {
            name.removesuffix(suffix).removeprefix("refs/remotes/"): commit
            for name, commit in tips.items()
            if name.startswith("refs/remotes/") and name.endswith(suffix)
        }
        if not pushed or not self._is_due(worktree.id, " ".join(pushed.values())):
            return
        owners = {
            remote.owner for remote in await list_hosting_remotes(root) if remote.name in pushed
        }
        if not owners:
            return
        forge = await find_forge(path)
        found = await forge.find_open_pull_request(path, worktree.branch, owners)
        if found is None or found.number == worktree.dismissed_pr:
            return
        await self._save(worktree, pr_number=found.number, pr_url=found.url)
        current = self._store.state.worktrees.get(worktree.id)
        if current is not None and current.pr_number == found.number:
            await self._update_status(current, found.number)

    def _is_due(self, worktree_id: str, commit: str) -> bool:
        """Whether to search: immediately after a push, then at growing intervals."""
        now = self._clock()
        search = self._searches.get(worktree_id)
        if search is None or search.commit != commit:
            self._searches[worktree_id] = _Search(commit, now, now)
            return True
        if now - search.last_at < min(
            (search.last_at - search.started_at) / 2, _MAX_SEARCH_INTERVAL
        ):
            return False
        search.last_at = now
        return True

    async def _update_status(self, worktree: Worktree, number: int) -> None:
        path = Path(worktree.path)
        forge = await find_forge(path)
        if worktree.pr_url is None:
            link = await forge.fetch_link(path, number)
            await self._save(worktree, pr_url=link.url)
        found = await self._fetch_state(worktree, forge, number)
        current = self._store.state.worktrees.get(worktree.id)
        if found is None or current is None or current.pr_number != number:
            return
        merged = found.status == "merged" and current.cached_pr_status != "merged"
        if merged:
            head = await _find_head(forge, path, current.pr_url or number)
            await self._save(current, cached_pr_head=head)
        if merged and self._is_auto_archived(current):
            await self._save(current, archive_when_idle=True)
        status = WorktreeStatusUpdated(
            worktree_id=current.id,
            cached_pr_status=found.status,
            cached_check_status=found.checks,
        )

        after = (found.status, found.checks)

        def make_events(state: State) -> list[Event]:
            latest = state.worktrees.get(current.id)
            if latest is None or latest.pr_number != number:  # the user is clearing it right now
                return []
            before = (latest.cached_pr_status, latest.cached_check_status)
            return [] if before == after else [status]

        await self._store.accept(make_events)
        self._on_changed(current.id)
        if merged:
            await self._archive_worktree(current)

    async def _fetch_state(
        self, worktree: Worktree, forge: Forge, number: int
    ) -> PullRequestState | None:
        """Return the state, or `None` if it is the same as before."""
        pull_request = worktree.pr_url or number
        asked, version = self._versions.get(worktree.id, (pull_request, ""))
        if asked != pull_request or worktree.cached_pr_status is None:
            version = ""
        found, version = await forge.fetch_state(Path(worktree.path), pull_request, version)
        known = self._store.state.worktrees
        self._versions = {key: kept for key, kept in self._versions.items() if key in known}
        self._versions[worktree.id] = (pull_request, version)
        return found

    def _is_auto_archived(self, worktree: Worktree) -> bool:
        is_enabled = self._store.state.preferences.auto_archive_on_pr_merged
        return is_enabled and worktree.session_type != "base"

    async def _archive_worktree(self, worktree: Worktree) -> None:
        if self._is_auto_archived(worktree):
            try:
                await self._archive(self._store, worktree.id)
                return
            except SpinneyError as error:
                if error.error_type == "conflict":
                    return
                _log.warning("%s was not archived: %s", worktree.name, error.message)
        await self._save(worktree, archive_when_idle=False)

    async def _save(self, expected: Worktree, **changes: Any) -> None:
        """Save changes, unless the worktree's branch or pull request has changed since."""

        def make_events(state: State) -> list[Event]:
            current = state.worktrees.get(expected.id)
            if current is None or (current.branch, current.pr_number) != (
                expected.branch,
                expected.pr_number,
            ):
                return []
            changed = current.model_copy(update=changes)
            return [] if changed == current else [WorktreeUpdated(worktree=changed)]

        await self._store.accept(make_events)


async def _find_head(forge: Forge, path: Path, pull_request: int | str) -> str | None:
    """Return the newest commit of a pull request; `None` if the service does not say."""
    try:
        commit = (await forge.fetch_details(path, pull_request)).head_commit
    except SpinneyError as error:
        _log.debug("the head of %s: %s", pull_request, error.message)
        return None
    return commit if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", commit) else None
