"""Queries on the SQLite file. A damaged row affects only itself."""

import asyncio
import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from pydantic import ValidationError

from model.domain.messages import Message, MessagePage
from model.domain.notices import Notice
from model.domain.projects import Project
from model.domain.resource import Resource
from model.domain.sessions import Session
from model.domain.turns import Turn, make_turn_id
from model.domain.usage import AccountLimits
from model.domain.worktrees import Worktree
from model.store.connection import Connection
from model.store.damaged_rows import (
    add_missing_parents,
    find_traces,
    is_damaged,
    read_message,
    read_resource,
    to_text,
)
from model.store.rows import IS_KEPT, document_row, turn_range
from model.store.sqlite_errors import damage_error, is_damage
from model.store.usage_rows import Statement

R = TypeVar("R", bound=Resource)
T = TypeVar("T")

_MAX_WORDS = 32
"""Words of a search query that are used."""

_MAX_NAMED = 3
"""Damaged resources that are named; further ones are counted."""


@dataclass(frozen=True, slots=True)
class SavedState:
    """The content of the file at startup."""

    projects: list[Project]
    worktrees: list[Worktree]
    sessions: list[Session]
    queued: list[Message]
    unfinished: list[Message]
    """Assistant messages that were streaming when the program exited."""
    notices: list[Notice]
    damage: str = ""
    """A message that names what could not be read completely; empty if nothing is damaged."""
    repairs: tuple[Statement, ...] = ()
    """Statements that write the repaired resources to the file."""


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A message that matches a search."""

    session_id: str
    message_id: str
    role: str
    timestamp: float
    snippet: str
    """The text around the matching words."""


@dataclass(frozen=True, slots=True)
class OutlinedMessage:
    """What decides whether a message belongs to the conversation."""

    id: str
    is_rewound: bool
    has_context: bool


class DatabaseReader:
    """Queries on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def load(self) -> SavedState:
        """Load everything except past messages."""
        repaired: list[tuple[str, Resource]] = []
        projects = await self._documents(Project, repaired)
        worktrees = await self._documents(Worktree, repaired)
        sessions = await self._documents(Session, repaired)
        repaired_ids = {getattr(one, "id", "") for _, one in repaired}
        all_projects, all_worktrees = add_missing_parents(
            projects, worktrees, sessions, repaired_ids
        )
        repaired += _find_changed("project", projects, all_projects)
        repaired += _find_changed("worktree", worktrees, all_worktrees)
        return SavedState(
            projects=all_projects,
            worktrees=all_worktrees,
            sessions=sessions,
            queued=await self._messages("position IS NULL ORDER BY rowid"),
            unfinished=await self._messages(
                "CASE WHEN json_valid(body) THEN json_extract(body, '$.role') = 'assistant'"
                " AND json_extract(body, '$.status') = 'processing' END"
            ),
            notices=await self._notices(),
            damage=_describe_damage(repaired),
            repairs=tuple(
                document_row(kind, getattr(one, "id", ""), one) for kind, one in repaired
            ),
        )

    async def messages(self, session_id: str, limit: int = 100, offset: int = 0) -> MessagePage:
        """Return a page counted from the newest message, oldest first."""
        in_session = "session_id = ?1 AND position IS NOT NULL"
        query = _select_messages(
            f"{in_session} ORDER BY position DESC LIMIT ?2 OFFSET ?3",
            f"(SELECT count(*) AS total FROM messages WHERE {in_session}) LEFT JOIN",
            "total",
        )
        values = (session_id, limit, offset)
        rows = await self.rows(query, values, "this conversation cannot be read")
        page = await self._read_messages([row for row in rows if row[0] is not None])
        return MessagePage(messages=page[::-1], total=rows[0][-1])

    async def kept_messages(self, session_id: str, since: int, limit: int) -> list[Message]:
        """Return the newest messages that are not rewound and come after the first `since` ones."""
        first = "SELECT position FROM messages WHERE session_id = ?1 AND position IS NOT NULL"
        page = await self._messages(
            f"session_id = ?1 AND position >= ({first} ORDER BY position LIMIT 1 OFFSET ?2)"
            f" AND {IS_KEPT} ORDER BY position DESC LIMIT ?3",
            (session_id, since, limit),
        )
        return page[::-1]

    async def outline(self, session_id: str) -> list[OutlinedMessage]:
        """Return all of a session's messages that are not queued, oldest first."""
        query = (
            f"SELECT id, NOT {IS_KEPT},"
            " CASE WHEN json_valid(body) THEN json_extract(body, '$.context') IS NOT NULL END"
            " FROM messages WHERE session_id = ? AND position IS NOT NULL ORDER BY position"
        )
        rows = await self.rows(query, (session_id,), "this conversation cannot be read")
        return [OutlinedMessage(to_text(k), bool(r), bool(c)) for k, r, c in rows]

    async def message(self, message_id: str) -> Message | None:
        """Return the message with this id, queued or not."""
        return next(iter(await self._messages("id = ?", (message_id,))), None)

    async def search(
        self, query: str, session_ids: Sequence[str] | None, limit: int
    ) -> list[FoundMessage]:
        """Return the newest messages that contain all words of `query`, the last one as a prefix.

        Args:
            query: Words; it has no special syntax.
            session_ids: The sessions to search; `None` for all.
            limit: The maximum number of results.
        """
        match = _make_match(query)
        if not match:
            return []
        session_filter = (
            ""
            if session_ids is None
            else (" AND messages.session_id IN (SELECT value FROM json_each(?2))")
        )
        # By row number, not by rank: the index yields rows in this order and stops at the limit.
        statement = (
            "SELECT messages.session_id, messages.id, messages.body,"
            " snippet(words, 0, '', '', '…', 24)"
            " FROM words JOIN messages ON messages.rowid = words.rowid"
            f" WHERE words MATCH ?1{session_filter} ORDER BY words.rowid DESC LIMIT ?3"
        )
        values = (match, json.dumps(list(session_ids or ())), limit)
        rows = await self.rows(statement, values, "nothing can be searched")
        heads = [
            (message_id, session_id, body, 0, None, None)
            for session_id, message_id, body, _ in rows
        ]
        messages = await self._read_messages(heads)
        return [
            _make_found_message(message, row[3])
            for message, row in zip(messages, rows, strict=True)
        ]

    async def count_unreadable_messages(self) -> dict[str, int]:
        """Return how many messages of each session have a damaged row; sessions without are left
        out.
        """
        role, time = "json_extract(body, '$.role')", "json_type(body, '$.timestamp')"
        query = (
            "SELECT session_id, count(*) FROM messages WHERE CASE WHEN json_valid(body) THEN"
            f" coalesce({role}, '') NOT IN ('user', 'assistant')"
            f" OR coalesce({time}, '') NOT IN ('integer', 'real') ELSE 1 END GROUP BY session_id"
        )
        rows = await self.rows(query, (), "the messages cannot be read")
        return {to_text(session_id): int(number) for session_id, number in rows}

    async def turns(
        self, session_id: str, first: int = 0, before: int | None = None, limit: int | None = None
    ) -> list[Turn]:
        """Return the turns of a session, oldest first; damaged ones are left out.

        Args:
            session_id: The session.
            first: The lowest number.
            before: The number above the highest; `None` for all.
            limit: The most turns that are returned: the newest of them; `None` for all.
        """
        start, end = turn_range(session_id)
        start = make_turn_id(session_id, first) if first else start
        end = make_turn_id(session_id, max(0, before - 1)) if before is not None else end
        condition = "id BETWEEN ? AND ? ORDER BY id DESC LIMIT ?"
        newest_first = await self._turns(condition, (start, end, -1 if limit is None else limit))
        return newest_first[::-1]

    async def turn(self, turn_id: str) -> Turn | None:
        """Return the turn with this id."""
        return next(iter(await self._turns("id = ?", (turn_id,))), None)

    async def last_turn_number(self, session_id: str) -> int:
        """Return the number of a session's newest turn, damaged or not; 0 if it has none."""
        query = (
            "SELECT coalesce(CAST(substr(max(id), ?) AS INTEGER), 0) FROM documents"
            " WHERE kind = 'turn' AND id BETWEEN ? AND ?"
        )
        values = (len(session_id) + 2, *turn_range(session_id))
        rows = await self.rows(query, values, "the turns cannot be read")
        return next((int(number) for (number,) in rows), 0)

    async def unfinished_turns(self) -> list[Turn]:
        """Return the turns that have begun but were not recorded to their end."""
        return await self._turns("json_extract(body, '$.ended_at') IS NULL ORDER BY id", ())

    async def account_limits(self) -> list[AccountLimits]:
        """Return the last known usage windows of all accounts; damaged ones are left out."""
        query = "SELECT body FROM documents WHERE kind = 'account' ORDER BY id"
        accounts = []
        for (body,) in await self.rows(query, (), "the usage limits cannot be read"):
            with suppress(ValidationError):
                accounts.append(AccountLimits.model_validate_json(body))
        return accounts

    async def _notices(self) -> list[Notice]:
        """Return the notices; damaged ones are left out, since their causes are found again."""
        notices = []
        query = "SELECT body FROM documents WHERE kind = 'notice'"
        for (body,) in await self.rows(query, (), "the notices cannot be read"):
            with suppress(ValidationError):
                notices.append(Notice.model_validate_json(body))
        return notices

    async def _turns(self, condition: str, values: tuple[Any, ...]) -> list[Turn]:
        query = (
            f"SELECT body FROM documents WHERE kind = 'turn' AND json_valid(body) AND {condition}"
        )
        rows = await self.rows(query, values, "the turns cannot be read")
        return await asyncio.to_thread(_read_turns, rows)

    async def _documents(self, kind: type[R], repaired: list[tuple[str, Resource]]) -> list[R]:
        name = kind.__name__.lower()
        resources = []
        query = "SELECT id, body FROM documents WHERE kind = ?"
        for key, body in await self.rows(query, (name,), f"the {name}s cannot be read"):
            resource, is_repaired = read_resource(kind, to_text(key), body)
            resources.append(resource)
            repaired += [(name, resource)] if is_repaired else []
        return resources

    async def _messages(self, condition: str, values: tuple[Any, ...] = ()) -> list[Message]:
        query = _select_messages(condition)
        rows = await self.rows(query, values, "this conversation cannot be read")
        return await self._read_messages(rows)

    async def _read_messages(self, rows: Iterable[Sequence[Any]]) -> list[Message]:
        heads: dict[str, tuple[str, object]] = {}
        blocks: dict[str, list[tuple[object, object]]] = {}
        for key, session_id, body, index, block, _ in rows:
            name = to_text(key)
            heads[name] = to_text(session_id), body
            message_blocks = blocks.setdefault(name, [])
            message_blocks += [(index, block)] if block is not None else []
        messages = [
            read_message(key, session_id, body, blocks[key])
            for key, (session_id, body) in heads.items()
        ]
        damaged = [one.id for one in messages if is_damaged(one)]
        if not damaged:
            return messages
        traces = await self._run(partial(find_traces, damaged), "this conversation cannot be read")
        return [
            read_message(one.id, *heads[one.id], blocks[one.id], traces.get(one.id))
            for one in messages
        ]

    async def rows(self, query: str, values: tuple[Any, ...], effect: str) -> list[tuple[Any, ...]]:
        """Return all rows of a query; its texts are bytes. If the file is damaged there, raise
        `SpinneyError` that says the `effect`.
        """
        # All rows in one step: an open cursor would hold the connection's snapshot, and every
        # other read meanwhile would miss what was written since.
        return await self._run(partial(_fetch_all, query, values), effect)

    async def _run(self, read: Callable[[sqlite3.Connection], T], effect: str) -> T:
        try:
            return await self._connection.run(read)
        except sqlite3.Error as error:
            if is_damage(error):
                raise damage_error(error, effect) from error
            raise


