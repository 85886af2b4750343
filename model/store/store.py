"""The store: the only place where the state changes. It saves, folds and publishes, in this order.

User requests are *accepted*: on disk before any client sees them, or rejected with a reason. Agent
activity is *recorded*: it has already happened, so it is published at once and saved soon after,
with retries if the disk refuses.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from model.base.errors import SpinneyError
from model.domain.events.base import Event
from model.domain.events.messages import (
    BlockChanged,
    ContentDelta,
    MessageCompleted,
    MessageFailed,
    MessageQueued,
    MessageRemoved,
    MessagesRewound,
    MessageStarted,
    ToolRunning,
    ToolUsed,
)
from model.domain.events.program import LimitsUpdated, TaskCompleted
from model.domain.events.sessions import TurnRecorded, TurnUndone, UsageRecorded
from model.domain.messages import Message, MessagePage
from model.domain.turns import Turn
from model.domain.usage import AccountLimits, TurnUsage
from model.state import State, apply, rebase
from model.store.bus import EventBus
from model.store.database import Database
from model.store.queries import DatabaseReader, FoundMessage, OutlinedMessage
from model.store.rows import (
    CopiedMessages,
    DocumentKey,
    block_row,
    changed_documents,
    document_rows,
    statements_for,
)
from model.store.usage_queries import (
    TurnCondition,
    UsageSelection,
    UsageSum,
    read_turn_usage,
    read_usage,
)
from model.store.usage_rows import Statement

Change = Event | Callable[[State], Iterable[Event]]
"""An event, or a function that inspects the newest state and returns events or raises."""

SAVE_INTERVAL = 0.25
"""Seconds of streamed text that a kill can lose."""


class Store:
    """The state and the operations that change it. Belongs to the core's event loop."""

    def __init__(self, database: Database, bus: EventBus, state: State) -> None:
        self.state = state
        self.bus = bus
        self._database = database
        self._lock = asyncio.Lock()
        self._unsaved: list[Statement] = []
        self._unsaved_documents: dict[DocumentKey, None] = {}
        self._unsaved_blocks: dict[tuple[str, int], None] = {}
        self._saving: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._is_failing = False
        self._writes: set[asyncio.Task[None]] = set()

    @property
    def is_failing(self) -> bool:
        """Whether the last attempt to save what was recorded has failed."""
        return self._is_failing

    async def accept(self, *changes: Change, copy: CopiedMessages | None = None) -> None:
        """Save, fold and publish all changes, or none of them; with them, `copy` messages.

        A function is called while no other accepted change can intervene, so what it checks still
        holds when its events are saved; recorded events do not wait for it. Raises what the
        function raises, and `SpinneyError` if the disk is full.
        """
        await self._run_to_completion(self._accept(changes, copy))

    def record(self, *events: Event) -> None:
        """Fold and publish events at once and save them soon. For what cannot be rejected."""
        for event in events:
            before = self.state
            self.state = apply(before, event)
            self._note(event, before)
            self.bus.publish(event)

    async def messages(self, session_id: str, limit: int = 100, offset: int = 0) -> MessagePage:
        """Return a page of a conversation, including everything streamed so far."""
        async with self._flushed_reader() as database:
            return await database.messages(session_id, limit, offset)

    async def kept_messages(self, session_id: str, since: int, limit: int) -> list[Message]:
        """Return the newest messages that are not rewound and come after the first `since` ones."""
        async with self._flushed_reader() as database:
            return await database.kept_messages(session_id, since, limit)

    async def outline(self, session_id: str) -> list[OutlinedMessage]:
        """Return all of a session's messages that are not queued, oldest first."""
        async with self._flushed_reader() as database:
            return await database.outline(session_id)

    async def message(self, message_id: str) -> Message | None:
        """Return the message with this id from any session, queued or not."""
        async with self._flushed_reader() as database:
            return await database.message(message_id)

    async def count_unreadable_messages(self) -> dict[str, int]:
        """Return how many messages of each session have a damaged row."""
        async with self._flushed_reader() as database:
            return await database.count_unreadable_messages()

    async def turns(
        self, session_id: str, first: int = 0, before: int | None = None, limit: int | None = None
    ) -> list[Turn]:
        """Return the turns of a session, oldest first; as `DatabaseReader.turns`."""
        async with self._flushed_reader() as database:
            return await database.turns(session_id, first, before, limit)

    async def turn(self, turn_id: str) -> Turn | None:
        """Return the turn with this id."""
        async with self._flushed_reader() as database:
            return await database.turn(turn_id)

    async def last_turn_number(self, session_id: str) -> int:
        """Return the number of a session's newest turn; 0 if it has none."""
        async with self._flushed_reader() as database:
            return await database.last_turn_number(session_id)

    async def unfinished_turns(self) -> list[Turn]:
        """Return the turns that have begun but were not recorded to their end."""
        async with self._flushed_reader() as database:
            return await database.unfinished_turns()

    async def account_limits(self) -> list[AccountLimits]:
        """Return the last known usage windows of all accounts."""
        async with self._flushed_reader() as database:
            return await database.account_limits()

    async def usage(self, selection: UsageSelection) -> list[UsageSum]:
        """Return what turns used, summed as `selection` says."""
        async with self._flushed_reader() as database:
            return await read_usage(database, selection)

    async def turn_usage(self, condition: TurnCondition, limit: int) -> list[TurnUsage]:
        """Return the newest turns that meet a condition, the newest first."""
        async with self._flushed_reader() as database:
            return await read_turn_usage(database, condition, limit)

    async def search(
        self, query: str, session_ids: Sequence[str] | None, limit: int
    ) -> list[FoundMessage]:
        """Return the newest messages with all words of `query`, in all sessions or in these."""
        async with self._flushed_reader() as database:
            return await database.search(query, session_ids, limit)

    async def flush(self) -> None:
        """Save everything recorded. Raises `SpinneyError` if the disk refuses."""
        # A write in progress has already taken what it saves: it must have ended, too.
        if self._has_unsaved or self._lock.locked():
            await self._run_to_completion(self._flush())

    async def close(self) -> None:
        """Save what is left and close the database."""
        if self._saving is not None:
            self._saving.cancel()
        await asyncio.gather(*self._writes, return_exceptions=True)
        try:
            await self.flush()
        finally:
            await self._database.close()

    @asynccontextmanager
    async def _flushed_reader(self) -> AsyncIterator[DatabaseReader]:
        """Yield a reader that sees everything recorded, even if the disk refuses to save it."""
        try:
            await self.flush()
        except SpinneyError:
            async with self._lock:
                unwritten = tuple(self._unwritten())
                async with self._database.with_uncommitted(unwritten) as database:
                    yield database
        else:
            yield self._database

    async def _run_to_completion(self, work: Coroutine[Any, Any, None]) -> None:
        """Run to completion even if the caller is canceled: no transaction is left half done."""
        task = asyncio.get_running_loop().create_task(work)
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)
        await asyncio.shield(task)

    async def _accept(self, changes: tuple[Change, ...], copy: CopiedMessages | None) -> None:
        async with self._lock:
            events: list[tuple[Event, State]] = []
            statements: list[Statement] = []
            state = self.state
            for change in changes:
                for event in [change] if isinstance(change, Event) else change(state):
                    after = apply(state, event)
                    statements += statements_for(event, state, after)
                    events.append((event, state))
                    state = after
            await self._write(statements + (copy.statements() if copy else []))
            for original, before in events:
                # Events recorded during the write are kept.
                event = rebase(original, before, self.state)
                self.state = apply(self.state, event)
                self.bus.publish(event)

    async def _flush(self) -> None:
        async with self._lock:
            await self._write([])

    @property
    def _has_unsaved(self) -> bool:
        return bool(self._unsaved or self._unsaved_documents or self._unsaved_blocks)

    def _note(self, event: Event, before: State) -> None:
        match event:
            case ToolRunning():
                return  # not saved
            case ContentDelta():
                self._unsaved_blocks[event.message_id, event.content_index] = None
            case (
                MessageQueued()
                | MessageRemoved()
                | MessageStarted()
                | MessagesRewound()
                | TurnRecorded()
                | TurnUndone()
                | LimitsUpdated()
                | UsageRecorded()
            ):
                self._unsaved += statements_for(event, before, self.state)
                self._wake.set()
            case ToolUsed() | BlockChanged() | MessageCompleted() | MessageFailed():
                self._unsaved += self._dirty_blocks(before, event.message_id)
                self._unsaved += statements_for(event, before, self.state)
                self._wake.set()
            case _:
                # By key: the row is built when it is written, from the state at that moment, so
                # that it can't undo what was accepted in between.
                keys = changed_documents(before, self.state)
                self._unsaved_documents.update(dict.fromkeys(keys))
                self._wake.set()
        if self._saving is None:
            self._saving = asyncio.get_running_loop().create_task(self._keep_saving())

    def _dirty_blocks(self, state: State, message_id: str | None = None) -> list[Statement]:
        """Return what saves the streamed blocks (of one message), and mark them as noted."""
        rows = []
        for key in list(self._unsaved_blocks):
            if message_id in (None, key[0]):
                del self._unsaved_blocks[key]
                message = state.streaming.get(key[0])
                if message is not None and key[1] < len(message.content):
                    rows.append(block_row(message, key[1]))
        return rows

    def _unwritten(self) -> list[Statement]:
        """Return the statements for recorded messages, which stay noted until they are written."""
        self._unsaved += self._dirty_blocks(self.state)
        return self._unsaved

    async def _write(self, statements: list[Statement]) -> None:
        """Write everything recorded, then `statements`; on failure the former stays noted."""
        recorded = self._unwritten()
        documents = self._unsaved_documents
        self._unsaved, self._unsaved_documents = [], {}
        rows = [row for key in documents for row in document_rows(self.state, key)]
        try:
            await self._database.write(recorded + rows + statements)
        except SpinneyError:
            self._unsaved = recorded + self._unsaved
            self._unsaved_documents = documents | self._unsaved_documents
            raise

    async def _keep_saving(self) -> None:
        while True:
            try:
                # Not wait_for: before 3.12 it can swallow a cancellation.
                async with asyncio.timeout(SAVE_INTERVAL):
                    await self._wake.wait()
            except TimeoutError:
                pass
            self._wake.clear()
            try:
                await self.flush()
            except SpinneyError as error:
                self._report(error.message, ok=False)
                await asyncio.sleep(SAVE_INTERVAL * 8)
                continue
            if self._is_failing:
                self._report("Everything is saved again.", ok=True)
            if not self._has_unsaved:
                # Nothing left to save: no timer runs while nothing streams.
                self._saving = None
                return

    def _report(self, detail: str, *, ok: bool) -> None:
        if self._is_failing == ok:
            self._is_failing = not ok
            self.bus.publish(TaskCompleted(task="save", ok=ok, detail=detail))
