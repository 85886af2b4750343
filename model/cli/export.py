"""`spinney export`: write every conversation to files that can be read without Spinney.

One Markdown file per session, by project and worktree, and `spinney.jsonl`: one JSON object per
line for each project, worktree, session and message.
"""

import asyncio
import json
import sqlite3
import tempfile
import time
from argparse import Namespace
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TextIO

from model.base.code_block import code_block
from model.base.errors import SpinneyError
from model.base.paths import (
    PRIVATE_FILE,
    create_private_directory,
    expand_home,
    file_error,
    resolve_directories,
)
from model.base.standard_streams import write_json, write_output
from model.chat.session_rows import SessionFilter, list_session_rows
from model.cli.lookup import find_session
from model.domain.messages import (
    Block,
    ImageBlock,
    Message,
    PlanBlock,
    QuestionBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnreadableBlock,
)
from model.domain.resource import Resource
from model.domain.sessions import Session
from model.state import State
from model.store.backups import open_read_only
from model.store.connection import Connection
from model.store.queries import DatabaseReader, SavedState
from model.store.salvage import salvage_into
from model.store.schema import check_integrity, refuse_newer
from model.store.sqlite_errors import disk_error, is_damage
from model.worktrees.lookup import to_folder_name

_PAGE_SIZE: Final = 200
"""Messages that are read at once."""


def export(options: Namespace) -> int:
    """Export what can be read of a database, by default this user's; returns the exit code.

    A Spinney may be running meanwhile. Raises `SpinneyError`.
    """
    chosen = options.database
    database = expand_home(chosen) if chosen else resolve_directories().database
    if not database.is_file():
        raise SpinneyError(f"There is no database {database}.", "not_found")
    if options.session is not None:
        if options.folder is not None:
            options.parser.error("give either FOLDER or --session")
        asyncio.run(_print_session(database, options))
    elif options.folder is None:
        options.parser.error("give FOLDER for all conversations, or --session SESSION for one")
    else:
        write_output(export_all(database, expand_home(options.folder)) + "\n")
    return 0


async def _print_session(database: Path, options: Namespace) -> None:
    """Print one conversation as Markdown or as lines of JSON."""
    async with reading(database) as reader:
        saved = await reader.load()
        state = State(
            projects={one.id: one for one in saved.projects},
            worktrees={one.id: one for one in saved.worktrees},
            sessions={one.id: one for one in saved.sessions},
        )
        everything = SessionFilter(archived="include")
        rows = list_session_rows(state, everything, len(saved.sessions)).model_dump(mode="json")
        found = find_session(rows["sessions"], options.session)
        session = state.sessions[found["id"]]
        if not options.json:
            write_output(_head(session, saved))
        async for message in _messages(reader, session.id):
            if options.json:
                write_json(message.model_dump(mode="json"), on_one_line=True)
            else:
                parts = "".join(f"{part}\n\n" for part in _parts(message))
                write_output(f"\n## {_heading(message)}\n\n{parts}")


