"""The SQL statements that save each event, made from the states before and after it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

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
    ToolUsed,
)
from model.domain.events.program import LimitsUpdated
from model.domain.events.sessions import TurnRecorded, TurnUndone, UsageRecorded
from model.domain.message_folding import fold_message
from model.domain.messages import Block, Message
from model.domain.resource import Resource
from model.state import State
from model.store.usage_rows import Statement, usage_rows

INDEX_WORDS = (
    "INSERT OR REPLACE INTO words (rowid, text)"
    " SELECT messages.rowid, group_concat(json_extract(blocks.body, '$.text'), char(10))"
    " FROM messages JOIN blocks ON blocks.message_id = messages.id"
    # A damaged block has no words; only this form of the condition never parses it.
    " WHERE CASE WHEN json_valid(blocks.body)"
    " THEN json_extract(blocks.body, '$.type') IN ('text', 'plan') END {which}"
    " GROUP BY messages.rowid"
)
"""Indexes a message's text for search, under the message's own row number."""

IS_KEPT: Final = (
    "NOT coalesce(CASE WHEN json_valid(messages.body)"
    " THEN json_extract(messages.body, '$.rewound') END, 0)"
)
"""Selects the messages that are not rewound."""

_TRANSIENT = {"output_so_far", "running_for"}
"""Fields of a running tool that are not saved."""

_PUT_DOCUMENT = "INSERT OR REPLACE INTO documents VALUES (?, ?, ?)"
_PUT_BLOCK = "INSERT OR REPLACE INTO blocks VALUES (?, ?, ?)"
_PUT_MESSAGE = (
    "INSERT INTO messages (id, session_id, position, body) VALUES (?1, ?2,"
    " CASE WHEN ?3 THEN (SELECT coalesce(max(position), 0) + 1 FROM messages WHERE session_id = ?2)"
    " END, ?4) ON CONFLICT (id) DO UPDATE SET body = excluded.body,"
    " position = coalesce(messages.position, excluded.position)"
)


@dataclass(frozen=True, slots=True)
class MessageCopy:
    """A copy of the messages of a session that are not rewound, to another session."""

    source: str
    target: str
    end: str | None
    """The first message that is left out; `None` for all."""

    def statements(self) -> list[Statement]:
        """Return the statements that make the copy; the new ids are built from the positions."""
        new_id = "?2 || '-' || messages.position"
        chosen = (
            f" WHERE messages.session_id = ?1 AND messages.position IS NOT NULL AND {IS_KEPT}"
            " AND (?3 IS NULL OR messages.position <"
            " (SELECT position FROM messages WHERE id = ?3)) ORDER BY messages.position"
        )
        values = (self.source, self.target, self.end)
        # Attached files are copied as well, so that they last as long as the copy.
        files = "'/pictures/' || ?1 || '/', '/pictures/' || ?2 || '/'"
        body = (
            "CASE WHEN json_valid(body) THEN"
            f" json_set(replace(body, {files}), '$.id', {new_id}, '$.session_id', ?2)"
            " ELSE body END"
        )
        block = (
            "CASE WHEN json_valid(blocks.body) AND"
            " json_extract(blocks.body, '$.type') = 'image'"
            f" THEN replace(blocks.body, {files}) ELSE blocks.body END"
        )
        return [
            (
                "INSERT INTO messages (id, session_id, position, body)"
                f" SELECT {new_id}, ?2, position, {body} FROM messages{chosen}",
                values,
            ),
            (
                f"INSERT INTO blocks SELECT {new_id}, blocks.place, {block}"
                f" FROM messages JOIN blocks ON blocks.message_id = messages.id{chosen}",
                values,
            ),
            (INDEX_WORDS.format(which="AND messages.session_id = ?"), (self.target,)),
        ]


@dataclass(frozen=True, slots=True)
class MessageImport:
    """Messages of sessions that come back, oldest first; none of them is queued."""

    messages: Sequence[Message]

    def statements(self) -> list[Statement]:
        """Return the statements that add the messages at the end of their sessions."""
        return [
            row
            for message in self.messages
            for row in (*_message_rows(message, has_position=True), _words_row(message.id))
        ]


CopiedMessages = MessageCopy | MessageImport
"""Messages that are saved together with events, without an event for each."""


def statements_for(event: Event, before: State, after: State) -> list[Statement]:
    """Return the statements that save the event, given the states around it."""
    match event:
        case MessageQueued():
            rows = _message_rows(event.message, has_position=event.status == "processing")
            return [*rows, _words_row(event.message.id)]
        case MessageStarted():
            return _message_rows(event.message, has_position=True)
        case MessageCompleted() | MessageFailed():
            message = before.streaming.get(event.message_id)
            if message is None:
                return []
            rows = _message_rows(fold_message(message, event), has_position=True)
            return [*rows, _words_row(message.id)]
        case ContentDelta() | ToolUsed() | BlockChanged():
            message = after.streaming.get(event.message_id)
            if message is not None:
                return [block_row(message, event.content_index)]
            if isinstance(event, BlockChanged):
                return [_block_row(event.message_id, event.content_index, event.block)]
            return []
        case MessagesRewound():
            return [_rewound_row(event)]
        case MessageRemoved():
            return [
                ("DELETE FROM blocks WHERE message_id = ?", (event.message_id,)),
                ("DELETE FROM messages WHERE id = ?", (event.message_id,)),
            ]
        case TurnRecorded() | TurnUndone():
            return [document_row("turn", event.turn.id, event.turn)]
        case UsageRecorded():
            return usage_rows(event.turn)
        case LimitsUpdated():
            return [document_row("account", event.account.id, event.account)]
        case _:
            keys = changed_documents(before, after)
            return [row for key in keys for row in document_rows(after, key)]


DocumentKey = tuple[str, str]
"""`project`, `worktree`, `session` or `notice`, and an id."""


def changed_documents(before: State, after: State) -> list[DocumentKey]:
    """Return the keys of the documents that differ between two states."""
    keys: list[DocumentKey] = []
    for kind in ("project", "worktree", "session", "notice"):
        old, new = _documents(before, kind), _documents(after, kind)
        if old is not new:
            keys += [(kind, key) for key in new if old.get(key) is not new[key]]
            keys += [(kind, key) for key in old if key not in new]
    return keys


def document_rows(state: State, key: DocumentKey) -> list[Statement]:
    """Return what saves a document as in `state`, or deletes it with all that belongs to it."""
    kind, resource_id = key
    resource = _documents(state, kind).get(resource_id)
    if resource is not None:
        return [document_row(kind, resource_id, resource)]
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
            (
                "DELETE FROM documents WHERE kind = 'turn' AND id BETWEEN ? AND ?",
                turn_range(resource_id),
            ),
        ]
    return rows


def turn_range(session_id: str) -> tuple[str, str]:
    """Return the ids between which those of a session's turns are."""
    return f"{session_id}.", f"{session_id}.~"


