"""OpenCode's words for what went wrong, as sentences that say what to do."""

import re
import time
from collections.abc import Mapping
from typing import Any, Final

from model.backends.base import TurnFailed
from model.base.errors import ErrorType
from model.base.text import clean_line

SIGN_IN: Final = (
    "OpenCode's provider does not accept the key, or none is signed in. Run: opencode auth login. "
    "A key that stands in OpenCode's configuration or in a variable is changed there."
)
BUSY: Final = "The provider of OpenCode is overloaded or out of reach. Try again in a moment."
WAIT: Final = (
    "The provider of OpenCode wants no request for a while. Wait, then send the message again."
)
SPENT: Final = (
    "The account at OpenCode's provider has used up what it may. Wait, add credit, or choose"
    " another model."
)
EMPTY: Final = (
    "OpenCode's provider answers with nothing, and OpenCode asked it {} times. A network's sign-in"
    " page or a broken gateway does that: look at the network and at the provider's address."
)
CERTIFICATE: Final = (
    "OpenCode does not trust the certificate of its provider. Where a proxy or a company's own"
    " authority signs, name its file in NODE_EXTRA_CA_CERTS and start Spinney again."
)
LIMIT: Final = "OpenCode's provider has reached its rate limit. Wait, then send the message again."
TOO_LONG: Final = (
    "The conversation is too long for the model. Start a new session, or choose a model that "
    "takes more."
)

_SAID_LENGTH: Final = 1000

_FAULT: Final[ErrorType] = "backend_error"

_RETRIES: Final = 3
_LONGEST_RETRY: Final = 15.0
"""Seconds; a turn that would wait longer to ask its provider again ends. The program's own pauses
are shorter until then, so a longer one is what the provider told."""

_LIMIT_WORDS: Final = re.compile(r"rate.?limit|too many requests|\b429\b", re.I)
_SPENT_WORDS: Final = re.compile(r"quota|usage limit|credit|billing", re.I)
_CERTIFICATE_WORDS: Final = re.compile(r"certificate|\bSSL\b|\bTLS\b|\bCERT_", re.I)
_KEY_WORDS: Final = re.compile(r"api.?key|unauthori[sz]ed|not authenticated|credential", re.I)
_NETWORK_WORDS: Final = re.compile(
    r"unable to connect|connection|network|fetch failed|socket|ECONN|ENOTFOUND|timed? ?out", re.I
)


def failure(error: Mapping[str, Any]) -> TurnFailed:
    """The error of a session or a message, `{name, data}`, for people."""
    found = error.get("data")
    data: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    name = str(error.get("name") or "")
    said = clean_line(str(data.get("message") or ""))[:_SAID_LENGTH]
    sentence, kind = _described(name, said, data.get("statusCode"))
    text = f"{sentence} It said: {said}" if said else sentence
    return TurnFailed(text, kind, retry_after=_retry_after(data.get("responseHeaders")))


def gave_up(status: Mapping[str, Any]) -> TurnFailed | None:
    """Why a turn ends although the program would ask its provider again; `None` if it goes on.

    `status` has the number of the attempt and when the next is, in milliseconds since 1970.
    """
    seconds, attempt = _seconds_until(status.get("next")), status.get("attempt")
    if seconds <= _LONGEST_RETRY and (not isinstance(attempt, int) or attempt < _RETRIES):
        return None
    said = clean_line(str(status.get("message") or ""))[:_SAID_LENGTH]
    told = seconds if seconds > _LONGEST_RETRY else None
    sentence, kind = _by_words(said) or ((WAIT, "rate_limit_error") if told else (BUSY, _FAULT))
    return TurnFailed(f"{sentence} It said: {said}" if said else sentence, kind, retry_after=told)


def empty(answers: int) -> TurnFailed:
    """Why a turn ends in which the program had this many answers in a row without a word."""
    return TurnFailed(EMPTY.format(answers), _FAULT)


def retry_notice(attempt: object, said: object) -> str:
    """What to show while the program waits to ask its provider again."""
    reason = clean_line(str(said or ""))[:200] or "the provider did not answer"
    return f"Retrying (attempt {attempt}): {reason}"


def _described(name: str, said: str, status: object) -> tuple[str, ErrorType]:
    match name:
        case "ProviderAuthError":
            return SIGN_IN, "authentication_error"
        case "ContextOverflowError":
            return TOO_LONG, "invalid_request"
        case "MessageOutputLengthError":
            return (
                "The answer became longer than the model may write. Ask for it in smaller pieces.",
                "backend_error",
            )
    if isinstance(status, int):
        return _by_status(status, said)
    if said.startswith("Model not found") or "ModelNotFound" in said:
        return (
            "OpenCode cannot use this model. Choose another one (see: opencode models).",
            "invalid_request",
        )
    if found := _by_words(said):
        return found
    if _KEY_WORDS.search(said):
        return SIGN_IN, "authentication_error"
    if name == "APIError" or _NETWORK_WORDS.search(said):
        return BUSY, "backend_error"
    return "OpenCode ended the turn with an error. Try again.", "backend_error"


def _by_words(said: str) -> tuple[str, ErrorType] | None:
    if _SPENT_WORDS.search(said):
        return SPENT, "rate_limit_error"
    if _LIMIT_WORDS.search(said):
        return LIMIT, "rate_limit_error"
    return (CERTIFICATE, _FAULT) if _CERTIFICATE_WORDS.search(said) else None


def _by_status(status: int, said: str) -> tuple[str, ErrorType]:
    match status:
        case 401 | 403:
            return SIGN_IN, "authentication_error"
        case 402:
            return (
                "The account at OpenCode's provider has no credit left. Add some, or choose "
                "another model.",
                "backend_error",
            )
        case 404:
            return (
                "OpenCode's provider does not know this model. Choose another one (see: opencode "
                "models).",
                "invalid_request",
            )
        case 413:
            return "The message is too large for the provider. Send less at once.", "too_large"
        case 429:
            return _by_words(said) or (LIMIT, "rate_limit_error")
    if status >= 500:
        return BUSY, "backend_error"
    return (
        "The provider refused the request. Change the message, or start a new session.",
        "invalid_request",
    )


def _retry_after(headers: object) -> float | None:
    told = headers.get("retry-after") if isinstance(headers, Mapping) else None
    try:
        return float(str(told))
    except ValueError:
        return None


def _seconds_until(moment: object) -> float:
    return max(0.0, moment / 1000 - time.time()) if isinstance(moment, int | float) else 0.0
