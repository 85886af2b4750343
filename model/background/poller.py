"""Keeps what is known of the worktrees true: asks git and the hosting service again and again.

Git's directories are watched, so that a commit, a checkout or a fetch is noticed at once and by
itself; the intervals of the preferences find the rest. Archived worktrees are left alone.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.background import worktree_status
from model.background.scheduler import Rounds
from model.base.errors import SpinneyError
from model.base.git_layout import git_directories
from model.domain.events import (
    Event,
    MessageCompleted,
    MessageFailed,
    PreferencesUpdated,
    ProjectRemoved,
    WorktreeArchived,
    WorktreeCreated,
    WorktreeDeleted,
    WorktreeRenamed,
    WorktreeStatusUpdated,
    WorktreeUnarchived,
    WorktreeUpdated,
)
from model.domain.resources import Worktree
from model.git.branch_tips import BranchTips, branch_tips
from model.git.watch import WatchedTree, watch
from model.hosting.polling import Following
from model.store.bus import EventBus, Reader
from model.store.store import Store

AT_ONCE: Final = 2
"""Calls of git: more do not finish a sweep any sooner."""
_TIPS_GOOD_FOR: Final = 5.0
"""Seconds that a reading of a repository's branches serves a sweep."""
_LONGEST_REST: Final = 16
"""Intervals after which a worktree is looked at again, however often git has failed there."""
_WATCHED_TOGETHER: Final = 0.5
"""Seconds within which new worktrees share a new watch."""
_STILL_TELLS: Final = 3.0
"""Seconds for which the watch before goes on: it bundles what it saw before it tells of it."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Broken:
    """A worktree in which git fails."""

    times: int
    rests_until: float


class Poller:
    """Asks git about every worktree, and the hosting service about every pull request.

    Args:
        store: Where it reads what there is and records what it found.
        bus: Where it hears what makes another look worth while.
        archive: Puts a worktree away; refuses with `conflict` while a session works in it.
    """

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        archive: Callable[[Store, str], Awaitable[None]],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._bus = bus
        self._git = Rounds(self._ask_git, self._worktrees, self._git_interval, AT_ONCE)
        self._following = Following(store, archive, self._tips_of)
        self._hosting = Rounds(self._following.look, self._proposed, self._remote_interval, 1)
        self._clock = clock
        self._tips: dict[Path, tuple[float, BranchTips | None]] = {}
        self._broken: dict[str, _Broken] = {}
        self._asked: set[str] = set()
        """Worktrees that are looked at even if the look that runs now should fail."""
        self._to_tell: set[str] = set()
        """Worktrees that somebody asked about and waits for."""
        self._watched: frozenset[str] | None = frozenset()
        """Worktrees that are watched; `None` while it is read which are there."""
        self._places_new = asyncio.Event()

    async def run(self) -> None:
        """Work until cancelled."""
        reader = self._bus.reader()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._git.run())
            group.create_task(self._hosting.run())
            group.create_task(self._follow(reader))
            group.create_task(self._watch())

    def ask(self, *worktree_ids: str) -> None:
        """Have git asked about these as soon as may be."""
        self._looks_anew(*worktree_ids)
        self._git.ask(*worktree_ids)

    async def ask_and_wait(self, worktree_ids: list[str]) -> None:
        """Have git asked about these, and tell what it answers, changed or not."""
        self._looks_anew(*worktree_ids)
        self._to_tell.update(worktree_ids)
        await self._git.ask_and_wait(worktree_ids)

    def ask_hosting(self, worktree_id: str) -> None:
        """Have the hosting service asked about this worktree's pull request."""
        self._hosting.ask(worktree_id)

    def _worktrees(self) -> Mapping[str, str]:
        return {w.id: w.project_id for w in self._living()}

    def _proposed(self) -> Mapping[str, str]:
        may_change = self._following.may_change
        return {w.id: w.project_id for w in self._living() if may_change(w)}

    def _living(self) -> Iterator[Worktree]:
        """Those that are looked at; a damaged database may hold some whose project is lost."""
        state = self._store.state
        return (w for w in state.worktrees.values() if _alive(w) and w.project_id in state.projects)

    def _git_interval(self) -> float:
        return self._store.state.preferences.git_poll_interval

    def _remote_interval(self) -> float:
        return self._store.state.preferences.remote_poll_interval

    async def _ask_git(self, worktree_id: str) -> None:
        tell = worktree_id in self._to_tell
        self._to_tell.discard(worktree_id)
        broken = self._broken.get(worktree_id)
        is_asked = worktree_id in self._asked
        self._asked.discard(worktree_id)
        if broken is not None and not is_asked and self._clock() < broken.rests_until:
            return
        try:
            await worktree_status.refresh(self._store, worktree_id, self._tips_of, tell=tell)
            self._broken.pop(worktree_id, None)
        except SpinneyError as error:
            self._rest(worktree_id)
            # Told where a person asks for something; here the last counts stay.
            _log.debug("git about %s: %s", worktree_id, error.message)

    async def _tips_of(self, root: Path) -> BranchTips:
        read, tips = self._tips.get(root, (0.0, None))
        now = time.monotonic()
        if tips is None or now - read > _TIPS_GOOD_FOR:
            self._tips[root] = begun = (now, None)
            tips = await branch_tips(root)
            # Not if it was told meanwhile to forget: something changed that this may not show.
            if self._tips.get(root) is begun:
                self._tips[root] = (now, tips)
        return tips

    def _rest(self, worktree_id: str) -> None:
        """Look the less often, the more looks in a row failed: thousands may be broken at once."""
        times = self._broken[worktree_id].times + 1 if worktree_id in self._broken else 1
        rest = self._git_interval() * min(2 ** (times - 1), _LONGEST_REST)
        self._broken[worktree_id] = _Broken(times, self._clock() + rest)

    def _looks_anew(self, *worktree_ids: str) -> None:
        """Forget what could keep a look from finding what is new."""
        state = self._store.state
        self._asked.update(worktree_ids)
        for worktree_id in worktree_ids:
            self._broken.pop(worktree_id, None)
            worktree = state.worktrees.get(worktree_id)
            project = state.projects.get(worktree.project_id) if worktree else None
            if project is not None:
                self._tips.pop(Path(project.path), None)

    async def _follow(self, reader: Reader) -> None:
        """Hear what makes another look worth while."""
        news = asyncio.Event()
        stop_listening = self._bus.listen(news.set)
        try:
            while True:
                await news.wait()
                news.clear()
                for entry in reader.take()[0]:
                    self._hear(entry.event)
        finally:
            stop_listening()

    def _hear(self, event: Event) -> None:
        match event:
            case MessageCompleted() | MessageFailed():
                session = self._store.state.sessions.get(event.session_id)
                if session is not None:
                    self.ask(session.worktree_id)
                    worktree = self._store.state.worktrees.get(session.worktree_id)
                    if worktree is not None and self._following.turn_ended(worktree):
                        self._hosting.ask(worktree.id)
            case WorktreeCreated() | WorktreeUnarchived() | WorktreeRenamed():
                self.ask(event.worktree.id)
                self._places_changed()
            case WorktreeUpdated() if self._came_or_went(event.worktree):
                self.ask(event.worktree.id)
                self._places_changed()
            case WorktreeUpdated() | WorktreeStatusUpdated() | PreferencesUpdated():
                self._git.look_again()
                self._hosting.look_again()
            case ProjectRemoved() | WorktreeArchived() | WorktreeDeleted():
                known = self._worktrees()
                self._broken = {key: self._broken[key] for key in self._broken.keys() & known}
                self._asked &= known.keys()
                self._places_changed()
            case _:
                pass

    def _came_or_went(self, worktree: Worktree) -> bool:
        ready, watched = worktree.status == "ready", self._watched
        return watched is None or ready != (worktree.id in watched)

    def _places_changed(self) -> None:
        self._places_new.set()
        self._git.look_again()
        self._hosting.look_again()

    async def _watch(self) -> None:
        """Watch the git directories of all worktrees, anew whenever there are others."""
        watching: list[asyncio.Task[None]] = []
        try:
            while True:
                self._places_new.clear()
                earlier, self._watched = self._watched or frozenset(), None
                trees = await asyncio.to_thread(self._trees)
                self._watched = frozenset(tree.key for tree in trees)
                new = self._watched - earlier
                begun = asyncio.Event()
                watching.append(asyncio.create_task(watch(trees, self._git_changed, begun)))
                # Nothing is overlooked meanwhile: the watch before goes on until this one has
                # begun and all is told, and what is new is looked at once more.
                await begun.wait()
                self.ask(*new & self._worktrees().keys())
                for before in watching[-2:-1]:
                    asyncio.get_running_loop().call_later(_STILL_TELLS, before.cancel)
                await asyncio.sleep(_WATCHED_TOGETHER)
                watching = [task for task in watching if not task.done()]
                await self._places_new.wait()
        finally:
            await _ended(watching)

    def _trees(self) -> list[WatchedTree]:
        state = self._store.state
        trees = []
        for worktree in state.worktrees.values():
            project = state.projects.get(worktree.project_id)
            found = git_directories(Path(worktree.path)) if _alive(worktree) else None
            if found is not None and project is not None:
                base = worktree.base_branch or project.default_branch
                trees.append(WatchedTree(worktree.id, found, base))
        return trees

    def _git_changed(self, worktree_ids: set[str]) -> None:
        self.ask(*(worktree_ids & self._worktrees().keys()))


async def _ended(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _alive(worktree: Worktree) -> bool:
    return worktree.archived_at is None and worktree.status != "creating"