def document_row(kind: str, resource_id: str, resource: Resource) -> Statement:
    """Return the statement that saves a project, worktree, session, turn, account or notice."""
    return _PUT_DOCUMENT, (kind, resource_id, resource.model_dump_json())


def _documents(state: State, kind: str) -> Mapping[str, Resource]:
    match kind:
        case "project":
            return state.projects
        case "worktree":
            return state.worktrees
        case "session":
            return state.sessions
        case _:
            return state.notices


def block_row(message: Message, index: int) -> Statement:
    """Return the statement that saves one block of a message."""
    return _block_row(message.id, index, message.content[index])


def _block_row(message_id: str, index: int, block: Block) -> Statement:
    return _PUT_BLOCK, (message_id, index, block.model_dump_json(exclude=_TRANSIENT))


def _rewound_row(event: MessagesRewound) -> Statement:
    body = "json_set(body, '$.rewound', json('true'))"
    if not event.rewound:
        body = "json_remove(body, '$.rewound')"
    return (
        f"UPDATE messages SET body = {body} WHERE session_id = ?1 AND json_valid(body)"
        " AND id IN (SELECT value FROM json_each(?2))",
        (event.session_id, json.dumps(event.message_ids)),
    )


def _words_row(message_id: str) -> Statement:
    return INDEX_WORDS.format(which="AND messages.id = ?"), (message_id,)


def _message_rows(message: Message, *, has_position: bool) -> list[Statement]:
    body = message.model_dump_json(exclude={"content"})
    rows: list[Statement] = [(_PUT_MESSAGE, (message.id, message.session_id, has_position, body))]
    return rows + [block_row(message, index) for index in range(len(message.content))]
