"""Keeps the status of worktrees current by polling git and the hosting service.

Git directories are watched, so that a commit, a checkout or a fetch is noticed immediately; the
intervals in the preferences catch everything else. Archived worktrees are not polled.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.background import worktree_status
from model.background.conflict_radar import ConflictRadar
from model.background.scheduler import KeyedScheduler
from model.base.errors import SpinneyError
from model.base.git_layout import find_git_directories
from model.domain.events.base import Event
from model.domain.events.messages import BlockChanged, MessageCompleted, MessageFailed
from model.domain.events.program import PreferencesUpdated
from model.domain.events.projects import ProjectRemoved
from model.domain.events.sessions import SessionUpdated
from model.domain.events.worktrees import (
    WorktreeArchived,
    WorktreeCreated,
    WorktreeDeleted,
    WorktreeRenamed,
    WorktreeStatusUpdated,
    WorktreeUnarchived,
    WorktreeUpdated,
)
from model.domain.messages import ToolResultBlock
from model.domain.worktrees import Worktree
from model.git.branch_tips import BranchTips, read_branch_tips
from model.git.status import GitStatus
from model.git.watch import WatchedTree, watch
from model.hosting.polling import PullRequestPoller
from model.store.bus import EventBus, Follower
from model.store.store import Store

CONCURRENCY: Final = 2
"""Concurrent git calls: more do not finish a sweep any sooner."""
_TIPS_MAX_AGE: Final = 5.0
"""Seconds for which a list of a repository's branches is reused."""
_MAX_BACKOFF: Final = 16
"""Maximum delay of a worktree in which git keeps failing, in polling intervals."""
_WORKING_INTERVAL: Final = 15.0
"""Seconds between refreshes of a worktree in which an agent uses tools."""
_WATCH_DELAY: Final = 0.5
"""Seconds for which new worktrees are collected before they are watched."""
_WATCH_OVERLAP: Final = 3.0
"""Seconds for which the previous watch continues: it batches changes before it reports them."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Failing:
    """A worktree in which git fails."""

    failures: int
    retry_at: float


class Poller:
    """Polls git for every worktree, and the hosting service for every pull request.

    Args:
        store: The store to read worktrees from and record results in.
        bus: The source of events that trigger a refresh.
        archive: Archives a worktree; raises `conflict` while one of its sessions is active.
        radar: Compares worktrees that have changed.
        note_status: Called with each status that was read.
        on_pull_request_changed: Gets the id of a worktree whose pull request has changed.
    """

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        archive: Callable[[Store, str], Awaitable[None]],
        radar: ConflictRadar,
        note_status: Callable[[str, GitStatus], None],
        on_pull_request_changed: Callable[[str], None] = lambda _: None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._bus = bus
        self._radar = radar
        self._note_status = note_status
        self._git = KeyedScheduler(
            self._refresh_git, self._worktrees, self._git_interval, CONCURRENCY
        )
        self._following = PullRequestPoller(store, archive, self._tips_of, on_pull_request_changed)
        self._hosting = KeyedScheduler(
            self._following.poll, self._with_pull_request, self._remote_interval, 1
        )
        self._clock = clock
        self._tips: dict[Path, tuple[float, BranchTips | None]] = {}
        self._failing: dict[str, _Failing] = {}
        self._forced: set[str] = set()
        """Worktrees to refresh again even if the refresh that is running now fails."""
        self._tool_refreshes: dict[str, float] = {}
        """When worktrees were last refreshed because an agent used a tool there."""
        self._to_report: set[str] = set()
        """Worktrees whose status a client waits for."""
        self._watched: frozenset[str] | None = frozenset()
        """Watched worktrees; `None` while their list is being read."""
        self._worktrees_changed = asyncio.Event()

    async def run(self) -> None:
        """Poll until canceled."""
        news = self._bus.follow()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._git.run())
            group.create_task(self._hosting.run())
            group.create_task(self._follow_events(news))
            group.create_task(self._watch())

    def refresh(self, *worktree_ids: str) -> None:
        """Refresh the git status of these worktrees as soon as possible."""
        self._forget_cached(*worktree_ids)
        self._git.request(*worktree_ids)

    async def refresh_and_wait(self, worktree_ids: list[str]) -> None:
        """Refresh the git status of these worktrees and publish it, changed or not."""
        self._forget_cached(*worktree_ids)
        self._to_report.update(worktree_ids)
        await self._git.request_and_wait(worktree_ids)

    def refresh_hosting(self, worktree_id: str) -> None:
        """Refresh the pull request of this worktree, whatever is known of it."""
        self._following.forget(worktree_id)
        self._hosting.request(worktree_id)

    def _worktrees(self) -> Mapping[str, str]:
        return {w.id: w.project_id for w in self._active_worktrees()}

    def _with_pull_request(self) -> Mapping[str, str]:
        may_change = self._following.needs_polling
        return {w.id: w.project_id for w in self._active_worktrees() if may_change(w)}

    def _active_worktrees(self) -> Iterator[Worktree]:
        """The worktrees to poll; a damaged database may contain some whose project is lost."""
        state = self._store.state
        return (
            w for w in state.worktrees.values() if _is_active(w) and w.project_id in state.projects
        )

    def _git_interval(self) -> float:
        return self._store.state.preferences.git_poll_interval

    def _remote_interval(self) -> float:
        return self._store.state.preferences.remote_poll_interval

    async def _refresh_git(self, worktree_id: str) -> None:
        report_unchanged = worktree_id in self._to_report
        self._to_report.discard(worktree_id)
        failing = self._failing.get(worktree_id)
        is_forced = worktree_id in self._forced
        self._forced.discard(worktree_id)
        if failing is not None and not is_forced and self._clock() < failing.retry_at:
            return
        try:
            status = await worktree_status.refresh(
                self._store, worktree_id, self._tips_of, report_unchanged=report_unchanged
            )
            self._failing.pop(worktree_id, None)
            if status is not None:
                self._radar.note_status(worktree_id, status)
                self._note_status(worktree_id, status)
        except SpinneyError as error:
            self._back_off(worktree_id)
            # Commands report such errors to the user; here the last counts stay.
            _log.debug("git status of %s failed: %s", worktree_id, error.message)

    async def _tips_of(self, root: Path) -> BranchTips:
        read_at, tips = self._tips.get(root, (0.0, None))
        now = time.monotonic()
        if tips is None or now - read_at > _TIPS_MAX_AGE:
            self._tips[root] = placeholder = (now, None)
            tips = await read_branch_tips(root)
            # Not if it was invalidated meanwhile: this may not include the latest change.
            if self._tips.get(root) is placeholder:
                self._tips[root] = (now, tips)
        return tips

    def _back_off(self, worktree_id: str) -> None:
        """Double the delay with each failure in a row: thousands of worktrees may fail at once."""
        failures = self._failing[worktree_id].failures + 1 if worktree_id in self._failing else 1
        delay = self._git_interval() * min(2 ** (failures - 1), _MAX_BACKOFF)
        self._failing[worktree_id] = _Failing(failures, self._clock() + delay)

    def _forget_cached(self, *worktree_ids: str) -> None:
        """Forget cached data that could hide a change."""
        state = self._store.state
        self._forced.update(worktree_ids)
        for worktree_id in worktree_ids:
            self._failing.pop(worktree_id, None)
            worktree = state.worktrees.get(worktree_id)
            project = state.projects.get(worktree.project_id) if worktree else None
            if project is not None:
                self._tips.pop(Path(project.path), None)

    async def _follow_events(self, news: Follower) -> None:
        """Refresh worktrees when events call for it."""
        with news:
            while True:
                entries, _ = await news.next()
                for entry in entries:
                    self._handle_event(entry.event)

    def _handle_event(self, event: Event) -> None:
        match event:
            case BlockChanged() if isinstance(event.block, ToolResultBlock):
                self._handle_tool_end(event.session_id)
            case MessageCompleted() | MessageFailed():
                self._handle_turn_end(event.session_id)
            case SessionUpdated() if event.updates.get("last_run") is not None:
                # A turn that was stopped before its answer began has no message.
                self._handle_turn_end(event.session_id)
            case WorktreeCreated() | WorktreeUnarchived() | WorktreeRenamed():
                self.refresh(event.worktree.id)
                self._on_worktrees_changed()
            case WorktreeUpdated() if self._is_watch_outdated(event.worktree):
                self.refresh(event.worktree.id)
                self._on_worktrees_changed()
            case WorktreeUpdated() | WorktreeStatusUpdated() | PreferencesUpdated():
                self._git.reschedule()
                self._hosting.reschedule()
            case ProjectRemoved() | WorktreeArchived() | WorktreeDeleted():
                self._radar.request(
                    event.worktree.project_id
                    if isinstance(event, WorktreeArchived)
                    else event.project_id
                )
                active = self._worktrees()
                self._failing = {key: self._failing[key] for key in self._failing.keys() & active}
                self._forced &= active.keys()
                kept = self._tool_refreshes.keys() & active
                self._tool_refreshes = {key: self._tool_refreshes[key] for key in kept}
                self._on_worktrees_changed()
            case _:
                pass

    def _handle_tool_end(self, session_id: str) -> None:
        """Refresh the worktree: a turn may be long, and a conflict should show before its end."""
        session = self._store.state.sessions.get(session_id)
        if session is None:
            return
        last = self._tool_refreshes.get(session.worktree_id, -_WORKING_INTERVAL)
        if self._clock() - last >= _WORKING_INTERVAL:
            self._tool_refreshes[session.worktree_id] = self._clock()
            self._git.request(session.worktree_id)

    def _handle_turn_end(self, session_id: str) -> None:
        session = self._store.state.sessions.get(session_id)
        if session is None:
            return
        self.refresh(session.worktree_id)
        worktree = self._store.state.worktrees.get(session.worktree_id)
        if worktree is not None and self._following.handle_turn_end(worktree):
            self._hosting.request(worktree.id)

    def _is_watch_outdated(self, worktree: Worktree) -> bool:
        is_ready, watched_ids = worktree.status == "ready", self._watched
        return watched_ids is None or is_ready != (worktree.id in watched_ids)

    def _on_worktrees_changed(self) -> None:
        self._worktrees_changed.set()
        self._git.reschedule()
        self._hosting.reschedule()

    async def _watch(self) -> None:
        """Watch the git directories of all worktrees, restarting when their list changes."""
        watches: list[asyncio.Task[None]] = []
        try:
            while True:
                self._worktrees_changed.clear()
                previous, self._watched = self._watched or frozenset(), None
                trees = await asyncio.to_thread(self._watched_trees)
                self._watched = frozenset(tree.key for tree in trees)
                new = self._watched - previous
                has_started = asyncio.Event()
                watches.append(asyncio.create_task(watch(trees, self._on_git_changed, has_started)))
                # Nothing is missed meanwhile: the previous watch continues until this one has
                # started and all is reported, and new worktrees are refreshed once more.
                await has_started.wait()
                self.refresh(*new & self._worktrees().keys())
                for old in watches[-2:-1]:
                    asyncio.get_running_loop().call_later(_WATCH_OVERLAP, old.cancel)
                await asyncio.sleep(_WATCH_DELAY)
                watches = [task for task in watches if not task.done()]
                await self._worktrees_changed.wait()
        finally:
            await _cancel_all(watches)

    def _watched_trees(self) -> list[WatchedTree]:
        state = self._store.state
        trees = []
        for worktree in state.worktrees.values():
            project = state.projects.get(worktree.project_id)
            directories = (
                find_git_directories(Path(worktree.path)) if _is_active(worktree) else None
            )
            if directories is not None and project is not None:
                base = worktree.base_branch or project.default_branch
                trees.append(WatchedTree(worktree.id, directories, base))
        return trees

    def _on_git_changed(self, worktree_ids: set[str]) -> None:
        self.refresh(*(worktree_ids & self._worktrees().keys()))


async def _cancel_all(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _is_active(worktree: Worktree) -> bool:
    return worktree.archived_at is None and worktree.status != "creating"
