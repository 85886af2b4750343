"""What the hosting service says of the worktrees' pull requests, recorded where it differs.

One that was opened elsewhere, in a browser or by an agent, is found by its branch; a merged one
puts its worktree away as soon as no session works in it.
"""

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from model.base.errors import SpinneyError
from model.domain.events import Event, WorktreeStatusUpdated, WorktreeUpdated
from model.domain.resources import Worktree
from model.git.branch_tips import BranchTips
from model.git.hosts import hosting_remotes
from model.hosting.pull_requests import (
    open_pull_request_of,
    pull_request_link,
    pull_request_state,
)
from model.state import State
from model.store.store import Store

_LONGEST_WAIT: Final = 900.0
"""Seconds between two questions whether a branch that stays as it is has a pull request now."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Search:
    """Questions after the pull request of a branch that stands at one commit."""

    commit: str
    since: float
    last: float


class Following:
    """Looks at one worktree's pull request at a time.

    Args:
        store: Where it reads what there is and records what it found.
        archive: Puts a worktree away; refuses with `conflict` while a session works in it.
        tips: Reads the branches of the repository at a path, or knows them.
        clock: Seconds since some moment.
    """

    def __init__(
        self,
        store: Store,
        archive: Callable[[Store, str], Awaitable[None]],
        tips: Callable[[Path], Awaitable[BranchTips]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._archive = archive
        self._tips = tips
        self._clock = clock
        self._searches: dict[str, _Search] = {}

    def may_change(self, worktree: Worktree) -> bool:
        """Whether another look may find something."""
        return worktree.archive_when_idle or worktree.cached_pr_status != "merged"

    def turn_ended(self, worktree: Worktree) -> bool:
        """Whether that is a reason to look: an agent may have opened one, or let go of a merged."""
        self._searches.pop(worktree.id, None)
        return worktree.archive_when_idle or worktree.pr_number is None

    async def look(self, worktree_id: str) -> None:
        """Ask the service and record what is new; trouble goes to the log, what is known stays."""
        worktree = self._store.state.worktrees.get(worktree_id)
        if worktree is None:
            return
        try:
            if worktree.archive_when_idle:
                await self._put_away(worktree)
            elif worktree.pr_number is None:
                await self._find(worktree)
            else:
                await self._ask(worktree, worktree.pr_number)
        except SpinneyError as error:
            # Told where a person asks for something.
            _log.debug("pull request of %s: %s", worktree_id, error.message)

    async def _find(self, worktree: Worktree) -> None:
        project = self._store.state.projects[worktree.project_id]
        if worktree.branch in (project.default_branch, worktree.base_branch):
            return
        root, path = Path(project.path), Path(worktree.path)
        ending = f"/{worktree.branch}"
        tips = (await self._tips(root)).commits
        pushed = {
            name.removesuffix(ending).removeprefix("refs/remotes/"): commit
            for name, commit in tips.items()
            if name.startswith("refs/remotes/") and name.endswith(ending)
        }
        if not pushed or not self._is_due(worktree.id, " ".join(pushed.values())):
            return
        owners = {remote.owner for remote in await hosting_remotes(root) if remote.name in pushed}
        if not owners:
            return
        found = await open_pull_request_of(path, worktree.branch, owners)
        if found is None or found.number == worktree.dismissed_pr:
            return
        await self._note(worktree, pr_number=found.number, pr_url=found.url)
        known = self._store.state.worktrees.get(worktree.id)
        if known is not None and known.pr_number == found.number:
            await self._ask(known, found.number)

    def _is_due(self, worktree_id: str, commit: str) -> bool:
        """At once after a push; then the less often, the longer there was nothing."""
        now = self._clock()
        search = self._searches.get(worktree_id)
        if search is None or search.commit != commit:
            self._searches[worktree_id] = _Search(commit, now, now)
            return True
        if now - search.last < min((search.last - search.since) / 2, _LONGEST_WAIT):
            return False
        search.last = now
        return True

    async def _ask(self, worktree: Worktree, number: int) -> None:
        path = Path(worktree.path)
        if worktree.pr_url is None:
            link = await pull_request_link(path, number)
            await self._note(worktree, pr_url=link.url)
        found = await pull_request_state(path, worktree.pr_url or number)
        known = self._store.state.worktrees.get(worktree.id)
        if known is None or known.pr_number != number:
            return
        merged = found.status == "merged" and known.cached_pr_status != "merged"
        if merged and self._archives(known):
            await self._note(known, archive_when_idle=True)
        status = WorktreeStatusUpdated(
            worktree_id=known.id,
            cached_pr_status=found.status,
            cached_check_status=found.checks,
        )

        def accepted(state: State) -> list[Event]:
            now = state.worktrees.get(known.id)
            if now is None or now.pr_number != number:  # a person is just forgetting it
                return []
            before = (now.cached_pr_status, now.cached_check_status)
            return [] if before == (found.status, found.checks) else [status]

        await self._store.accept(accepted)
        if merged:
            await self._put_away(known)

    def _archives(self, worktree: Worktree) -> bool:
        wanted = self._store.state.preferences.auto_archive_on_pr_merged
        return wanted and worktree.session_type != "base"

    async def _put_away(self, worktree: Worktree) -> None:
        if self._archives(worktree):
            try:
                await self._archive(self._store, worktree.id)
                return
            except SpinneyError as error:
                if error.error_type == "conflict":
                    return
                _log.warning("%s was not archived: %s", worktree.name, error.message)
        await self._note(worktree, archive_when_idle=False)

    async def _note(self, seen: Worktree, **facts: Any) -> None:
        """Save facts, unless its branch or pull request is another one by now."""

        def accepted(state: State) -> list[Event]:
            now = state.worktrees.get(seen.id)
            if now is None or (now.branch, now.pr_number) != (seen.branch, seen.pr_number):
                return []
            changed = now.model_copy(update=facts)
            return [] if changed == now else [WorktreeUpdated(worktree=changed)]

        await self._store.accept(accepted)
