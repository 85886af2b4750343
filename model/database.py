"""The SQLite file: resources as documents, messages with their blocks, and what each event saves.

One connection writes, in one thread; another reads, so that a page never waits for a write. A
transaction is on disk before `write` returns (WAL, `synchronous=FULL`).
"""

import asyncio
import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite
from pydantic import ValidationError

from model import events as e
from model.errors import SpinneyError
from model.paths import free_name_aside
from model.resources import Block, Message, MessagePage, Project, Resource, Session, Worktree
from model.state import State, fold_message

R = TypeVar("R", bound=Resource)

Statement = tuple[str, tuple[Any, ...]]

SCHEMA_VERSION = 2

_INDEX_WORDS = (
    "INSERT OR REPLACE INTO words (rowid, text)"
    " SELECT messages.rowid, group_concat(json_extract(blocks.body, '$.text'), char(10))"
    " FROM messages JOIN blocks ON blocks.message_id = messages.id"
    " WHERE json_extract(blocks.body, '$.type') IN ('text', 'plan') {which}"
    " GROUP BY messages.rowid"
)
"""Makes what a message says searchable, under the message's own row number."""

_MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE documents (kind TEXT, id TEXT, body TEXT NOT NULL, PRIMARY KEY (kind, id))"
        " WITHOUT ROWID",
        "CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL,"
        " position INTEGER, body TEXT NOT NULL)",
        "CREATE INDEX messages_by_position ON messages (session_id, position)",
        "CREATE TABLE blocks (message_id TEXT, place INTEGER, body TEXT NOT NULL,"
        " PRIMARY KEY (message_id, place)) WITHOUT ROWID",
    ),
    (
        "CREATE VIRTUAL TABLE words USING fts5 (text, tokenize='unicode61 remove_diacritics 2')",
        # One place for every way in which messages go.
        "CREATE TRIGGER words_forgotten AFTER DELETE ON messages"
        " BEGIN DELETE FROM words WHERE rowid = old.rowid; END",
        _INDEX_WORDS.format(which=""),
    ),
)
"""What leads from each version to the next. A waiting message has no position."""

_CACHE = "PRAGMA cache_size=-512"
"""KiB of pages that a connection keeps. The check at the start would fill four times as much, which
is never looked at again; the system keeps the file's pages anyway."""

_WORDS_LIMIT = 32
"""Words of a search that count."""

_PASSING = {"output_so_far", "running_for"}
"""Of a tool that runs: not kept."""

_PUT_DOCUMENT = "INSERT OR REPLACE INTO documents VALUES (?, ?, ?)"
_PUT_BLOCK = "INSERT OR REPLACE INTO blocks VALUES (?, ?, ?)"
_PUT_MESSAGE = (
    "INSERT INTO messages (id, session_id, position, body) VALUES (?1, ?2,"
    " CASE WHEN ?3 THEN (SELECT coalesce(max(position), 0) + 1 FROM messages WHERE session_id = ?2)"
    " END, ?4) ON CONFLICT (id) DO UPDATE SET body = excluded.body,"
    " position = coalesce(messages.position, excluded.position)"
)


