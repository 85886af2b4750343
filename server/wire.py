"""JSON as it comes in and goes out: strict both ways, and errors without their insides."""

import json
import math
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from model.base.errors import SpinneyError
from model.base.text import make_json_visible, make_visible

PROTOCOL = "spinney"
"""The WebSocket's protocol, which a client names that offers its token beside it."""


def parse_json(text: str | bytes) -> Any:
    """The value. Raises `SpinneyError` for what is no JSON, NaN and infinity included."""
    try:
        return _DECODER.decode(text if isinstance(text, str) else text.decode())
    except RecursionError:
        raise SpinneyError("Invalid request: it is nested too deeply") from None
    except ValueError as error:
        why = error.msg if isinstance(error, json.JSONDecodeError) else "it is not valid JSON"
        raise SpinneyError(f"Invalid request: {why}") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(text)
    return value


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)


def dump_result(adapter: TypeAdapter[Any], result: Any) -> bytes:
    """A command's result as JSON; text that is not Unicode is mended."""
    try:
        return adapter.dump_json(result)
    except (PydanticSerializationError, UnicodeEncodeError):
        return json.dumps(make_json_visible(adapter.dump_python(result, mode="json"))).encode()


def error_body(error: SpinneyError) -> dict[str, Any]:
    """`{error, error_type}`, with `session_id` where a session is missing."""
    body: dict[str, Any] = {"error": make_visible(error.message), "error_type": error.error_type}
    if error.session_id is not None:
        body["session_id"] = make_visible(error.session_id)
    return body
