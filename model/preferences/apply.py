"""Parses stored settings, applies changes to them, and redacts their secrets.

Stored settings are never rejected as a whole: an invalid value only falls back to its default.
Changes by a client are applied completely or not at all.
"""

import difflib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, get_args
from urllib.parse import urlsplit

from pydantic import ValidationError

from model.base.errors import SpinneyError
from model.base.text import make_json_visible
from model.preferences.fields import preference_fields
from model.preferences.migrations import migrate
from model.preferences.prompts import check_prompt
from model.preferences.schema import (
    BACKEND,
    MERGED_KEYS,
    PROMPT_KEYS,
    CliProfile,
    DefaultBackend,
    Preferences,
)

REDACTED = "(hidden)"
"""Replaces secrets for clients on other machines. If sent back, the secret stays unchanged."""


def parse_preferences(stored: Mapping[str, Any]) -> tuple[Preferences, list[str]]:
    """Parse a stored object; return the settings and a message for each invalid value."""
    values = migrate(make_json_visible(dict(stored)))
    try:
        return Preferences.model_validate(values), []
    except ValidationError as error:
        bad = _bad_keys(error)
    problems = [
        f"The setting '{key}' must {preference_fields()[key].requirement}; "
        f"the default, {_format_default(preference_fields()[key].default)}, is used."
        for key in bad
    ]
    good = {key: value for key, value in values.items() if key not in bad}
    return Preferences.model_validate(good), problems


def apply_changes(preferences: Preferences, changes: Mapping[str, Any]) -> Preferences:
    """Apply all `changes` to `preferences`. Raises `SpinneyError` naming the invalid keys.

    A value replaces the old one, except that the objects of magic prompts may be partial.
    """
    changes = make_json_visible(dict(changes))
    for key in changes:
        if key not in Preferences.model_fields:
            raise SpinneyError(_unknown_message(key))
    values = preferences.model_dump()
    for key, value in changes.items():
        values[key] = _complete(key, values[key], _restore_secrets(preferences, key, value))
    try:
        result = Preferences.model_validate(values)
    except ValidationError as error:
        sentences = [
            f"Invalid preference '{key}': must {preference_fields()[key].requirement}"
            for key in _bad_keys(error)
        ]
        raise SpinneyError("\n".join(sentences)) from None
    for key, check in _CHECKS.items():
        is_new = getattr(result, key) != getattr(preferences, key)
        problem = check(result, preferences) if is_new else None
        if problem is not None:
            raise SpinneyError(f"Invalid preference '{key}': {problem}")
    return result


def redact(preferences: Preferences) -> Preferences:
    """Return what clients on other machines see: no secrets and no unknown keys."""
    known = {key: getattr(preferences, key) for key in Preferences.model_fields}
    urls = preferences.notify_urls
    for key, value in known.items():
        if preference_fields()[key].secret and isinstance(value, str):
            known[key] = REDACTED
    known["notify_urls"] = list(map(_redact_url, range(len(urls)), urls))
    known["custom_cli_profiles"] = [
        CliProfile(
            name=profile.name,
            settings_json=REDACTED,
            file_path=profile.file_path,
            supports_thinking=profile.supports_thinking,
        )
        for profile in preferences.custom_cli_profiles
    ]
    return Preferences.model_construct(**known)


def _bad_keys(error: ValidationError) -> list[str]:
    return list(dict.fromkeys(str(problem["loc"][0]) for problem in error.errors()))


def _format_default(value: Any) -> str:
    """A default, as a user would write it."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else "the built-in value"


def _unknown_message(key: str) -> str:
    close = difflib.get_close_matches(key, Preferences.model_fields, n=1)
    hint = f" Did you mean '{close[0]}'?" if close else ""
    return f"Unknown preference '{key}'.{hint}"


def _complete(key: str, old: Any, new: Any) -> Any:
    """`new`, completed with the entries of `old` if the key's object has a fixed set of them."""
    if key not in MERGED_KEYS or not isinstance(new, dict):
        return new
    unknown = next((entry for entry in new if entry not in old), None)
    if unknown is not None:
        raise SpinneyError(f"Invalid preference '{key}': there is no entry '{unknown}'")
    return {**old, **new}


def _restore_secrets(preferences: Preferences, key: str, value: Any) -> Any:
    """`value`, with the stored secret if a client sent back its redacted form."""
    if not preference_fields()[key].secret:
        return value
    if value == REDACTED:
        return getattr(preferences, key)
    if key == "notify_urls" and isinstance(value, list):
        hidden = {_redact_url(n, url): url for n, url in enumerate(preferences.notify_urls)}
        return [hidden.get(url, url) if isinstance(url, str) else url for url in value]
    if key == "custom_cli_profiles" and isinstance(value, list):
        stored = {profile.name: profile for profile in preferences.custom_cli_profiles}
        return [_restore_profile(profile, stored) for profile in value]
    return value


