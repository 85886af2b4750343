"""Reads rows of a damaged database as far as possible, and fills in placeholders for the rest.

Nothing here fails: any bytes become something that can be shown where the row belongs.
"""

import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from model.base.text import make_visible
from model.domain.messages import Block, Message, UnreadableBlock
from model.domain.projects import Project
from model.domain.resource import Resource
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.store.rows import turn_range

R = TypeVar("R", bound=Resource)

UNKNOWN_PATH: Final = "/unreadable"
"""Path prefix of projects and worktrees whose path is lost: nothing exists there to be touched."""

_UNKNOWN_ID: Final = "lost"
"""Replaces the id of a parent that cannot be read."""

_MAX_LINK: Final = 4096
"""Bytes that are read of a worktree's link to its repository."""

_MAX_GAP: Final = 1000
"""Blocks that may be missing before another one; a larger gap means a damaged index."""

_TIME_OF_NEIGHBOR: Final = (
    "(SELECT json_extract(near.body, '$.timestamp') FROM messages near"
    " WHERE near.session_id = messages.session_id AND near.position {} messages.position"
    " AND CASE WHEN json_valid(near.body) THEN json_type(near.body, '$.timestamp') IN"
    " ('integer', 'real') END ORDER BY near.position {} LIMIT 1)"
)
_NEIGHBORS: Final = (
    "SELECT id, session_id, position IS NULL,"
    f" coalesce({_TIME_OF_NEIGHBOR.format('<', 'DESC')}, {_TIME_OF_NEIGHBOR.format('>', 'ASC')})"
    " FROM messages WHERE id IN (SELECT value FROM json_each(?))"
)
"""Of messages: their session, whether they are queued, the time of the one before or else after."""
_BEGUN: Final = (
    "SELECT json_extract(body, '$.message_id'), json_extract(body, '$.started_at') FROM documents"
    " WHERE kind = 'turn' AND id BETWEEN ? AND ? AND json_valid(body)"
)

_DECODER: Final = json.JSONDecoder()
_TEXT_START: Final = re.compile(r'"(?:text|content|plan)":"')
_ESCAPED: Final = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')


