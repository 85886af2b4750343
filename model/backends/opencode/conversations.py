"""Finds, creates and copies the conversations of an OpenCode server."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from model.backends.base import CannotForkError, lost_turn_reason
from model.backends.json_values import Json, as_object, as_objects, as_text
from model.backends.opencode.server import NAME
from model.base.errors import SpinneyError

Call = Callable[..., Awaitable[Any]]
"""Calls the server for one session."""

_ID: Final = re.compile(r"ses_\w+")

OWN_TITLE: Final = "Spinney"
"""The title of the sessions that Spinney creates."""

_MOVE: Final = "/experimental/control-plane/move-session"
"""A fork lies where its source lies, whatever directory is given (1.18.33)."""

_CANNOT_MOVE: Final = f"{NAME} cannot continue this conversation in another worktree."


async def find(call: Call, token: str) -> str | None:
    """Find the conversation to resume; `None` if the program does not have it."""
    session = await _read(call, token)
    return token if session is not None else None


async def create(call: Call) -> str:
    """Create an empty conversation."""
    # With a title the program does not ask a model for one.
    return _require_id(await call("POST", "/session", body={"title": OWN_TITLE}))


async def fork(call: Call, token: str, mark: str, worktree: Path) -> str:
    """Copy a conversation up to and with the turn of the user message `mark`, to this worktree.

    Raises `CannotForkError`.
    """
    source = await _read(call, token)
    if source is None:
        raise CannotForkError(lost_turn_reason(NAME))
    messages = as_objects(await call("GET", f"/session/{token}/message"))
    after = _next_prompt([as_object(message.get("info")) for message in messages], mark)
    body = {"messageID": after} if after else {}
    copy = as_object(await call("POST", f"/session/{token}/fork", body=body))
    conversation = _require_id(copy)
    if as_text(copy.get("directory")) != str(worktree):
        await _move(call, conversation, worktree)
    return conversation


def _next_prompt(infos: list[Json], mark: str) -> str:
    """The user message after `mark`, which is the first to be left out; empty if it is the last.

    An unknown message is not an error for the program: it copies everything (1.18.33).
    """
    prompts = [str(info.get("id")) for info in infos if info.get("role") == "user"]
    if mark not in prompts:
        raise CannotForkError(lost_turn_reason(NAME))
    return next(iter(prompts[prompts.index(mark) + 1 :]), "")


async def _move(call: Call, conversation: str, worktree: Path) -> None:
    body = {"sessionID": conversation, "destination": {"directory": str(worktree)}}
    try:
        await call("POST", _MOVE, body=body)
    except SpinneyError as error:  # versions without the path answer with a page
        raise CannotForkError(_CANNOT_MOVE) from error


async def _read(call: Call, token: str) -> Json | None:
    if not _ID.fullmatch(token):
        return None  # the program fails for anything that is not a conversation id
    try:
        session = as_object(await call("GET", f"/session/{token}"))
    except SpinneyError as error:
        if error.error_type == "not_found":
            return None
        raise
    return session if session.get("id") == token else None


def _require_id(response: Any) -> str:
    conversation = as_text(as_object(response).get("id"))
    if not conversation:
        raise SpinneyError(f"{NAME} did not start a conversation. Try again.", "backend_error")
    return conversation
