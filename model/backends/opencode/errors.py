"""Translates OpenCode's errors into messages that say what to do."""

import re
import time
from collections.abc import Mapping
from typing import Any, Final

from model.backends.agent_events import Limit, TurnFailed
from model.backends.json_values import as_object
from model.backends.refusals import REFUSED
from model.base.errors import ErrorType
from model.base.text import clean_line

SIGN_IN: Final = (
    "OpenCode's provider rejected the key, or none is signed in. Run: opencode auth login. "
    "Change a key in OpenCode's configuration or in an environment variable there."
)
BUSY: Final = "The provider of OpenCode is overloaded or unreachable. Try again in a moment."
WAIT: Final = (
    "The provider of OpenCode accepts no requests for a while. Wait, then send the message again."
)
SPENT: Final = (
    "The account at OpenCode's provider has used up its quota. Wait, add credit, or choose"
    " another model."
)
EMPTY: Final = (
    "OpenCode's provider returned {} empty responses in a row. The cause may be a network's sign-in"
    " page or a broken gateway: check the network and the provider's URL."
)
CERTIFICATE: Final = (
    "OpenCode does not trust the certificate of its provider. If a proxy or a company's own"
    " authority signed it, set NODE_EXTRA_CA_CERTS to its file and start Spinney again."
)
LIMIT: Final = "OpenCode's provider has reached its rate limit. Wait, then send the message again."
TOO_LONG: Final = (
    "The conversation is too long for the model. Start a new session, or choose a model with a "
    "larger context."
)

_MAX_DETAIL: Final = 1000

_BACKEND_ERROR: Final[ErrorType] = "backend_error"

_RETRIES: Final = 3
_LONGEST_RETRY: Final = 15.0
"""Seconds; a turn that would wait longer before its next retry ends. The program's own pauses are
shorter until then, so a longer one was requested by the provider."""

_LIMIT_WORDS: Final = re.compile(r"rate.?limit|too many requests|\b429\b", re.I)
_SPENT_WORDS: Final = re.compile(r"quota|usage limit|credit|billing", re.I)
_CERTIFICATE_WORDS: Final = re.compile(r"certificate|\bSSL\b|\bTLS\b|\bCERT_", re.I)
_KEY_WORDS: Final = re.compile(r"api.?key|unauthori[sz]ed|not authenticated|credential", re.I)
_NETWORK_WORDS: Final = re.compile(
    r"unable to connect|connection|network|fetch failed|socket|ECONN|ENOTFOUND|timed? ?out", re.I
)


def turn_failure(error: Mapping[str, Any]) -> TurnFailed:
    """Convert the error of a session or a message, `{name, data}`."""
    data = as_object(error.get("data"))
    name = str(error.get("name") or "")
    detail = clean_line(str(data.get("message") or ""))[:_MAX_DETAIL]
    message, kind = _describe(name, detail, data.get("statusCode"))
    text = f"{message} It said: {detail}" if detail else message
    retry_after = _retry_after(data.get("responseHeaders"))
    limit = _find_limit(message, detail, retry_after)
    return TurnFailed(text, kind, retry_after=retry_after, limit=limit)


def give_up_failure(status: Mapping[str, Any]) -> TurnFailed | None:
    """The failure of a turn that should not be retried any more; `None` if it should.

    `status` has the number of the attempt and the time of the next one, in milliseconds since 1970.
    """
    seconds, attempt = _seconds_until(status.get("next")), status.get("attempt")
    if seconds <= _LONGEST_RETRY and (not isinstance(attempt, int) or attempt < _RETRIES):
        return None
    detail = clean_line(str(status.get("message") or ""))[:_MAX_DETAIL]
    retry_after = seconds if seconds > _LONGEST_RETRY else None
    fallback: tuple[str, ErrorType] = (
        (WAIT, "rate_limit_error") if retry_after else (BUSY, _BACKEND_ERROR)
    )
    message, kind = _by_text(detail) or fallback
    text = f"{message} It said: {detail}" if detail else message
    limit = _find_limit(message, detail, retry_after)
    return TurnFailed(text, kind, retry_after=retry_after, limit=limit)


def _find_limit(message: str, detail: str, retry_after: float | None) -> Limit | None:
    """Why a turn with this message can go on later; `None` if it cannot by itself."""
    if message in (LIMIT, WAIT) or (message == SPENT and retry_after is not None):
        return "usage_limit"
    if message == BUSY:
        return "network" if _NETWORK_WORDS.search(detail) else "overloaded"
    return None


def empty_failure(responses: int) -> TurnFailed:
    """The failure of a turn with this many empty responses in a row."""
    return TurnFailed(EMPTY.format(responses), _BACKEND_ERROR)


def retry_notice(attempt: object, message: object) -> str:
    """The notice to show while the program waits for its next retry."""
    reason = clean_line(str(message or ""))[:200] or "the provider did not respond"
    return f"Retrying (attempt {attempt}): {reason}"


def _describe(name: str, detail: str, status: object) -> tuple[str, ErrorType]:
    match name:
        case "ProviderAuthError":
            return SIGN_IN, "authentication_error"
        case "ContextOverflowError":
            return TOO_LONG, "invalid_request"
        case "MessageOutputLengthError":
            return (
                "The response exceeded the model's output limit. Ask for smaller pieces.",
                "backend_error",
            )
    if isinstance(status, int):
        return _by_status(status, detail)
    if detail.startswith("Model not found") or "ModelNotFound" in detail:
        return (
            "OpenCode cannot use this model. Choose another one (see: opencode models).",
            "invalid_request",
        )
    if known := _by_text(detail):
        return known
    if _KEY_WORDS.search(detail):
        return SIGN_IN, "authentication_error"
    if name == "APIError" or _NETWORK_WORDS.search(detail):
        return BUSY, "backend_error"
    return "OpenCode ended the turn with an error. Try again.", "backend_error"


def _by_text(detail: str) -> tuple[str, ErrorType] | None:
    if _SPENT_WORDS.search(detail):
        return SPENT, "rate_limit_error"
    if _LIMIT_WORDS.search(detail):
        return LIMIT, "rate_limit_error"
    return (CERTIFICATE, _BACKEND_ERROR) if _CERTIFICATE_WORDS.search(detail) else None


def _by_status(status: int, detail: str) -> tuple[str, ErrorType]:
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
            return _by_text(detail) or (LIMIT, "rate_limit_error")
    if status >= 500:
        return BUSY, "backend_error"
    return REFUSED, "invalid_request"


def _retry_after(headers: object) -> float | None:
    try:
        return float(str(as_object(headers).get("retry-after")))
    except ValueError:
        return None


def _seconds_until(moment: object) -> float:
    return max(0.0, moment / 1000 - time.time()) if isinstance(moment, int | float) else 0.0