def to_text(value: object) -> str:
    """Return a column's content as text, whatever its type in a damaged row."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value if isinstance(value, str) else "" if value is None else str(value)


def read_block(body: object) -> Block:
    """Return a block, or what is left of it."""
    raw = to_text(body)
    try:
        return _block_adapter().validate_json(raw)
    except ValidationError:
        return UnreadableBlock(text=_extract_text(raw))


def read_message(
    key: str,
    session_id: str,
    body: object,
    blocks: Sequence[tuple[object, object]],
    traces: Mapping[str, Any] | None = None,
) -> Message:
    """Return a message from its body and (index, body) pairs; lost blocks become placeholders.

    `traces` has the `role` and the `timestamp` that other rows have of a message whose body is
    damaged. Such a message ends with a block that says so: a block keeps its index.
    """
    content: list[Block] = []
    for index, block in blocks:
        gap = index - len(content) if isinstance(index, int) else 0
        if 0 < gap < _MAX_GAP:
            content += [UnreadableBlock()] * gap
        content.append(read_block(block))
    raw = to_text(body)
    try:
        message = Message.model_validate({**json.loads(raw), "content": []})
    except (ValueError, TypeError, RecursionError):
        fields = {"id": key, "role": "assistant", "timestamp": 0, **(traces or {})}
        message = _rebuild(Message, raw, fields)
        content.append(UnreadableBlock(part="message"))
    # As in the columns, by which messages are looked up.
    return message.model_copy(update={"id": key, "session_id": session_id, "content": content})


def is_damaged(message: Message) -> bool:
    """Whether the body of a message could not be read."""
    last = message.content[-1] if message.content else None
    return isinstance(last, UnreadableBlock) and last.part == "message"


def find_traces(keys: Sequence[str], connection: sqlite3.Connection) -> dict[str, dict[str, Any]]:
    """Return what other rows have of messages whose bodies are damaged: the role and the time.

    A turn has the message of its user and the time, a queued message is one of the user, and any
    other is hardly older than the one before it.
    """
    rows = connection.execute(_NEIGHBORS, (json.dumps(list(keys)),)).fetchall()
    begun: dict[str, object] = {}
    for session_id in {to_text(row[1]) for row in rows}:
        turns = connection.execute(_BEGUN, turn_range(session_id)).fetchall()
        begun |= {to_text(message_id): time for message_id, time in turns}
    traces: dict[str, dict[str, Any]] = {}
    for id_, _, is_queued, near in rows:
        key = to_text(id_)
        time = begun.get(key, near)
        role = "user" if is_queued or key in begun else "assistant"
        traces[key] = {"role": role, "timestamp": time if isinstance(time, float | int) else 0}
    return traces


def read_resource(kind: type[R], key: str, body: object) -> tuple[R, bool]:
    """Return a project, worktree or session, and whether it had to be repaired."""
    try:
        resource = kind.model_validate_json(body if isinstance(body, bytes) else to_text(body))
        if getattr(resource, "id", None) == key:
            return resource, False
    except ValidationError:
        pass
    return _rebuild(kind, to_text(body), _default_fields(kind, key)), True


def add_missing_parents(
    projects: Iterable[Project],
    worktrees: Iterable[Worktree],
    sessions: Iterable[Session],
    repaired: Collection[str],
) -> tuple[list[Project], list[Worktree]]:
    """Return projects and worktrees with placeholders for the missing parents of other resources.

    `repaired` holds the ids of resources that could not be read completely.
    """
    known = {project.id: project for project in projects}
    trees = {worktree.id: worktree for worktree in worktrees}
    for session in sessions:
        if session.worktree_id not in trees:
            unreadable, _ = read_resource(Worktree, session.worktree_id, "")
            trees[unreadable.id] = unreadable
    for worktree in trees.values():
        if worktree.project_id not in known:
            known[worktree.project_id], _ = read_resource(Project, worktree.project_id, "")
    for project in list(known.values()):
        if project.path.startswith(UNKNOWN_PATH) and project.id != _UNKNOWN_ID:
            own = [worktree for worktree in trees.values() if worktree.project_id == project.id]
            known[project.id] = _recover_path(project, own)
    for folder in {p.parent_id for p in known.values() if p.parent_id}:
        parent = known.get(folder) or Project(id=folder, name="unreadable folder", added_at=0)
        if not parent.is_folder:
            known[folder] = parent.model_copy(update={"is_folder": True, "path": ""})
    paths = {project.id: project.path for project in known.values()}
    for worktree in trees.values():
        if worktree.id in repaired and worktree.path == paths[worktree.project_id]:
            # Its session type may be lost, and a project's own directory is never removed.
            trees[worktree.id] = worktree.model_copy(update={"session_type": "base"})
    return list(known.values()), list(trees.values())


def _recover_path(project: Project, worktrees: list[Worktree]) -> Project:
    """Return the project with the path that its worktrees point to, if one does."""
    for worktree in sorted(worktrees, key=lambda worktree: worktree.session_type != "base"):
        is_own = worktree.session_type == "base"
        path = worktree.path if is_own else _find_repository(worktree)
        if path and not path.startswith(UNKNOWN_PATH):
            branch = worktree.branch if is_own else worktree.base_branch
            location = {"path": path, "name": Path(path).name}
            other = {"default_branch": project.default_branch or branch or ""}
            return project.model_copy(update={**location, **other})
    return project


def _find_repository(worktree: Worktree) -> str:
    with suppress(OSError, ValueError):
        with (Path(worktree.path) / ".git").open("rb") as file:
            link = file.read(_MAX_LINK).decode()
        if match := re.fullmatch(r"gitdir: (/.+)/\.git/worktrees/[^/]+\s*", link):
            return match[1]
    return ""


@cache
def _block_adapter() -> TypeAdapter[Block]:
    return TypeAdapter(Block)  # Created on first use: it takes a while and would delay the start.


def _default_fields(kind: type[Resource], key: str) -> dict[str, Any]:
    """Return the required fields of a resource."""
    name, path = f"unreadable {kind.__name__.lower()}", f"{UNKNOWN_PATH}/{key}"
    if kind is Project:
        return {"id": key, "name": name, "path": path, "added_at": 0}
    if kind is Worktree:
        of_worktree = {"project_id": _UNKNOWN_ID, "path": path, "branch": "", "created_at": 0}
        return {"id": key, "name": name, **of_worktree}
    return {"id": key, "name": name, "worktree_id": _UNKNOWN_ID, "created_at": 0}


def _rebuild(kind: type[R], raw: str, required: Mapping[str, Any]) -> R:
    """Rebuild a document from its readable fields; missing ones come from `required`."""
    fields = {**required, **_extract_fields(kind, raw), "id": required["id"]}
    if fields.get("path") == "" and not fields.get("is_folder"):
        fields["path"] = required.get("path", "")
    for _ in range(len(fields) + 1):
        try:
            return kind.model_validate(fields)
        except ValidationError as error:
            for name in {str(one["loc"][0]) for one in error.errors() if one["loc"]}:
                fields.pop(name, None)
                if name in required:
                    fields[name] = required[name]
    return kind.model_validate(required)


def _extract_fields(kind: type[Resource], raw: str) -> dict[str, Any]:
    """Return the fields of a document: all if it is valid JSON, otherwise those found in it."""
    try:
        whole = json.loads(raw)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict):
        return whole
    fields: dict[str, Any] = {}
    for name in kind.model_fields:
        # The first match is the document's own field: nested ones come later.
        if match := re.search(rf'(?<!\\)"{name}":', raw):
            try:
                value, _ = _DECODER.raw_decode(raw, match.end())
            except (ValueError, RecursionError):
                continue
            if not isinstance(value, list | dict):
                fields[name] = value
    return fields


def _extract_text(raw: str) -> str:
    """Return the text in the remains of a block."""
    match = _TEXT_START.search(raw)
    if match is None:
        return ""
    rest = raw[match.end() :].rstrip("}").removesuffix('"')
    text: str = _ESCAPED.sub(lambda escape: str(json.loads(f'"{escape[0]}"')), rest)
    return make_visible(text)
