"""The errors of ACP agents as sentences that say what to do."""

import re
from collections.abc import Sequence
from typing import Final

from model.backends.acp.json_values import Told, as_object, as_text
from model.base.errors import ErrorType
from model.base.text import clean_line

SIGN_IN_NEEDED: Final = -32000

_LIMIT: Final = re.compile(r"\b429\b|rate.?limit|too many requests|quota", re.IGNORECASE)
_KEY: Final = re.compile(
    r"\b401\b|unauthori[sz]ed|invalid api key|authentication|not signed in|not logged in",
    re.IGNORECASE,
)


def described(label: str, error: object, sign_ins: Sequence[str]) -> tuple[str, ErrorType]:
    """The sentence and kind of the error in an answer of the agent `label`."""
    told = as_object(error)
    words = clean_line(_words(told))[:1000]
    if told.get("code") == SIGN_IN_NEEDED:
        return not_signed_in(label, sign_ins), "authentication_error"
    said = f" It said: {words}" if words else ""
    if _KEY.search(words):
        return f"{not_signed_in(label, sign_ins)}{said}", "authentication_error"
    if _LIMIT.search(words):
        sentence = f"{label} has reached a limit of its provider. Wait a while and send it again."
        return sentence + said, "rate_limit_error"
    return f"{label} could not go on. Send the message again, or change it.{said}", "backend_error"


def not_signed_in(label: str, sign_ins: Sequence[str]) -> str:
    """What to do, with the agent's own ways to sign in."""
    ways = clean_line("; ".join(sign_ins))[:1000] or "see its documentation"
    return (
        f"{label} is not signed in. Its own ways to sign in: {ways}. Then send the message again."
    )


def _words(told: Told) -> str:
    """The message, and what the agent's data adds to it."""
    message, data = as_text(told.get("message")), told.get("data")
    fields = as_object(data)
    more = as_text(data) or as_text(fields.get("message")) or as_text(fields.get("details"))
    return f"{message}: {more}" if message and more and more not in message else more or message
