"""OpenCode's stored sessions: those begun in its own screen or with `opencode run`, and their
texts. The server that Spinney uses has the same storage.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from model.backends.json_values import Json, as_number, as_object, as_objects, as_text
from model.backends.opencode.conversations import OWN_TITLE, Call, find
from model.backends.stored_conversations import (
    MAX_CONVERSATIONS,
    MAX_MESSAGES,
    StoredConversation,
    StoredMessage,
    StoredTexts,
    shorten_text,
)

_LIST: Final = f"/session?roots=true&limit={MAX_CONVERSATIONS}"


async def list_sessions(call: Call, directory: Path) -> list[StoredConversation]:
    """The sessions of a directory, newest first, except those that Spinney created."""
    found = (_describe(each, directory) for each in as_objects(await call("GET", _LIST)))
    return [each for each in found if each.token and not each.title.startswith(OWN_TITLE)]


async def read_session(call: Call, token: str) -> StoredTexts | None:
    """The texts of a session; `None` if the program does not have it."""
    if await find(call, token) is None:
        return None
    path = f"/session/{token}/message?limit={MAX_MESSAGES}"
    stored = as_objects(await call("GET", path))
    messages = [message for each in stored for message in _to_messages(each)]
    infos = [as_object(each.get("info")) for each in stored]
    prompts = [as_text(info.get("id")) for info in infos if info.get("role") == "user"]
    is_complete = len(stored) < MAX_MESSAGES
    return StoredTexts(messages, is_complete, prompts[-1] if prompts else "")


def _describe(session: Json, directory: Path) -> StoredConversation:
    times = as_object(session.get("time"))
    return StoredConversation(
        token=as_text(session.get("id")),
        title=as_text(session.get("title")),
        directory=as_text(session.get("directory")) or str(directory),
        updated_at=(as_number(times.get("updated")) or 0.0) / 1000,
    )


def _to_messages(stored: Json) -> Iterator[StoredMessage]:
    info = as_object(stored.get("info"))
    parts = as_objects(stored.get("parts"))
    shown = (part for part in parts if part.get("type") == "text" and not part.get("synthetic"))
    text = "\n\n".join(as_text(part.get("text")) for part in shown).strip()
    role = info.get("role")
    if role in ("user", "assistant") and text:
        yield StoredMessage(
            role="user" if role == "user" else "assistant",
            text=shorten_text(text),
            timestamp=(as_number(as_object(info.get("time")).get("created")) or 0.0) / 1000,
            model=as_text(info.get("modelID")) if role == "assistant" else "",
        )
