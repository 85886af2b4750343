"""Claude Code's transcripts: a file of JSON lines for each conversation, below its configuration.

Files may be huge and are written by a running program: only their beginning and end are read, and a
line that is not a JSON object is skipped.
"""

import json
import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from model.backends.json_values import Json, as_object, as_objects, as_text
from model.backends.stored_conversations import (
    MAX_CONVERSATIONS,
    MAX_MESSAGES,
    StoredConversation,
    StoredMessage,
    StoredTexts,
    shorten_text,
)

_EDGE: Final = 64 * 1024
"""Bytes that are read at the beginning and the end of a file for its title."""
_TAIL: Final = 8 * 1024 * 1024
"""Bytes that are read at the end of a file for its messages."""
_MAX_FILES: Final = 1000
"""The newest files that are looked at; a folder may hold thousands."""

_ID: Final = re.compile(r"[0-9a-fA-F-]{36}")
_NOT_ALPHANUMERIC: Final = re.compile(r"[^a-zA-Z0-9]")

_ORIGINS: Final = {"cli": "terminal", "sdk-cli": "claude -p"}


def find_folder(config: Path, directory: Path) -> Path:
    """The folder with the transcripts of conversations begun in a directory."""
    return config / "projects" / _NOT_ALPHANUMERIC.sub("-", str(directory))


def list_transcripts(config: Path, directory: Path) -> list[StoredConversation]:
    """The conversations begun in a directory, newest first. Reads files: call it in a thread."""
    found = []
    for path, changed_at in _newest_files(find_folder(config, directory)):
        described = _describe(path, changed_at, directory)
        if described is not None:
            found.append(described)
        if len(found) == MAX_CONVERSATIONS:
            break
    return found


def read_transcript(config: Path, directory: Path, token: str) -> StoredTexts | None:
    """The texts of a conversation; `None` if there is no such file. Call it in a thread."""
    if not _ID.fullmatch(token):
        return None
    path = find_folder(config, directory) / f"{token}.jsonl"
    if not path.is_file():
        # A conversation resumed from another directory stays in its first folder.
        others = (config / "projects").glob(f"*/{token}.jsonl")
        path = next((each for each in others if each.is_file()), path)
    try:
        size = path.stat().st_size
        data = _read_end(path, size, _TAIL)
    except OSError:
        return None
    branch = _newest_branch(_parse_lines(data, is_cut=size > len(data)))
    messages = [message for line in branch if (message := _to_message(line)) is not None]
    is_whole = size <= len(data) and len(messages) <= MAX_MESSAGES
    marks = [as_text(line.get("uuid")) for line in branch if line.get("type") == "assistant"]
    return StoredTexts(messages[-MAX_MESSAGES:], is_whole, marks[-1] if marks else "")


def _newest_files(folder: Path) -> list[tuple[Path, float]]:
    files = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name, _, kind = entry.name.rpartition(".")
                if kind == "jsonl" and _ID.fullmatch(name) and entry.is_file():
                    files.append((Path(entry.path), entry.stat().st_mtime))
    except OSError:
        return []
    files.sort(key=lambda file: -file[1])
    return files[:_MAX_FILES]


def _describe(path: Path, changed_at: float, directory: Path) -> StoredConversation | None:
    """Describe a transcript; `None` without a message of this directory: folder names collide."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(_EDGE)
        tail = head if size <= len(head) else _read_end(path, size, _EDGE)
    except OSError:
        return None
    first = next((line for line in _parse_lines(head) if line.get("type") == "user"), None)
    if first is None or as_text(first.get("cwd")) != str(directory):
        return None
    asked = _to_message(first)
    title = asked.text if asked is not None else ""
    for line in _parse_lines(tail, is_cut=size > len(tail)):
        match line.get("type"):
            case "last-prompt":
                title = as_text(line.get("lastPrompt")) or title
            case "custom-title":
                title = as_text(line.get("customTitle"))
                break
    return StoredConversation(
        token=path.stem,
        title=title,
        directory=str(directory),
        updated_at=changed_at,
        branch=as_text(first.get("gitBranch")),
        origin=_ORIGINS.get(as_text(first.get("entrypoint")), as_text(first.get("entrypoint"))),
    )


def _read_end(path: Path, size: int, limit: int) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, size - limit))
        return file.read(limit)


def _parse_lines(data: bytes, *, is_cut: bool = False) -> Iterator[Json]:
    """The JSON objects in the lines; with `is_cut`, the first line has no beginning."""
    lines = data.split(b"\n")
    for line in lines[1:] if is_cut else lines:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def _newest_branch(lines: Iterator[Json]) -> list[Json]:
    """The lines that lead to the newest message: rewinding leaves others in the file."""
    by_id: dict[str, Json] = {}
    last = ""
    for line in lines:
        key = as_text(line.get("uuid"))
        if key and not line.get("isSidechain"):
            by_id[key] = line
            if line.get("type") in ("user", "assistant"):
                last = key
    branch = []
    while (found := by_id.pop(last, None)) is not None:  # popped, as a damaged file may have a ring
        branch.append(found)
        last = as_text(found.get("parentUuid"))
    return branch[::-1]


def _to_message(line: Json) -> StoredMessage | None:
    """The text of a line; `None` for tools, their results and what the program adds."""
    kind = line.get("type")
    if kind not in ("user", "assistant") or line.get("isMeta"):
        return None
    message = as_object(line.get("message"))
    content = message.get("content")
    texts = [content] if isinstance(content, str) else []
    blocks = as_objects(content) if isinstance(content, list) else []
    texts += [as_text(block.get("text")) for block in blocks if block.get("type") == "text"]
    text = "\n\n".join(each for each in texts if each.strip())
    if not text or (kind == "user" and text.lstrip().startswith(("<", "[Request interrupted"))):
        return None
    return StoredMessage(
        role="user" if kind == "user" else "assistant",
        text=shorten_text(text),
        timestamp=_parse_time(as_text(line.get("timestamp"))),
        model=as_text(message.get("model")) if kind == "assistant" else "",
    )


def _parse_time(text: str) -> float:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
