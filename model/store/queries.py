"""What is read of the SQLite file. A damaged row hides itself and nothing else."""

import json
import re
import sqlite3
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import aiosqlite

from model.domain.resources import Message, MessagePage, Project, Resource, Session, Worktree
from model.store.damaged_rows import read_message, read_resource, text_of, with_parents
from model.store.rows import Statement, document_row
from model.store.sqlite_errors import damaged, is_damage

R = TypeVar("R", bound=Resource)

_WORDS_LIMIT = 32
"""Words of a search that count."""

_NAMED = 3
"""Damaged things that are named; of more their number is told."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What the file holds at start."""

    projects: list[Project]
    worktrees: list[Worktree]
    sessions: list[Session]
    queued: list[Message]
    unfinished: list[Message]
    """Assistant messages that were being streamed when the program ended."""
    damage: str = ""
    """A sentence that names what could not be read whole; empty where all could."""
    mended: tuple[Statement, ...] = ()
    """What puts those into the file as they are here."""


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A message that a search found."""

    session_id: str
    message_id: str
    role: str
    timestamp: float
    snippet: str
    """What stands around the words."""


class Reading:
    """Reads by one connection."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        # Undecodable bytes are for us to judge, row by row.
        connection.text_factory = bytes
        self._connection = connection

    async def saved(self) -> Saved:
        """Everything but past messages."""
        mended: list[tuple[str, Resource]] = []
        projects = await self._documents(Project, mended)
        worktrees = await self._documents(Worktree, mended)
        sessions = await self._documents(Session, mended)
        known = {getattr(one, "id", "") for _, one in mended}
        all_projects, all_worktrees = with_parents(projects, worktrees, sessions, known)
        mended += _changed("project", projects, all_projects)
        mended += _changed("worktree", worktrees, all_worktrees)
        return Saved(
            projects=all_projects,
            worktrees=all_worktrees,
            sessions=sessions,
            queued=await self._messages("position IS NULL ORDER BY rowid"),
            unfinished=await self._messages(
                "CASE WHEN json_valid(body) THEN json_extract(body, '$.role') = 'assistant'"
                " AND json_extract(body, '$.status') = 'processing' END"
            ),
            damage=_told(mended),
            mended=tuple(document_row(kind, getattr(one, "id", ""), one) for kind, one in mended),
        )

    async def messages(self, session_id: str, limit: int = 100, offset: int = 0) -> MessagePage:
        """A page counted from the newest message, oldest first."""
        page = await self._messages(
            "session_id = ? AND position IS NOT NULL ORDER BY position DESC LIMIT ? OFFSET ?",
            (session_id, limit, offset),
        )
        query = "SELECT count(*) FROM messages WHERE session_id = ? AND position IS NOT NULL"
        async with self._rows(query, (session_id,), "this conversation cannot be read") as rows:
            [(total,)] = [row async for row in rows]
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
            "SELECT messages.session_id, messages.id, messages.body,"
            " snippet(words, 0, '', '', '…', 24)"
            " FROM words JOIN messages ON messages.rowid = words.rowid"
            f" WHERE words MATCH ?1{within} ORDER BY words.rowid DESC LIMIT ?3"
        )
        values = (match, json.dumps(list(session_ids or ())), limit)
        async with self._rows(statement, values, "nothing can be searched") as rows:
            return [_found(*row) async for row in rows]

    async def _documents(self, kind: type[R], mended: list[tuple[str, Resource]]) -> list[R]:
        name = kind.__name__.lower()
        found = []
        query = "SELECT id, body FROM documents WHERE kind = ?"
        async with self._rows(query, (name,), f"the {name}s cannot be read") as rows:
            async for key, body in rows:
                one, is_mended = read_resource(kind, text_of(key), body)
                found.append(one)
                mended += [(name, one)] if is_mended else []
        return found

    async def _messages(self, condition: str, values: tuple[Any, ...] = ()) -> list[Message]:
        # One statement is one snapshot: a message and its blocks are of the same moment.
        query = (
            "WITH page AS (SELECT rowid AS line, id, session_id, position, body FROM messages"
            f" WHERE {condition})"
            " SELECT page.id, page.session_id, page.body, blocks.place, blocks.body FROM page"
            " LEFT JOIN blocks ON blocks.message_id = page.id"
            " ORDER BY page.position DESC, page.line, blocks.place"
        )
        heads: dict[str, tuple[object, object]] = {}
        blocks: dict[str, list[tuple[object, object]]] = {}
        async with self._rows(query, values, "this conversation cannot be read") as rows:
            async for key, session_id, body, place, block in rows:
                name = text_of(key)
                heads[name] = session_id, body
                beside = blocks.setdefault(name, [])
                beside += [(place, block)] if block is not None else []
        return [
            read_message(name, text_of(session_id), body, blocks[name])
            for name, (session_id, body) in heads.items()
        ]

    @asynccontextmanager
    async def _rows(
        self, query: str, values: tuple[Any, ...], what: str
    ) -> AsyncIterator[aiosqlite.Cursor]:
        try:
            async with self._connection.execute(query, values) as cursor:
                yield cursor
        except sqlite3.Error as error:
            if is_damage(error):
                raise damaged(error, what) from error
            raise


def _found(session_id: object, message_id: object, body: object, snippet: object) -> FoundMessage:
    key = text_of(message_id)
    message = read_message(key, text_of(session_id), body, ())
    return FoundMessage(message.session_id, key, message.role, message.timestamp, text_of(snippet))


def _changed(
    kind: str, before: Sequence[Resource], after: Iterable[Resource]
) -> list[tuple[str, Resource]]:
    known = {id(one) for one in before}
    return [(kind, one) for one in after if id(one) not in known]


def _told(mended: Sequence[tuple[str, Resource]]) -> str:
    names = list(dict.fromkeys(f"the {kind} “{getattr(one, 'name', '')}”" for kind, one in mended))
    if not names:
        return ""
    more = len(names) - _NAMED
    shown = names[:_NAMED] + ([f"{more} more"] if more > 0 else [])
    who = f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
    return (
        f"{who[:1].upper()}{who[1:]} could not be read whole, because the database is damaged:"
        " what is lost is called unreadable, or stands as it would anew."
    )


def _match(query: str) -> str:
    """An FTS5 expression for all words of `query`: each quoted, so that none is an operator."""
    words = re.findall(r"\w+", query)
    quoted = [f'"{word}"' for word in words[:_WORDS_LIMIT]]
    return " ".join(quoted) + "*" if quoted else ""
