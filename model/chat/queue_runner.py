"""Runs what waits in a session: its paused turn, queued messages, and messages with a time."""

import time
from typing import Any, Protocol

from model.chat.requests import record_session
from model.chat.turn_pauses import TurnPauses
from model.domain.events.base import Event
from model.domain.events.messages import MessageQueued
from model.domain.events.sessions import SessionUpdated
from model.domain.messages import Message
from model.domain.sessions import Pause, Session
from model.limits.pauses import end_pause, join_account_pause
from model.state import State
from model.store.store import Store


class TurnStarter(Protocol):
    """Starts a turn with a message of the conversation, or with one that is not stored."""

    def __call__(self, message: Message, *, is_stored: bool = True) -> None:
        """Start the turn."""
        ...


class QueueRunner:
    """The queue of one session. Nothing of it runs while a turn is in progress."""

    def __init__(
        self, store: Store, session_id: str, pauses: TurnPauses, start_turn: TurnStarter
    ) -> None:
        self._store = store
        self._session_id = session_id
        self._pauses = pauses
        self._start_turn = start_turn
        self.being_removed: set[str] = set()
        """Ids of queued messages that are just being removed."""

    def start_next_if_idle(self) -> None:
        """Run the next queued message if the turn ended while that message was being accepted."""
        run = self._session.last_run
        if self._session.status == "idle" and run is not None and run.status == "completed":
            self.start_next()

    def send_queued(self) -> None:
        """Run the next queued message if the session is idle: after a stop or a failure."""
        if not self._session.is_active:
            self.start_next()

    def start_next(self) -> None:
        """Run the next queued message; if the account has reached its limit, pause instead."""
        if waiting := self._runnable:
            pause = join_account_pause(self._store.state, self._session, time.time())
            if pause is not None:
                self._pause(pause)
            else:
                self._start(waiting[0])

    async def resume(self) -> None:
        """Go on after a pause: with the turn that was cut off, then with the queue."""
        pause = self._session.pause
        prompt = await self._pauses.find_prompt(pause) if pause is not None else None
        if self._session.status == "paused" and prompt is None and self._runnable:
            self._start(self._runnable[0])
            return
        is_resumed = False

        def make_events(state: State) -> list[Event]:
            nonlocal is_resumed
            session = state.sessions[self._session_id]
            if session.pause is None:
                return []  # it was stopped meanwhile
            is_resumed = session.status == "paused" and prompt is not None
            if not is_resumed:
                return [end_pause(session)]
            updates = {"status": "running", "pause": None, "updated_at": time.time()}
            return [SessionUpdated(session_id=session.id, updates=updates)]

        await self._store.accept(make_events)
        if is_resumed and prompt is not None:
            message, is_stored = prompt
            self._start_turn(message, is_stored=is_stored)

    async def send_due(self, message_id: str) -> None:
        """Send a message whose time has come; during a turn or a pause it waits like any other."""
        queued = self._store.state.queued.get(self._session_id, ())
        message = next((one for one in queued if one.id == message_id), None)
        if message is None or message_id in self.being_removed:
            return
        session = self._session
        if not session.is_unfinished and not self._store.state.is_held(session):
            pause = join_account_pause(self._store.state, session, time.time())
            if pause is None:
                self._start(message)
                return
            self._pause(pause)
        plain = message.model_copy(update={"send_at": None})
        await self._store.accept(
            MessageQueued(session_id=self._session_id, message=plain, status="sent")
        )
        self.start_next_if_idle()

    @property
    def _session(self) -> Session:
        return self._store.state.sessions[self._session_id]

    @property
    def is_waiting(self) -> bool:
        """Whether a message waits for the end of a turn."""
        return bool(self._runnable)

    @property
    def _runnable(self) -> list[Message]:
        """The queued messages that may run now, first those that were to be read during a turn."""
        runnable = [
            message
            for message in self._store.state.queued.get(self._session_id, ())
            if message.id not in self.being_removed and message.send_at is None
        ]
        return sorted(runnable, key=lambda message: not message.steered)

    def _pause(self, pause: Pause) -> None:
        self._update(status="paused", pause=pause.model_dump(mode="json"))

    def _start(self, queued: Message) -> None:
        updates = {"timestamp": time.time(), "status": "completed"}
        message = queued.model_copy(update={**updates, "send_at": None, "steered": False})
        self._store.record(
            MessageQueued(session_id=self._session_id, message=message, status="processing")
        )
        count = self._session.message_count + 1
        self._update(status="running", pause=None, message_count=count)
        self._start_turn(message)

    def _update(self, **fields: Any) -> None:
        record_session(self._store, self._session_id, **fields)
