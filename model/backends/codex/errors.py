"""Codex's words for what went wrong, as sentences that say what to do."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from model.base.errors import ErrorType
from model.base.text import clean_line

LOGIN: Final = "codex login"
SIGN_IN: Final = f"Codex is not signed in. Run: {LOGIN}"

_SETTINGS: Final = "Error loading configuration: "
"""What its commands begin with where they cannot use its settings; or with "Error: " alone."""

_REFUSED: Final = (
    "Codex is not signed in, or its key is not valid. Run: codex login. Then send the message"
    " again."
)
_BUSY: Final = "The provider of Codex is overloaded or failed. Try again in a moment."
_NETWORK: Final = "The provider of Codex cannot be reached. Check the network and send again."
_MODEL: Final = "Codex cannot use this model. Choose another model for the session."
_LIMITED: Final = "Codex has reached its rate limit. Wait a while and send the message again."

_USED_UP: Final = (
    "The usage limit of the account of Codex is reached. Wait until it is lifted, or sign in"
    " with another account: codex login."
)
_UNREACHED: Final = (
    "The provider of Codex cannot be reached. Check the network. Where a proxy with a certificate"
    " of its own stands between, name the file of that certificate in SSL_CERT_FILE and start"
    " Spinney again."
)

_BY_WORD: Final[dict[str, tuple[ErrorType, str]]] = {
    "unauthorized": ("authentication_error", _REFUSED),
    "rateLimitExceeded": ("rate_limit_error", _LIMITED),
    "usageLimitExceeded": ("rate_limit_error", _USED_UP),
    "contextWindowExceeded": (
        "invalid_request",
        "The conversation is too long for the model. Send the message again: Codex shortens the"
        " conversation first.",
    ),
    "sessionBudgetExceeded": (
        "invalid_request",
        "The conversation has used up its budget. Start a new session.",
    ),
    "internalServerError": ("backend_error", _BUSY),
    "serverOverloaded": ("backend_error", _BUSY),
    "modelNotFound": ("invalid_request", _MODEL),
    "badRequest": ("invalid_request", "The provider refused the request. Change the message."),
    "cyberPolicy": (
        "invalid_request",
        "The provider does not answer this for reasons of its policy. Change the message.",
    ),
}

_BY_STATUS: Final[dict[int, tuple[ErrorType, str]]] = {
    400: ("invalid_request", "The provider refused the request. Change the message."),
    401: ("authentication_error", _REFUSED),
    403: ("authentication_error", _REFUSED),
    404: ("invalid_request", _MODEL),
    413: ("too_large", "The message is too large for the provider. Send less at once."),
    429: ("rate_limit_error", _LIMITED),
}

_NO_CONNECTION: Final = ("httpConnectionFailed", "responseStreamConnectionFailed")

# Errors that have no word of their own, by what their message begins with.
_BY_MESSAGE: Final[tuple[tuple[str, tuple[ErrorType, str]], ...]] = (
    ("stream disconnected", ("backend_error", _NETWORK)),
    (
        "Incomplete response returned, reason: max_output_tokens",
        (
            "backend_error",
            "The answer became longer than the model may write. Ask for it in smaller pieces.",
        ),
    ),
    (
        "Missing environment variable",
        (
            "authentication_error",
            "The key of the provider is not set. Set the variable and start Spinney again.",
        ),
    ),
)

_DELAY: Final = re.compile(
    r"(?:try again|retry|wait) in (?:(\d{1,6})m)?\s*(\d{1,9}(?:\.\d{1,9})?)\s*(ms|s)\b"
)


def of_settings(said: str) -> str:
    """The sentence about settings that the program cannot use; without them it does nothing."""
    words = clean_line(said.removeprefix(_SETTINGS).removeprefix("Error: "))[:500].rstrip(".")
    return f"Codex cannot use its settings: {words}. Mend them (~/.codex/config.toml)."


def about_settings(told: str) -> str | None:
    """The line in which one of its commands complains of its settings, if it does."""
    lines = (line for line in told.splitlines() if line.startswith("Error"))
    return next((line for line in lines if line.startswith(_SETTINGS) or "config" in line), None)


def described(
    error: Mapping[str, Any], own_key: str | None = None
) -> tuple[str, ErrorType, float | None]:
    """The sentence, the kind, and where a limit tells them the seconds until it ends.

    `own_key` is the variable with the key of the person's own provider, empty where it has none;
    `None` where Codex signs in itself.
    """
    message = str(error.get("message") or "")
    if message.startswith("Reconnecting"):  # of a failed attempt, which is told behind it
        message = str(error.get("additionalDetails") or "")
    word, status = _word_and_status(error.get("codexErrorInfo"))
    said = _own_words(message)
    known = _BY_WORD.get(word) or _BY_STATUS.get(status or 0) or _by_message(message)
    if known is None and status is not None:
        known = ("backend_error", _BUSY) if status >= 500 else _BY_STATUS[400]
    if known is None and word in _NO_CONNECTION:
        # Of a certificate that it does not trust it says no more than this (0.169).
        known = ("backend_error", _UNREACHED)
    if known is None and said != message:
        known = _BY_STATUS[400]  # a body of HTTP, which only a refused request shows
    if known is None:
        text = said or "Codex ended the turn without saying why. Try again."
        return text, "backend_error", None
    kind, sentence = known
    if own_key is not None:
        sentence = _of_own_provider(sentence, own_key)
    retry_after = _seconds(message) if kind == "rate_limit_error" else None
    return (f"{sentence} It said: {said}" if said else sentence), kind, retry_after


def _of_own_provider(sentence: str, key: str) -> str:
    """The sentence for a provider that the sign-in of Codex is nothing to."""
    match sentence:
        case _ if sentence == _REFUSED:
            named = f"the key in {key}" if key else "to answer without a valid key"
            return f"The provider refused {named}. Set a valid one and start Spinney again."
        case _ if sentence == _USED_UP:
            return "The usage limit of the provider is reached. Wait until it is lifted."
    return sentence


def retry_notice(error: Mapping[str, Any]) -> str:
    """What to show while the program asks its provider again."""
    counted = re.search(r"(?<!\d)(\d{1,6})/(\d{1,6})", str(error.get("message") or ""))
    _, status = _word_and_status(error.get("codexErrorInfo"))
    reason = {401: "the key is refused", 403: "the key is refused", 429: "too many requests"}.get(
        status or 0, "the provider failed" if status else "the connection broke"
    )
    count = f" ({counted[1]} of {counted[2]})" if counted else ""
    return f"Retrying{count}: {reason}"


def refuses_key(error: Mapping[str, Any]) -> bool:
    """Whether asking again is in vain."""
    return _word_and_status(error.get("codexErrorInfo"))[1] in (401, 403)


def lacks_model(turn: object) -> bool:
    """Whether a turn ended because its provider does not know the model."""
    error = turn.get("error") if isinstance(turn, dict) else None
    told = error.get("codexErrorInfo") if isinstance(error, dict) else None
    word, status = _word_and_status(told)
    return word == "modelNotFound" or status == 404


def _word_and_status(info: object) -> tuple[str, int | None]:
    """`"word"` and `{"word": {"httpStatusCode": 401}}` are both in use."""
    if isinstance(info, dict) and info:
        word, details = next(iter(info.items()))
        status = details.get("httpStatusCode") if isinstance(details, dict) else None
        return str(word), status if isinstance(status, int) else None
    return str(info or ""), None


def _by_message(message: str) -> tuple[ErrorType, str] | None:
    return next((known for start, known in _BY_MESSAGE if message.startswith(start)), None)


def _own_words(message: str) -> str:
    """The message; of a body of HTTP the message in it."""
    try:
        told = json.loads(message)
        message = str(told["error"]["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return clean_line(message)[:1000]


def _seconds(message: str) -> float | None:
    if found := _DELAY.search(message):
        minutes, number, unit = found.groups()
        return int(minutes or 0) * 60 + float(number) / (1000 if unit == "ms" else 1)
    return None
