"""Translates Codex's errors into messages that say what to do."""

import json
import re
import time
from collections.abc import Mapping
from typing import Any, Final

from model.backends.agent_events import Limit, TurnFailed
from model.backends.json_values import as_object
from model.backends.refusals import REFUSED
from model.base.errors import ErrorType, SpinneyError
from model.base.moments import parse_moment
from model.base.text import clean_line
from model.domain.usage import Usage

LOGIN: Final = "codex login"
SIGN_IN: Final = f"Codex is not signed in. Run: {LOGIN}"

_SETTINGS_ERROR: Final = "Error loading configuration: "
"""How its commands' output begins if the settings are invalid; or with "Error: " alone."""

_REFUSED: Final = (
    "Codex is not signed in, or its API key is invalid. Run: codex login. Then send the message"
    " again."
)
_BUSY: Final = "Codex's provider is overloaded or failed. Try again in a moment."
_NETWORK: Final = (
    "Codex's provider cannot be reached. Check the network and send the message again."
)
_MODEL: Final = "Codex cannot use this model. Choose another model for the session."
_LIMITED: Final = "Codex has reached its rate limit. Wait a while and send the message again."

_USED_UP: Final = (
    "Your Codex account has reached its usage limit. Wait until it resets, or sign in with another"
    " account: codex login."
)
_UNREACHED: Final = (
    "Codex's provider cannot be reached. Check the network. If you are behind a proxy with its own"
    " certificate, set SSL_CERT_FILE to the file of that certificate and restart Spinney."
)

_BY_CODE: Final[dict[str, tuple[ErrorType, str]]] = {
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
    "badRequest": ("invalid_request", REFUSED),
    "cyberPolicy": (
        "invalid_request",
        "The provider refused this because of its usage policy. Change the message.",
    ),
}

_BY_STATUS: Final[dict[int, tuple[ErrorType, str]]] = {
    400: ("invalid_request", REFUSED),
    401: ("authentication_error", _REFUSED),
    403: ("authentication_error", _REFUSED),
    404: ("invalid_request", _MODEL),
    413: ("too_large", "The message is too large for the provider. Send less at once."),
    429: ("rate_limit_error", _LIMITED),
}

_NO_CONNECTION: Final = ("httpConnectionFailed", "responseStreamConnectionFailed")

# Errors without a code of their own, by the start of their message.
_BY_MESSAGE: Final[tuple[tuple[str, tuple[ErrorType, str]], ...]] = (
    ("stream disconnected", ("backend_error", _NETWORK)),
    (
        "Incomplete response returned, reason: max_output_tokens",
        (
            "backend_error",
            "The answer exceeded the model's output limit. Ask for it in smaller pieces.",
        ),
    ),
    (
        "Missing environment variable",
        (
            "authentication_error",
            "The provider's API key is not set. Set the variable and restart Spinney.",
        ),
    ),
)

_DELAY: Final = re.compile(
    r"(?:try again|retry|wait) in (?:(\d{1,6})m)?\s*(\d{1,9}(?:\.\d{1,9})?)\s*(ms|s)\b"
)


def settings_error(output: str) -> str:
    """The error message for invalid settings, without which the program does nothing."""
    reason = clean_line(output.removeprefix(_SETTINGS_ERROR).removeprefix("Error: "))[:500].rstrip(
        "."
    )
    return f"Codex cannot use its settings: {reason}. Fix them in ~/.codex/config.toml."


def find_settings_error(output: str) -> str | None:
    """The line of a command's output that reports invalid settings, if any."""
    lines = (line for line in output.splitlines() if line.startswith("Error"))
    return next(
        (line for line in lines if line.startswith(_SETTINGS_ERROR) or "config" in line), None
    )


def describe_error(
    error: Mapping[str, Any], provider_key: str | None = None
) -> tuple[str, ErrorType, float | None]:
    """The message and type of an error, and the seconds until a rate limit ends, if reported.

    `provider_key` is the variable with the API key of the user's own provider, empty if it needs
    none; `None` if Codex itself signs in.
    """
    message = str(error.get("message") or "")
    if message.startswith("Reconnecting"):  # the failed attempt is described in the details
        message = str(error.get("additionalDetails") or "")
    code, status = _parse_info(error.get("codexErrorInfo"))
    details = _extract_message(message)
    known = _BY_CODE.get(code) or _BY_STATUS.get(status or 0) or _match_message(message)
    if known is None and status is not None:
        known = ("backend_error", _BUSY) if status >= 500 else _BY_STATUS[400]
    if known is None and code in _NO_CONNECTION:
        # An untrusted certificate is reported only like this (0.169).
        known = ("backend_error", _UNREACHED)
    if known is None and details != message:
        known = _BY_STATUS[400]  # an HTTP body, which only a refused request shows
    if known is None:
        text = details or "Codex ended the turn without giving a reason. Try again."
        return text, "backend_error", None
    kind, sentence = known
    if provider_key is not None:
        sentence = _adapt_to_provider(sentence, provider_key)
    retry_after = _parse_delay(message) if kind == "rate_limit_error" else None
    return (f"{sentence} It said: {details}" if details else sentence), kind, retry_after