def _fetch_all(
    query: str, values: tuple[Any, ...], connection: sqlite3.Connection
) -> list[tuple[Any, ...]]:
    # Undecodable bytes are handled row by row.
    connection.text_factory = bytes
    return connection.execute(query, values).fetchall()


def _select_messages(condition: str, joined_with: str = "", column: str = "NULL") -> str:
    """The rows that `_read_messages` reads: one for each block, or one for a message without any.

    One statement is one snapshot: a message and its blocks are from the same moment. The last
    column is one of `joined_with`, of which there is a row even without a message.
    """
    return (
        "WITH page AS (SELECT rowid AS line, id, session_id, position, body FROM messages"
        f" WHERE {condition})"
        f" SELECT page.id, page.session_id, page.body, blocks.place, blocks.body, {column}"
        f" FROM {joined_with} page LEFT JOIN blocks ON blocks.message_id = page.id"
        " ORDER BY page.position DESC, page.line, blocks.place"
    )


def _make_found_message(message: Message, snippet: object) -> FoundMessage:
    return FoundMessage(
        message.session_id, message.id, message.role, message.timestamp, to_text(snippet)
    )


def _read_turns(rows: Iterable[Sequence[Any]]) -> list[Turn]:
    turns = []
    for (body,) in rows:
        with suppress(ValidationError):
            turns.append(Turn.model_validate_json(body))
    return turns


def _find_changed(
    kind: str, before: Sequence[Resource], after: Iterable[Resource]
) -> list[tuple[str, Resource]]:
    unchanged = {id(one) for one in before}
    return [(kind, one) for one in after if id(one) not in unchanged]


def _describe_damage(repaired: Sequence[tuple[str, Resource]]) -> str:
    names = list(
        dict.fromkeys(f"the {kind} '{getattr(one, 'name', '')}'" for kind, one in repaired)
    )
    if not names:
        return ""
    more = len(names) - _MAX_NAMED
    shown = names[:_MAX_NAMED] + ([f"{more} more"] if more > 0 else [])
    subject = f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
    return (
        f"{subject[:1].upper()}{subject[1:]} could not be read completely, because the database is"
        " damaged. Lost names are shown as 'unreadable', other lost values have their defaults."
    )


def _make_match(query: str) -> str:
    """Return an FTS5 expression for all words, each quoted so that none is an operator."""
    words = re.findall(r"\w+", query)
    quoted = [f'"{word}"' for word in words[:_MAX_WORDS]]
    return " ".join(quoted) + "*" if quoted else ""
