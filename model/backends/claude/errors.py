"""Claude Code's words for what went wrong, as sentences that say what to do."""

from collections.abc import Mapping
from typing import Any, Final

from model.backends.base import TurnFailed
from model.base.errors import ErrorType
from model.base.text import clean_line

SIGN_IN: Final = (
    "Claude Code is not signed in, or its key is not valid. Run: claude auth login. "
    "Or set ANTHROPIC_API_KEY to a valid key and start Spinney again."
)

ANOTHER_CONVERSATION: Final = (
    "Claude Code went on in a conversation that is not this session's, and was ended. "
    "Send the message again."
)

_BUSY: Final = "The provider of Claude Code is overloaded or out of reach. Try again in a moment."

_BY_WORD: Final[dict[str, tuple[ErrorType, str]]] = {
    "authentication_failed": ("authentication_error", SIGN_IN),
    "oauth_org_not_allowed": (
        "authentication_error",
        "Your organisation does not allow Claude Code. Sign in with another account: "
        "run claude auth login.",
    ),
    "billing_error": (
        "backend_error",
        "The account of Claude Code has no credit left. Add some, or sign in with another account.",
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
        "The answer became longer than the model may write. Ask for it in smaller pieces.",
    ),
    "invalid_request": (
        "invalid_request",
        "The provider refused the request. Change the message, or start a new session.",
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


_LONG_WAIT: Final = 5.0
"""Seconds from which on people are told how long it takes."""

_LONGEST_RETRY: Final = 15.0
"""Seconds; a turn that would wait longer to ask its provider again ends. The program's own pauses
are shorter, so a longer one is what the provider told."""


def described(word: str, text: str, status: int | None) -> tuple[str, ErrorType]:
    """The sentence and kind of an error that the program calls `word` and explains by `text`."""
    said = clean_line(text)[:1000]
    if status == 413:
        return "The message is too large for the provider. Send less at once.", "too_large"
    if said.startswith("Prompt is too long"):
        return "The conversation is too long for the model. Send /compact.", "invalid_request"
    known = _BY_WORD.get(word) or _BY_WORD.get(_BY_STATUS.get(status or 0, ""))
    if known is None and status is not None:
        known = _BY_WORD["server_error" if status >= 500 else "invalid_request"]
    if known is None:
        return said or "Claude Code ended the turn without saying why. Try again.", "backend_error"
    kind, sentence = known
    return (f"{sentence} It said: {said}" if said else sentence), kind


def gave_up(line: Mapping[str, Any]) -> TurnFailed | None:
    """Why a turn ends although the program would ask its provider again; `None` if it goes on.

    A refused key is refused at every retry, and a long pause is made before each of them.
    """
    word, seconds = str(line.get("error")), retry_delay(line) or 0.0
    if word == "authentication_failed":
        return TurnFailed(SIGN_IN, "authentication_error")
    if seconds <= _LONGEST_RETRY:
        return None
    status = line.get("error_status")
    sentence, kind = described(word, "", status if isinstance(status, int) else None)
    return TurnFailed(sentence, kind, retry_after=seconds)


def retry_delay(line: Mapping[str, Any]) -> float | None:
    """Seconds until the program asks its provider again."""
    delay = line.get("retry_delay_ms")
    return delay / 1000 if isinstance(delay, int | float) else None


def retry_notice(line: Mapping[str, Any]) -> str:
    """What to show while the program waits to ask its provider again."""
    reason = _RETRY_REASONS.get(str(line.get("error")), "the provider did not answer")
    seconds = retry_delay(line) or 0.0
    wait = f" in {seconds:.0f} s" if seconds >= _LONG_WAIT else ""
    count = f"{line.get('attempt', '?')} of {line.get('max_retries', '?')}"
    return f"Retrying{wait} ({count}): {reason}"
