"""A copy of the model's state for the screens: applies the client's updates, once per frame.

The next update is requested only when the frame is over. Until then events are merged by the
client, so a slow screen only delays itself.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from model.base.errors import SpinneyError
from model.client.base import Client, Disconnected, EventBatch, Loaded, Update
from model.domain.events.base import Event
from model.state import State, apply
from tui.store.history_cache import HistoryCache

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TEXT_PAUSE_FACTOR = 3.0
"""The pause after a change of text, as a multiple of the time it took: a paragraph of many pages
is rendered again whenever it grows, and keys have priority."""
RETRY_DELAY = 1.0
"""Seconds until updates are requested again after the client gave up."""


@dataclass(frozen=True, slots=True)
class Change:
    """The changes since the last frame."""

    state: State
    before: State
    loaded: bool = False
    """Whether the whole state was loaded again, because events were missed."""
    events: tuple[Event, ...] = ()
    lost: Disconnected | None = None
    projects: frozenset[str] = frozenset()
    """Ids of projects that were added, changed or removed; likewise below."""
    worktrees: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    queued: frozenset[str] = frozenset()
    """Ids of sessions whose queued messages changed."""
    preferences: bool = False
    messages: Mapping[str, int] = field(default_factory=dict)
    """The first index that changed in each cached conversation, by session id."""

    @property
    def is_only_text(self) -> bool:
        """Whether only streamed text in conversations changed."""
        return self.lost is None and not (
            self.loaded
            or self.projects
            or self.worktrees
            or self.sessions
            or self.queued
            or self.preferences
            or self.state.program is not self.before.program
        )

    def events_of(self, session_id: str) -> list[Event]:
        """The events of one session, in order."""
        return [event for event in self.events if event.related_session_id == session_id]


@dataclass(slots=True)
class Mirror:
    """Follows a client and reports changes."""

    client: Client
    frame: float
    """Minimum seconds between two changes."""
    on_change: Callable[[Change], None]
    state: State = field(default_factory=State)
    lost: Disconnected | None = None
    text_frame: float = 0.0
    """Minimum seconds after a change of text alone, if longer than `frame`."""
    _is_loaded: bool = False
    """Whether the client's state was received; over a network that takes a while."""
    followers: list[Callable[[Change], None]] = field(default_factory=list)
    """Called with each change after `changed`, for screens above the main one."""
    histories: HistoryCache = field(init=False)
    """The messages of recently opened conversations."""
    _waiting: list[tuple[Callable[[State], bool], "asyncio.Future[State]"]] = field(
        default_factory=list
    )

    def __post_init__(self) -> None:
        self.histories = HistoryCache(self.client)

    @property
    def is_loaded(self) -> bool:
        """Whether the state was received from the client."""
        return self._is_loaded

    async def run(self) -> None:
        """Follow the client until cancelled; retry when it gives up."""
        while True:
            try:
                await self._follow(self.client.updates())
                reason = "The connection was closed."
            except SpinneyError as error:
                reason = error.message
            self._apply(Disconnected(reason))
            await asyncio.sleep(RETRY_DELAY)

    async def wait_for(self, predicate: Callable[[State], bool], timeout: float = 60) -> State:
        """Wait for a state that satisfies `predicate`. Raises `TimeoutError`."""
        if self._is_loaded and predicate(self.state):
            return self.state
        future: asyncio.Future[State] = asyncio.get_running_loop().create_future()
        self._waiting.append((predicate, future))
        return await asyncio.wait_for(future, timeout)

    async def _follow(self, updates: "AsyncIterator[Update]") -> None:
        async for update in updates:
            started_at = time.perf_counter()
            change = self._apply(update)
            pause = self.frame
            if change.is_only_text:
                pause = max(
                    pause, self.text_frame, TEXT_PAUSE_FACTOR * (time.perf_counter() - started_at)
                )
            await asyncio.sleep(pause)

    def _apply(self, update: Update) -> Change:
        before = self.state
        match update:
            case Loaded():
                self.state, self.lost = update.state, None
                self._is_loaded = True
                self.histories.forget()
                change = _compare(before, self.state, loaded=True)
            case EventBatch():
                self.lost = None
                first_changed: dict[str, int] = {}
                for event in update.events:
                    self.state = apply(self.state, event)
                    if (changed := self.histories.apply(event, self.state)) is not None:
                        first_changed[changed[0]] = min(
                            changed[1], first_changed.get(changed[0], changed[1])
                        )
                change = _compare(before, self.state, events=update.events, messages=first_changed)
            case Disconnected():
                self.lost = update
                change = Change(self.state, before, lost=update)
        self.on_change(change)
        for follow in tuple(self.followers):
            follow(change)
        self._resolve_waiting()
        return change

    def _resolve_waiting(self) -> None:
        for true, future in self._waiting:
            if not future.done() and true(self.state):
                future.set_result(self.state)
        self._waiting = [entry for entry in self._waiting if not entry[1].done()]


def _compare(
    before: State,
    state: State,
    *,
    loaded: bool = False,
    events: Iterable[Event] = (),
    messages: Mapping[str, int] = MappingProxyType({}),
) -> Change:
    return Change(
        state,
        before,
        loaded=loaded,
        events=tuple(events),
        projects=_changed_keys(before.projects, state.projects),
        worktrees=_changed_keys(before.worktrees, state.worktrees),
        sessions=_changed_keys(before.sessions, state.sessions),
        queued=_changed_keys(before.queued, state.queued),
        preferences=before.preferences is not state.preferences,
        messages=messages,
    )


def _changed_keys(before: Mapping[str, Any], after: Mapping[str, Any]) -> frozenset[str]:
    # Unchanged frozen resources, and unchanged mappings, are the same objects.
    if before is after:
        return frozenset()
    return frozenset(
        key for key in before.keys() | after.keys() if before.get(key) is not after.get(key)
    )
