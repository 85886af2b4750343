"""The screen's picture of the model: folds what the client tells, at most one change a frame.

The client is asked for its next update only when the frame is over. What happens meanwhile waits
and merges below, so a screen that is slow costs nothing but its own delay.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from model.base.errors import SpinneyError
from model.client.base import Client, Happened, Loaded, Lost, Update
from model.domain import events as e
from model.state import State, apply
from tui.store.history_cache import HistoryCache

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

REST = 3.0
"""Times as long as a change of text took that nothing more is drawn: a paragraph of many pages is
made anew whenever it grows, and keys come first."""
RETRY = 1.0
"""Seconds until the client is asked again after it gave up."""


@dataclass(frozen=True, slots=True)
class Change:
    """What is different since the last frame."""

    state: State
    before: State
    loaded: bool = False
    """Everything is new: events were missed."""
    events: tuple[e.Event, ...] = ()
    lost: Lost | None = None
    projects: frozenset[str] = frozenset()
    """Ids of what was added, changed or removed."""
    worktrees: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    queued: frozenset[str] = frozenset()
    """Sessions whose waiting messages changed."""
    preferences: bool = False
    messages: Mapping[str, int] = field(default_factory=dict)
    """The first index that changed in each cached conversation, by session id."""

    @property
    def is_only_text(self) -> bool:
        """Whether nothing changed but what is being written in conversations."""
        return self.lost is None and not (
            self.loaded
            or self.projects
            or self.worktrees
            or self.sessions
            or self.queued
            or self.preferences
        )

    def events_of(self, session_id: str) -> list[e.Event]:
        """The events of one session, in order."""
        return [event for event in self.events if event.concerns == session_id]


@dataclass(slots=True)
class Mirror:
    """Follows a client and hands changes on."""

    client: Client
    frame: float
    """Least seconds between two changes."""
    changed: Callable[[Change], None]
    state: State = field(default_factory=State)
    lost: Lost | None = None
    text_frame: float = 0.0
    """Least seconds after a change of nothing but text, where that is longer."""
    _is_loaded: bool = False
    """Whether the state is the client's; over a network that takes its time."""
    followers: list[Callable[[Change], None]] = field(default_factory=list)
    """Called with each change after `changed`: screens over the main one."""
    histories: HistoryCache = field(init=False)
    """The messages of conversations that are or were open."""
    _waiting: list[tuple[Callable[[State], bool], "asyncio.Future[State]"]] = field(
        default_factory=list
    )

    def __post_init__(self) -> None:
        self.histories = HistoryCache(self.client)

    @property
    def is_loaded(self) -> bool:
        """Whether the state is the client's, and not just empty."""
        return self._is_loaded

    async def run(self) -> None:
        """Follow the client until cancelled; ask again when it gives up."""
        while True:
            try:
                await self._follow(self.client.updates())
                reason = "The connection was closed."
            except SpinneyError as error:
                reason = error.message
            self._take(Lost(reason, RETRY))
            await asyncio.sleep(RETRY)

    async def until(self, true: Callable[[State], bool], within: float = 60) -> State:
        """The first state that was told in which `true` holds. Raises `TimeoutError`."""
        if self._is_loaded and true(self.state):
            return self.state
        future: asyncio.Future[State] = asyncio.get_running_loop().create_future()
        self._waiting.append((true, future))
        return await asyncio.wait_for(future, within)

    async def _follow(self, updates: "AsyncIterator[Update]") -> None:
        async for update in updates:
            began = time.perf_counter()
            change = self._take(update)
            pause = self.frame
            if change.is_only_text:
                pause = max(pause, self.text_frame, REST * (time.perf_counter() - began))
            await asyncio.sleep(pause)

    def _take(self, update: Update) -> Change:
        before = self.state
        match update:
            case Loaded():
                self.state, self.lost = update.state, None
                self._is_loaded = True
                self.histories.forget()
                change = _difference(before, self.state, loaded=True)
            case Happened():
                self.lost = None
                firsts: dict[str, int] = {}
                for event in update.events:
                    self.state = apply(self.state, event)
                    if (found := self.histories.apply(event, self.state)) is not None:
                        firsts[found[0]] = min(found[1], firsts.get(found[0], found[1]))
                change = _difference(before, self.state, events=update.events, messages=firsts)
            case Lost():
                self.lost = update
                change = Change(self.state, before, lost=update)
        self.changed(change)
        for follow in tuple(self.followers):
            follow(change)
        self._wake()
        return change

    def _wake(self) -> None:
        for true, future in self._waiting:
            if not future.done() and true(self.state):
                future.set_result(self.state)
        self._waiting = [entry for entry in self._waiting if not entry[1].done()]


def _difference(
    before: State,
    state: State,
    *,
    loaded: bool = False,
    events: Iterable[e.Event] = (),
    messages: Mapping[str, int] = MappingProxyType({}),
) -> Change:
    return Change(
        state,
        before,
        loaded=loaded,
        events=tuple(events),
        projects=_changed(before.projects, state.projects),
        worktrees=_changed(before.worktrees, state.worktrees),
        sessions=_changed(before.sessions, state.sessions),
        queued=_changed(before.queued, state.queued),
        preferences=before.preferences is not state.preferences,
        messages=messages,
    )


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> frozenset[str]:
    # Frozen resources that did not change are the same objects; a mapping that did not, too.
    if before is now:
        return frozenset()
    return frozenset(
        key for key in before.keys() | now.keys() if before.get(key) is not now.get(key)
    )
