"""Strict JSON parsing and serialization, and errors without internal details."""

import json
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from model.base import strict_json
from model.base.errors import SpinneyError
from model.base.text import make_json_visible, make_visible
from model.domain.sessions import Session
from server.session_json import SessionJson

PROTOCOL = "spinney"
"""The WebSocket subprotocol, named by clients that send their token as another subprotocol."""


def parse_json(text: str | bytes) -> Any:
    """Parse JSON. Raises `SpinneyError` if it is invalid, which includes NaN and infinity."""
    try:
        return strict_json.parse_json(text if isinstance(text, str) else text.decode())
    except UnicodeDecodeError:
        raise SpinneyError("Invalid request: it is not UTF-8") from None
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else error
        raise SpinneyError(f"Invalid request: {reason}") from None


_SESSIONS = SessionJson()


def dump_result(adapter: TypeAdapter[Any], result: Any) -> bytes:
    """Serialize a command's result as JSON; invalid Unicode in texts is replaced."""
    try:
        if isinstance(result, list) and result and type(result[0]) is Session:
            return _SESSIONS.dump(result)
        return adapter.dump_json(result)
    except (PydanticSerializationError, UnicodeEncodeError):
        return json.dumps(make_json_visible(adapter.dump_python(result, mode="json"))).encode()


def error_body(error: SpinneyError) -> dict[str, Any]:
    """`{error, error_type}`, and `session_id` if a session was not found."""
    body: dict[str, Any] = {"error": make_visible(error.message), "error_type": error.error_type}
    if error.session_id is not None:
        body["session_id"] = make_visible(error.session_id)
    return body
