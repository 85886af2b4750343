"""Translates Claude Code's errors into messages that say what to do."""

from collections.abc import Mapping
from typing import Any, Final

from model.backends.agent_events import Limit, TurnFailed
from model.backends.refusals import REFUSED
from model.base.errors import ErrorType
from model.base.text import clean_line

SIGN_IN: Final = (
    "Claude Code is not signed in, or its API key is invalid. Run: claude auth login. "
    "Or set ANTHROPIC_API_KEY to a valid key and restart Spinney."
)

WRONG_CONVERSATION: Final = (
    "Claude Code continued in a different conversation and was stopped. Send the message again."
)

_BUSY: Final = "Claude Code's provider is overloaded or unreachable. Try again in a moment."

_BY_CODE: Final[dict[str, tuple[ErrorType, str]]] = {
    "authentication_failed": ("authentication_error", SIGN_IN),
    "oauth_org_not_allowed": (
        "authentication_error",
        "Your organization does not allow Claude Code. Sign in with another account: "
        "claude auth login.",
    ),
    "billing_error": (
        "backend_error",
        "Your Claude Code account has no credit left. Add credit, or use another account.",
    ),
    "rate_limit": (
        "rate_limit_error",
        "Claude Code has reached its rate limit. Wait a while and send the message again.",
    ),
    "overloaded": ("backend_error", _BUSY),
    "server_error": ("backend_error", _BUSY),
    "model_not_found": (
        "invalid_request",
        "Claude Code cannot use this model. Choose another model for the session.",
    ),
    "max_output_tokens": (
        "backend_error",
        "The answer exceeded the model's output limit. Ask for it in smaller pieces.",
    ),
    "invalid_request": (
        "invalid_request",
        REFUSED,
    ),
}

_BY_STATUS: Final[dict[int, str]] = {
    401: "authentication_failed",
    403: "authentication_failed",
    404: "model_not_found",
    429: "rate_limit",
}

_RETRY_REASONS: Final[dict[str, str]] = {
    "rate_limit": "the rate limit is reached",
    "overloaded": "the provider is overloaded",
    "server_error": "the provider failed",
}


_LOST_CONNECTION: Final = (
    "connection error", "unable to connect", "connection refused", "econnrefused", "econnreset",
    "enotfound", "eai_again", "fetch failed", "network", "socket hang up", "timed out",
)  # fmt: skip
"""Words by which an error without a status means that the provider could not be reached."""

_SHOWN_DELAY: Final = 5.0
"""Seconds from which the notice includes the waiting time."""

_MAX_RETRY_DELAY: Final = 15.0
"""Seconds; a turn ends instead of waiting longer for a retry. The program's own delays are shorter,
so a longer one was requested by the provider."""


def describe_error(code: str, text: str, status: int | None) -> tuple[str, ErrorType]:
    """The message and type of an error with the program's code `code` and explanation `text`."""
    details = clean_line(text)[:1000]
    if status == 413:
        return "The message is too large for the provider. Send less at once.", "too_large"
    if details.startswith("Prompt is too long"):
        return "The conversation is too long for the model. Send /compact.", "invalid_request"
    known = _BY_CODE.get(code) or _BY_CODE.get(_BY_STATUS.get(status or 0, ""))
    if known is None and status is not None:
        known = _BY_CODE["server_error" if status >= 500 else "invalid_request"]
    if known is None:
        return (
            details or "Claude Code ended the turn without giving a reason. Try again.",
            "backend_error",
        )
    kind, message = known
    return (f"{message} It said: {details}" if details else message), kind


def find_limit(code: str, text: str, status: int | None) -> Limit | None:
    """Why a turn with this error can go on later; `None` if it cannot by itself."""
    if code in ("authentication_failed", "billing_error"):
        return None
    if code == "rate_limit" or status == 429:
        return "usage_limit"
    lowered = text[:1000].lower()
    # A lost connection has the code of a server that fails, without a status (2.1.330).
    if status is None and any(words in lowered for words in _LOST_CONNECTION):
        return "network"
    is_failing = code in ("overloaded", "server_error") or (status or 0) >= 500
    return "overloaded" if is_failing else None


def check_retry(line: Mapping[str, Any]) -> TurnFailed | None:
    """The failure to end a turn with instead of letting the program retry; `None` to let it retry.

    A refused key is refused at every retry, after a long delay each time.
    """
    code, seconds = str(line.get("error")), get_retry_delay(line) or 0.0
    if code == "authentication_failed":
        return TurnFailed(SIGN_IN, "authentication_error")
    if seconds <= _MAX_RETRY_DELAY:
        return None
    status = line.get("error_status")
    message, kind = describe_error(code, "", status if isinstance(status, int) else None)
    known_status = status if isinstance(status, int) else None
    return TurnFailed(message, kind, retry_after=seconds, limit=find_limit(code, "", known_status))


def get_retry_delay(line: Mapping[str, Any]) -> float | None:
    """Seconds until the program retries its request."""
    delay = line.get("retry_delay_ms")
    return delay / 1000 if isinstance(delay, int | float) else None


def format_retry_notice(line: Mapping[str, Any]) -> str:
    """The notice to show while the program waits to retry its request."""
    reason = _RETRY_REASONS.get(str(line.get("error")), "the provider did not respond")
    seconds = get_retry_delay(line) or 0.0
    wait = f" in {seconds:.0f} s" if seconds >= _SHOWN_DELAY else ""
    count = f"{line.get('attempt', '?')} of {line.get('max_retries', '?')}"
    return f"Retrying{wait} ({count}): {reason}"