@dataclass(frozen=True, slots=True)
class Saved:
    """What the file holds at start."""

    projects: list[Project]
    worktrees: list[Worktree]
    sessions: list[Session]
    queued: list[Message]
    unfinished: list[Message]
    """Assistant messages that were being streamed when the program ended."""
    problems: list[str]
    """A sentence for each entry that could not be read; it stays in the file, unused."""


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A message that a search found."""

    session_id: str
    message_id: str
    role: str
    timestamp: float
    snippet: str
    """What stands around the words."""


def disk_error(error: Exception, what: str) -> SpinneyError:
    """The sentence for a failed write of `what`."""
    if "full" in str(error) or getattr(error, "errno", None) == 28:
        return SpinneyError(
            f"The disk is full: {what} could not be saved. Free some space and try again.",
            "internal_error",
        )
    return SpinneyError(f"{what.capitalize()} could not be saved: {error}", "internal_error")


class Database:
    """The open file. `open` makes, migrates or replaces it."""

    def __init__(self, writer: aiosqlite.Connection, reader: aiosqlite.Connection) -> None:
        self._writer = writer
        self._reader = reader

    @classmethod
    async def open(cls, path: Path) -> tuple["Database", str | None]:
        """The database at `path`, and a sentence when a broken one was moved aside.

        Raises `SpinneyError` when a newer version wrote the file or the disk refuses it.
        """
        try:
            return await cls._connect(path), None
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "malformed" not in str(error):
                raise disk_error(error, f"the database {path}") from error
            aside = await asyncio.to_thread(_move_aside, path)
            problem = (
                f"The database was damaged ({error}). It was kept as {aside.name} beside the new,"
                " empty one; projects can be added again, their files and branches are untouched."
            )
            return await cls._connect(path), problem

    @classmethod
    async def _connect(cls, path: Path) -> "Database":
        # First without aiosqlite: what cannot be opened leaves it a thread that outlives the loop.
        await asyncio.to_thread(lambda: sqlite3.connect(path).close())
        writer = await aiosqlite.connect(path, isolation_level=None)
        try:
            await asyncio.to_thread(path.chmod, 0o600)
            await writer.execute("PRAGMA journal_mode=WAL")
            await writer.execute("PRAGMA synchronous=FULL")
            await writer.execute("PRAGMA busy_timeout=5000")
            await writer.execute(_CACHE)
            async with writer.execute("PRAGMA quick_check(1)") as cursor:
                row = await cursor.fetchone()
            if row is None or row[0] != "ok":
                raise sqlite3.DatabaseError("its check failed")
            await _migrate(writer, path)
            reader = await aiosqlite.connect(path, isolation_level=None)
        except BaseException:
            await writer.close()
            raise
        await reader.execute("PRAGMA query_only=ON")
        await reader.execute(_CACHE)
        return cls(writer, reader)

    async def close(self) -> None:
        """Finish writing and close the file."""
        await self._reader.close()
        await self._writer.close()

    async def write(self, statements: Sequence[Statement]) -> None:
        """All of it or nothing, on disk before this returns. Raises `SpinneyError`."""
        if not statements:
            return
        try:
            await self._writer.execute("BEGIN IMMEDIATE")
            for statement, values in statements:
                await self._writer.execute(statement, values)
            await self._writer.execute("COMMIT")
        except sqlite3.Error as error:
            if self._writer.in_transaction:
                await self._writer.execute("ROLLBACK")
            raise disk_error(error, "the change") from error

    async def saved(self) -> Saved:
        """Everything but past messages."""
        problems: list[str] = []
        return Saved(
            problems=problems,
            projects=await self._documents(Project, problems),
            worktrees=await self._documents(Worktree, problems),
            sessions=await self._documents(Session, problems),
            queued=await self._messages("position IS NULL ORDER BY rowid"),
            unfinished=await self._messages(
                "json_extract(body, '$.role') = 'assistant'"
                " AND json_extract(body, '$.status') = 'processing'"
            ),
        )

    async def messages(self, session_id: str, limit: int = 100, offset: int = 0) -> MessagePage:
        """A page counted from the newest message, oldest first."""
        page = await self._messages(
            "session_id = ? AND position IS NOT NULL ORDER BY position DESC LIMIT ? OFFSET ?",
            (session_id, limit, offset),
        )
        query = "SELECT count(*) FROM messages WHERE session_id = ? AND position IS NOT NULL"
        ((total,),) = await self._reader.execute_fetchall(query, (session_id,))
        return MessagePage(messages=page[::-1], total=total)

    async def message(self, message_id: str) -> Message | None:
        """The message of this id, waiting or not."""
        return next(iter(await self._messages("id = ?", (message_id,))), None)

    async def search(
        self, query: str, session_ids: Sequence[str] | None, limit: int
    ) -> list[FoundMessage]:
        """The newest messages that hold all words of `query`, the last one also as a beginning.

        Args:
            query: Words; nothing in it is syntax.
            session_ids: The sessions to look in; `None` is all of them.
            limit: How many at most.
        """
        match = _match(query)
        if not match:
            return []
        within = (
            ""
            if session_ids is None
            else (" AND messages.session_id IN (SELECT value FROM json_each(?2))")
        )
        # By row number, not by rank: the index yields it in this order and stops at the limit.
        statement = (
            "SELECT messages.session_id, messages.id, json_extract(messages.body, '$.role'),"
            " json_extract(messages.body, '$.timestamp'), snippet(words, 0, '', '', '…', 24)"
            " FROM words JOIN messages ON messages.rowid = words.rowid"
            f" WHERE words MATCH ?1{within} ORDER BY words.rowid DESC LIMIT ?3"
        )
        values = (match, json.dumps(list(session_ids or ())), limit)
        async with self._reader.execute(statement, values) as cursor:
            return [FoundMessage(*row) async for row in cursor]

    async def _documents(self, kind: type[R], problems: list[str]) -> list[R]:
        name = kind.__name__.lower()
        found = []
        query = "SELECT id, body FROM documents WHERE kind = ?"
        async with self._reader.execute(query, (name,)) as cursor:
            async for key, body in cursor:
                try:
                    found.append(kind.model_validate_json(body))
                except ValidationError as error:
                    reason = error.errors(include_url=False)[0]["msg"]
                    problems.append(f"The {name} {key} could not be read ({reason}).")
        return found

    async def _messages(self, condition: str, values: tuple[Any, ...] = ()) -> list[Message]:
        # One statement is one snapshot: a message and its blocks are of the same moment.
        query = (
            "WITH page AS (SELECT rowid AS line, id, position, body FROM messages"
            f" WHERE {condition})"
            " SELECT page.id, page.body, blocks.body FROM page"
            " LEFT JOIN blocks ON blocks.message_id = page.id"
            " ORDER BY page.position DESC, page.line, blocks.place"
        )
        found: dict[str, dict[str, Any]] = {}
        async with self._reader.execute(query, values) as cursor:
            async for message_id, body, block in cursor:
                message = found.get(message_id)
                if message is None:
                    message = found[message_id] = {**json.loads(body), "content": []}
                if block is not None:
                    message["content"].append(json.loads(block))
        return [Message.model_validate(message) for message in found.values()]


async def _migrate(writer: aiosqlite.Connection, path: Path) -> None:
    async with writer.execute("PRAGMA user_version") as cursor:
        row = await cursor.fetchone()
    version = int(row[0]) if row else 0
    if version > SCHEMA_VERSION:
        raise SpinneyError(
            f"{path} was written by a newer version of Spinney. Update Spinney to open it.",
            "internal_error",
        )
    await writer.execute("BEGIN IMMEDIATE")
    for step in _MIGRATIONS[version:]:
        for statement in step:
            await writer.execute(statement)
    await writer.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
    await writer.execute("COMMIT")


def _move_aside(path: Path) -> Path:
    aside = free_name_aside(path)
    path.rename(aside)
    for suffix in ("-wal", "-shm"):
        side = path.with_name(path.name + suffix)
        if side.exists():
            side.rename(aside.with_name(aside.name + suffix))
    return aside


# What each event saves -------------------------------------------------------------------------


def statements_for(event: e.Event, before: State, after: State) -> list[Statement]:
    """What the event writes, given the states around it."""
    match event:
        case e.MessageQueued():
            rows = _message_rows(event.message, placed=event.status == "processing")
            return [*rows, _words_row(event.message.id)]
        case e.MessageStarted():
            return _message_rows(event.message, placed=True)
        case e.MessageCompleted() | e.MessageFailed():
            message = before.streaming.get(event.message_id)
            if message is None:
                return []
            rows = _message_rows(fold_message(message, event), placed=True)
            return [*rows, _words_row(message.id)]
        case e.ContentDelta() | e.ToolUsed() | e.BlockChanged():
            message = after.streaming.get(event.message_id)
            if message is not None:
                return [block_row(message, event.content_index)]
            if isinstance(event, e.BlockChanged):
                return [_block_row(event.message_id, event.content_index, event.block)]
            return []
        case e.MessageRemoved():
            return [
                ("DELETE FROM blocks WHERE message_id = ?", (event.message_id,)),
                ("DELETE FROM messages WHERE id = ?", (event.message_id,)),
            ]
        case _:
            keys = changed_documents(before, after)
            return [row for key in keys for row in document_rows(after, key)]


DocumentKey = tuple[str, str]
"""`project`, `worktree` or `session`, and an id."""


def changed_documents(before: State, after: State) -> list[DocumentKey]:
    """The documents that differ between two states."""
    keys: list[DocumentKey] = []
    for kind in ("project", "worktree", "session"):
        old, new = _documents(before, kind), _documents(after, kind)
        if old is not new:
            keys += [(kind, key) for key in new if old.get(key) is not new[key]]
            keys += [(kind, key) for key in old if key not in new]
    return keys


def document_rows(state: State, key: DocumentKey) -> list[Statement]:
    """What saves a document as it is in `state`, or removes it with all that belongs to it."""
    kind, resource_id = key
    resource = _documents(state, kind).get(resource_id)
    if resource is not None:
        return [(_PUT_DOCUMENT, (kind, resource_id, resource.model_dump_json()))]
    rows: list[Statement] = [
        ("DELETE FROM documents WHERE kind = ? AND id = ?", (kind, resource_id))
    ]
    if kind == "session":
        rows += [
            (
                "DELETE FROM blocks WHERE message_id IN"
                " (SELECT id FROM messages WHERE session_id = ?)",
                (resource_id,),
            ),
            ("DELETE FROM messages WHERE session_id = ?", (resource_id,)),
        ]
    return rows


def _documents(state: State, kind: str) -> Mapping[str, Resource]:
    match kind:
        case "project":
            return state.projects
        case "worktree":
            return state.worktrees
        case _:
            return state.sessions


def block_row(message: Message, place: int) -> Statement:
    """What saves one block of a message."""
    return _block_row(message.id, place, message.content[place])


def _block_row(message_id: str, place: int, block: Block) -> Statement:
    return _PUT_BLOCK, (message_id, place, block.model_dump_json(exclude=_PASSING))


def _words_row(message_id: str) -> Statement:
    return _INDEX_WORDS.format(which="AND messages.id = ?"), (message_id,)


def _match(query: str) -> str:
    """An FTS5 expression for all words of `query`: each quoted, so that none is an operator."""
    words = re.findall(r"\w+", query)
    quoted = [f'"{word}"' for word in words[:_WORDS_LIMIT]]
    return " ".join(quoted) + "*" if quoted else ""


def _message_rows(message: Message, *, placed: bool) -> list[Statement]:
    body = message.model_dump_json(exclude={"content"})
    rows: list[Statement] = [(_PUT_MESSAGE, (message.id, message.session_id, placed, body))]
    return rows + [block_row(message, place) for place in range(len(message.content))]
