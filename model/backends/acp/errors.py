"""Translates the errors of ACP agents into messages that say what to do."""

import re
from collections.abc import Sequence
from typing import Final

from model.backends.agent_events import Limit
from model.backends.json_values import Json, as_object, as_text
from model.backends.refusals import GO_BACK
from model.base.errors import ErrorType
from model.base.text import clean_line

AUTH_REQUIRED: Final = -32000

_LIMIT: Final = re.compile(r"\b429\b|rate.?limit|too many requests|quota", re.IGNORECASE)
_REFUSED: Final = re.compile(r"\b400\b|invalid.?request|bad request", re.IGNORECASE)
_KEY: Final = re.compile(
    r"\b401\b|unauthori[sz]ed|invalid api key|authentication|not signed in|not logged in",
    re.IGNORECASE,
)


def describe_error(
    label: str, value: object, sign_in_methods: Sequence[str]
) -> tuple[str, ErrorType]:
    """The message and type of the error in a response of the agent `label`."""
    error = as_object(value)
    text = clean_line(_error_text(error))[:1000]
    if error.get("code") == AUTH_REQUIRED:
        return sign_in_message(label, sign_in_methods), "authentication_error"
    quoted = f" It said: {text}" if text else ""
    if _KEY.search(text):
        return f"{sign_in_message(label, sign_in_methods)}{quoted}", "authentication_error"
    if _LIMIT.search(text):
        message = f"{label} has reached a limit of its provider. Wait a while and send it again."
        return message + quoted, "rate_limit_error"
    if _REFUSED.search(text):
        return f"{label} failed. Change the message. {GO_BACK}{quoted}", "invalid_request"
    return f"{label} failed. Send the message again, or change it.{quoted}", "backend_error"


def find_limit(message: str, kind: ErrorType) -> Limit | None:
    """Why a turn with this error can go on later; a quota without an end does not end by itself."""
    is_over = kind == "rate_limit_error" and "quota" not in message.lower()
    return "usage_limit" if is_over else None


def sign_in_message(label: str, sign_in_methods: Sequence[str]) -> str:
    """The message that names the agent's own sign-in methods."""
    methods = clean_line("; ".join(sign_in_methods))[:1000] or "see its documentation"
    return f"{label} is not signed in. Its sign-in methods: {methods}. Then send the message again."


def _error_text(error: Json) -> str:
    """The error's message, with the details in its data."""
    message, data = as_text(error.get("message")), error.get("data")
    fields = as_object(data)
    more = as_text(data) or as_text(fields.get("message")) or as_text(fields.get("details"))
    return f"{message}: {more}" if message and more and more not in message else more or message
