"""Strict JSON parsing and serialization, and errors without internal details."""

import json
import math
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from model.base.errors import SpinneyError
from model.base.text import make_json_visible, make_visible
from model.domain.sessions import Session
from server.session_json import SessionJson

PROTOCOL = "spinney"
"""The WebSocket subprotocol, named by clients that send their token as another subprotocol."""


def parse_json(text: str | bytes) -> Any:
    """Parse JSON. Raises `SpinneyError` if it is invalid, which includes NaN and infinity."""
    try:
        return _DECODER.decode(text if isinstance(text, str) else text.decode())
    except RecursionError:
        raise SpinneyError("Invalid request: it is nested too deeply") from None
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "it is not valid JSON"
        raise SpinneyError(f"Invalid request: {reason}") from None


def _reject_constant(name: str) -> Any:
    raise ValueError(name)


def _parse_finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(text)
    return value


_DECODER = json.JSONDecoder(parse_constant=_reject_constant, parse_float=_parse_finite)


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
