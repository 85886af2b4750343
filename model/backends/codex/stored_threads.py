"""Codex's stored threads: those begun in its own screen or with `codex exec`, and their texts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from model.backends.codex.server import CLIENT
from model.backends.json_rpc import JsonRpc, RpcError
from model.backends.json_values import Json, as_number, as_object, as_objects, as_text
from model.backends.stored_conversations import (
    MAX_CONVERSATIONS,
    MAX_MESSAGES,
    StoredConversation,
    StoredMessage,
    StoredTexts,
    shorten_text,
)

_TIMEOUT: Final = 20.0
_SOURCES: Final = ["cli", "vscode", "exec", "appServer", "unknown"]
"""Without them those of `codex exec` are missing."""
_MAX_TURNS: Final = MAX_MESSAGES // 2
_ORIGINS: Final = {"codex-tui": "terminal", "codex_exec": "codex exec"}


async def list_threads(rpc: JsonRpc, directory: Path) -> list[StoredConversation]:
    """The threads begun in a directory, newest first, except those that Spinney began."""
    params = {"cwd": str(directory), "sourceKinds": _SOURCES, "limit": MAX_CONVERSATIONS}
    response = await rpc.request("thread/list", params, _TIMEOUT)
    threads = as_objects(response.get("data"))
    found = (_describe(thread, directory) for thread in threads)
    return [each for each in found if each.token and each.origin != CLIENT]


async def read_thread(rpc: JsonRpc, token: str) -> StoredTexts | None:
    """The texts of a thread; `None` if the program does not have it."""
    params = {
        "threadId": token, "sortDirection": "desc", "itemsView": "full", "limit": _MAX_TURNS,
    }  # fmt: skip
    try:
        response = await rpc.request("thread/turns/list", params, _TIMEOUT)
    except RpcError:
        return None
    turns = as_objects(response.get("data"))
    messages = [message for turn in reversed(turns) for message in _to_messages(turn)]
    is_complete = not response.get("nextCursor") and len(messages) <= MAX_MESSAGES
    mark = as_text(turns[0].get("id")) if turns else ""
    return StoredTexts(messages[-MAX_MESSAGES:], is_complete, mark)


def _describe(thread: Json, directory: Path) -> StoredConversation:
    origin = as_text(thread.get("originator"))
    return StoredConversation(
        token=as_text(thread.get("id")),
        title=as_text(thread.get("name")) or as_text(thread.get("preview")),
        directory=as_text(thread.get("cwd")) or str(directory),
        updated_at=as_number(thread.get("updatedAt")) or 0.0,
        branch=as_text(as_object(thread.get("gitInfo")).get("branch")),
        origin=_ORIGINS.get(origin, origin),
    )


def _to_messages(turn: Json) -> Iterator[StoredMessage]:
    for item in as_objects(turn.get("items")):
        seconds = (as_number(item.get("startedAtMs")) or 0.0) / 1000
        match item.get("type"):
            case "userMessage":
                parts = as_objects(item.get("content"))
                text = "\n".join(as_text(part.get("text")) for part in parts).strip()
                if text:
                    yield StoredMessage("user", shorten_text(text), seconds)
            case "agentMessage" if text := as_text(item.get("text")).strip():
                yield StoredMessage("assistant", shorten_text(text), seconds)