def _redact_url(index: int, url: str) -> str:
    """`slack://(hidden) 2` for the second of the addresses; sent back, it stays unchanged."""
    return f"{url.partition('://')[0][:20]}://{REDACTED} {index + 1}"


def _restore_profile(profile: Any, stored: Mapping[str, CliProfile]) -> Any:
    if not isinstance(profile, dict) or profile.get("settings_json") != REDACTED:
        return profile
    name = profile.get("name")
    if not isinstance(name, str) or name not in stored:
        raise SpinneyError(
            "Invalid preference 'custom_cli_profiles': a renamed profile needs its settings again"
        )
    return {**stored[name].model_dump(), **profile, "settings_json": stored[name].settings_json}


# Checks of new values only: values that are stored already stay valid ----------------------------


def _check_profiles(preferences: Preferences, _: Preferences) -> str | None:
    names = [profile.name for profile in preferences.custom_cli_profiles]
    if not all(name.strip() for name in names):
        return "each profile needs a name"
    if len(set(names)) < len(names):
        duplicate = next(name for name in names if names.count(name) > 1)
        return f"two profiles are named '{duplicate}'"
    for profile in preferences.custom_cli_profiles:
        try:
            settings = json.loads(profile.settings_json)
        except (ValueError, RecursionError):
            settings = None
        if not isinstance(settings, dict):
            return f"settings_json of '{profile.name}' must be the text of a JSON object"
    return None


def _check_backends(preferences: Preferences, _: Preferences) -> str | None:
    known = get_args(DefaultBackend)
    for entry, backend in preferences.magic_prompt_backends.items():
        is_custom = backend is not None and backend.startswith("acp:")
        if backend is not None and backend not in known and not is_custom:
            return f"'{entry}' must be {BACKEND} or null"
    return None


def _check_prompts(preferences: Preferences, before: Preferences) -> str | None:
    for key in PROMPT_KEYS:
        text = preferences.magic_prompts.get(key)
        is_new = text != before.magic_prompts.get(key)
        if text and is_new and (problem := check_prompt(key, text)) is not None:
            return problem
    return None


def _check_token(preferences: Preferences, _: Preferences) -> str | None:
    token = preferences.http_server_token
    if token is None or re.fullmatch(r"[\w.~-]{16,}", token, re.ASCII):
        return None
    return "must be at least 16 letters, digits and - _ . ~, or null to generate one"


def _check_ntfy_url(preferences: Preferences, _: Preferences) -> str | None:
    url = preferences.notify_ntfy_url
    if url is None or (_is_web_address(url) and re.search(r"[^/]/[-\w]{1,64}/?\Z", url)):
        return None
    return "must be an address with a topic, such as https://ntfy.sh/a-long-random-name, or null"


def _check_link(preferences: Preferences, _: Preferences) -> str | None:
    url = preferences.notify_link
    if not url or _is_web_address(url):
        return None
    return "must be an address that begins with http:// or https://, or empty"


def _check_urls(preferences: Preferences, _: Preferences) -> str | None:
    for url in preferences.notify_urls:
        if not re.match(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://", url):
            return "each must be an address such as tgram://token/chat"
        if REDACTED in url:
            return "enter the hidden address again"
    return None


def _check_command(preferences: Preferences, _: Preferences) -> str | None:
    words = preferences.notify_command
    if words and not words[0].strip():
        return "the first word must be a program"
    return "no word may contain a null character" if any("\0" in each for each in words) else None


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    is_plain = not re.search(r"[\s<>\"\\]", url)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and is_plain


def _check_host(preferences: Preferences, _: Preferences) -> str | None:
    from model.service.addresses import is_address  # Only the server needs it otherwise.

    host = preferences.http_server_host
    if not host or is_address(host):
        return None
    return "must be an IP address of this machine, or empty for all"


_CHECKS: dict[str, Callable[[Preferences, Preferences], str | None]] = {
    "magic_prompts": _check_prompts,
    "custom_cli_profiles": _check_profiles,
    "magic_prompt_backends": _check_backends,
    "http_server_host": _check_host,
    "http_server_token": _check_token,
    "notify_ntfy_url": _check_ntfy_url,
    "notify_link": _check_link,
    "notify_urls": _check_urls,
    "notify_command": _check_command,
}