def export_all(database: Path, folder: Path) -> str:
    """Export everything to a new folder; returns a sentence about what was written."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SpinneyError(f"{folder} already exists. Name a new folder.")
    create_private_directory(folder)
    try:
        sessions, messages = asyncio.run(_read_and_write(database, folder))
    except sqlite3.Error as error:
        raise disk_error(error, f"the export of {database}") from error
    except OSError as error:
        raise file_error(folder, error, "written") from error
    return (
        f"Exported to {folder}: a Markdown file for each session ({sessions} with {messages}"
        " messages), and everything in spinney.jsonl."
    )


@asynccontextmanager
async def reading(database: Path) -> AsyncIterator[DatabaseReader]:
    """A reader of the database, or of what can be salvaged from a damaged one."""
    with tempfile.TemporaryDirectory(prefix="spinney-export-") as temporary:
        path = await asyncio.to_thread(_readable, database, Path(temporary) / "read.db")
        connection = await Connection.open(path, read_only=True)
        try:
            yield DatabaseReader(connection)
        finally:
            await connection.close()


def _readable(database: Path, copy: Path) -> Path:
    try:
        with open_read_only(database) as connection:
            check_integrity(connection)
            refuse_newer(connection, database)
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        salvage_into(copy, database)
        return copy
    return database


async def _read_and_write(database: Path, folder: Path) -> tuple[int, int]:
    async with reading(database) as reader:
        return await _write(reader, folder)


async def _write(reading: DatabaseReader, folder: Path) -> tuple[int, int]:
    saved = await reading.load()
    count = 0
    with _new_file(folder / "spinney.jsonl") as lines:
        for one in (*saved.projects, *saved.worktrees, *saved.sessions):
            _put_line(lines, type(one).__name__.lower(), one)
        for session in saved.sessions:
            with _new_file(_path_of(session, saved, folder)) as text:
                text.write(_head(session, saved))
                async for message in _messages(reading, session.id):
                    count += 1
                    _put_line(lines, "message", message)
                    text.write(f"\n## {_heading(message)}\n\n")
                    text.write("".join(f"{part}\n\n" for part in _parts(message)))
    return len(saved.sessions), count


async def _messages(reading: DatabaseReader, session_id: str) -> AsyncIterator[Message]:
    """All messages of a session, oldest first."""
    end = (await reading.messages(session_id, 1)).total
    for first in range(0, end, _PAGE_SIZE):
        size = min(_PAGE_SIZE, end - first)
        for message in (await reading.messages(session_id, size, end - first - size)).messages:
            yield message


def _put_line(lines: TextIO, kind: str, one: Resource) -> None:
    # API keys are not exported.
    fields = one.model_dump(mode="json", exclude={"tracker_api_key"})
    lines.write(json.dumps({"kind": kind, **fields}, ensure_ascii=False) + "\n")


def _path_of(session: Session, saved: SavedState, folder: Path) -> Path:
    worktree = next((w for w in saved.worktrees if w.id == session.worktree_id), None)
    project = next((p for p in saved.projects if worktree and p.id == worktree.project_id), None)
    for one in (project, worktree):
        folder = folder / (to_folder_name(one.name)[:80] if one else "unreadable")
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder / f"{to_folder_name(session.name)[:80]}-{to_folder_name(session.id)[:8]}.md"


def _new_file(path: Path) -> TextIO:
    path.touch(PRIVATE_FILE)
    return path.open("w", encoding="utf-8", errors="replace")


# Markdown ----------------------------------------------------------------------------------------


def _head(session: Session, saved: SavedState) -> str:
    worktree = next((w for w in saved.worktrees if w.id == session.worktree_id), None)
    where = f"{worktree.name}, branch {worktree.branch}, {worktree.path}" if worktree else ""
    return f"# {session.name}\n\n{where}\n{_time(session.created_at)}\n"


def _heading(message: Message) -> str:
    author = "You" if message.role == "user" else message.backend or "Agent"
    return f"{author}, {_time(message.timestamp)}{', rewound' if message.rewound else ''}"


def _time(at: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
    except (ValueError, OverflowError, OSError):
        return "at an unreadable time"


def _parts(message: Message) -> Iterator[str]:
    for block in message.content:
        if part := _part(block):
            yield part
    yield from (f"File: {path}" for path in message.files)
    if message.error is not None:
        yield f"Failed: {message.error.error}"


def _part(block: Block) -> str:
    match block:
        case TextBlock():
            return block.text
        case ThinkingBlock():
            return "\n".join(f"> {line}" for line in block.text.splitlines())
        case ToolUseBlock():
            given = json.dumps(block.input, ensure_ascii=False, indent=1)
            return f"▸ {block.name}\n\n{code_block(given)}"
        case ToolResultBlock():
            return code_block(block.content)
        case PlanBlock():
            return f"### Plan\n\n{block.text}"
        case QuestionBlock():
            questions = [f"- {question.question}" for question in block.questions]
            return "\n".join(["### Question", "", *questions, f"\nAnswer: {block.answer}"])
        case ImageBlock():
            return f"Image: {block.path}"
        case UnreadableBlock():
            return f"**{block.notice}**\n\n{block.text}".rstrip()
        case _:
            return ""