def build_failure(
    error: Mapping[str, Any], provider_key: str | None, usage: Usage, limit_resets_in: float | None
) -> TurnFailed:
    """The end of a turn with this error; `limit_resets_in` is what the account's windows say."""
    message, error_type, retry_after = describe_error(error, provider_key)
    if error_type == "rate_limit_error" and retry_after is None:
        retry_after = limit_resets_in or find_reset(error, time.time())
    limit = find_limit(error)
    if retry_after is None and is_used_up(error):
        limit = None
    return TurnFailed(message, error_type, usage, retry_after, limit)


def find_limit(error: Mapping[str, Any]) -> Limit | None:
    """Why a turn with this error can go on later; `None` if it cannot by itself."""
    code, status = _parse_info(error.get("codexErrorInfo"))
    if code in ("rateLimitExceeded", "usageLimitExceeded") or status == 429:
        return "usage_limit"
    if code in ("internalServerError", "serverOverloaded") or (status or 0) >= 500:
        return "overloaded"
    is_lost = str(error.get("message") or "").startswith("stream disconnected")
    return "network" if status is None and (code in _NO_CONNECTION or is_lost) else None


def is_used_up(error: Mapping[str, Any]) -> bool:
    """Whether the account has no more quota; only a time says that it gets new one."""
    return _parse_info(error.get("codexErrorInfo"))[0] == "usageLimitExceeded"


def find_reset(error: Mapping[str, Any], now: float) -> float | None:
    """Seconds until the time of day in `… or try again at 11:56 AM.`, which it shows in local time.

    `now` is in seconds since 1970.
    """
    words = str(error.get("message") or "")[-200:].partition("try again at ")[2].split()
    try:
        return parse_moment("".join(words[:2]).rstrip("."), now) - now if words else None
    except SpinneyError:
        return None


def _adapt_to_provider(sentence: str, key: str) -> str:
    """The message for a provider that does not use Codex's sign-in."""
    match sentence:
        case _ if sentence == _REFUSED:
            named = f"the key in {key}" if key else "to answer without a valid key"
            return f"The provider refused {named}. Set a valid one and restart Spinney."
        case _ if sentence == _USED_UP:
            return "The provider's usage limit is reached. Wait until it resets."
    return sentence


def format_retry_notice(error: Mapping[str, Any]) -> str:
    """The notice to show while the program retries its request."""
    counted = re.search(r"(?<!\d)(\d{1,6})/(\d{1,6})", str(error.get("message") or ""))
    _, status = _parse_info(error.get("codexErrorInfo"))
    reason = {401: "the key was refused", 403: "the key was refused", 429: "too many requests"}.get(
        status or 0, "the provider failed" if status else "the connection was lost"
    )
    count = f" ({counted[1]} of {counted[2]})" if counted else ""
    return f"Retrying{count}: {reason}"


def is_key_refused(error: Mapping[str, Any]) -> bool:
    """Whether the key is refused, so that retries are useless."""
    return _parse_info(error.get("codexErrorInfo"))[1] in (401, 403)


def is_model_unknown(turn: object) -> bool:
    """Whether a turn ended because its provider does not have the model."""
    code, status = _parse_info(as_object(as_object(turn).get("error")).get("codexErrorInfo"))
    return code == "modelNotFound" or status == 404


def _parse_info(info: object) -> tuple[str, int | None]:
    """Parse the error info: `"code"` or `{"code": {"httpStatusCode": 401}}`."""
    if isinstance(info, dict) and info:
        code, details = next(iter(info.items()))
        status = as_object(details).get("httpStatusCode")
        return str(code), status if isinstance(status, int) else None
    return str(info or ""), None


def _match_message(message: str) -> tuple[ErrorType, str] | None:
    return next((known for start, known in _BY_MESSAGE if message.startswith(start)), None)


def _extract_message(message: str) -> str:
    """The message, or the message inside it if it is an HTTP body."""
    try:
        body = json.loads(message)
        message = str(body["error"]["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return clean_line(message)[:1000]


def _parse_delay(message: str) -> float | None:
    if found := _DELAY.search(message):
        minutes, number, unit = found.groups()
        return int(minutes or 0) * 60 + float(number) / (1000 if unit == "ms" else 1)
    return None
