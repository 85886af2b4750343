"""Reading settings from a stored object, changing them, and hiding their secrets.

What a person stored is never refused as a whole: one bad value costs that value only. What a client
asks to change is taken as a whole or not at all.
"""

import difflib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, get_args

from pydantic import ValidationError

from model.base.errors import SpinneyError
from model.base.text import make_json_visible
from model.preferences.fields import preference_fields
from model.preferences.migrations import migrated
from model.preferences.schema import BACKEND, MERGED_KEYS, CliProfile, DefaultBackend, Preferences

REDACTED = "(hidden)"
"""Stands for a secret at clients on other machines. Sent back, it leaves the secret as it is."""


def parse_preferences(stored: Mapping[str, Any]) -> tuple[Preferences, list[str]]:
    """The settings in a stored object, and a sentence for each value that could not be used."""
    values = migrated(make_json_visible(dict(stored)))
    try:
        return Preferences.model_validate(values), []
    except ValidationError as error:
        bad = _bad_keys(error)
    problems = [
        f"The setting '{key}' must {preference_fields()[key].requirement}; "
        f"its default, {_shown(preference_fields()[key].default)}, is used."
        for key in bad
    ]
    good = {key: value for key, value in values.items() if key not in bad}
    return Preferences.model_validate(good), problems


def changed(preferences: Preferences, changes: Mapping[str, Any]) -> Preferences:
    """`preferences` with all of `changes`, or a `SpinneyError` that names the first bad keys.

    A value replaces the old one, except that the objects of magic prompts may be partial.
    """
    changes = make_json_visible(dict(changes))
    for key in changes:
        if key not in Preferences.model_fields:
            raise SpinneyError(_unknown(key))
    values = preferences.model_dump()
    for key, value in changes.items():
        values[key] = _merged(key, values[key], _with_secrets(preferences, key, value))
    try:
        wanted = Preferences.model_validate(values)
    except ValidationError as error:
        sentences = [
            f"Invalid preference '{key}': must {preference_fields()[key].requirement}"
            for key in _bad_keys(error)
        ]
        raise SpinneyError("\n".join(sentences)) from None
    for key, objection in _OBJECTIONS.items():
        why = objection(wanted) if getattr(wanted, key) != getattr(preferences, key) else None
        if why is not None:
            raise SpinneyError(f"Invalid preference '{key}': {why}")
    return wanted


def redacted(preferences: Preferences) -> Preferences:
    """What clients on other machines see: no secrets, and no keys that may be some unawares."""
    known = {key: getattr(preferences, key) for key in Preferences.model_fields}
    for key, value in known.items():
        if preference_fields()[key].secret and isinstance(value, str):
            known[key] = REDACTED
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


def _shown(value: Any) -> str:
    """A default, as a person would write it."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else "the built-in one"


def _unknown(key: str) -> str:
    close = difflib.get_close_matches(key, Preferences.model_fields, n=1)
    hint = f" Did you mean '{close[0]}'?" if close else ""
    return f"Unknown preference '{key}'.{hint}"


def _merged(key: str, old: Any, new: Any) -> Any:
    """`new`, completed by the entries of `old` where the key's object has a fixed set of them."""
    if key not in MERGED_KEYS or not isinstance(new, dict):
        return new
    strange = next((entry for entry in new if entry not in old), None)
    if strange is not None:
        raise SpinneyError(f"Invalid preference '{key}': there is no entry '{strange}'")
    return {**old, **new}


def _with_secrets(preferences: Preferences, key: str, value: Any) -> Any:
    """`value`, with the stored secret where a client sent back the word that hides it."""
    if not preference_fields()[key].secret:
        return value
    if value == REDACTED:
        return getattr(preferences, key)
    if key == "custom_cli_profiles" and isinstance(value, list):
        stored = {profile.name: profile for profile in preferences.custom_cli_profiles}
        return [_revealed(profile, stored) for profile in value]
    return value


def _revealed(profile: Any, stored: Mapping[str, CliProfile]) -> Any:
    if not isinstance(profile, dict) or profile.get("settings_json") != REDACTED:
        return profile
    name = profile.get("name")
    if not isinstance(name, str) or name not in stored:
        raise SpinneyError(
            "Invalid preference 'custom_cli_profiles': a renamed profile needs its settings again"
        )
    return {**stored[name].model_dump(), **profile, "settings_json": stored[name].settings_json}


# What only a new value must be: what is stored already still serves -------------------------------


def _about_profiles(wanted: Preferences) -> str | None:
    names = [profile.name for profile in wanted.custom_cli_profiles]
    if not all(name.strip() for name in names):
        return "each profile needs a name"
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        return f"two profiles are named '{twice}'"
    for profile in wanted.custom_cli_profiles:
        try:
            settings = json.loads(profile.settings_json)
        except (ValueError, RecursionError):
            settings = None
        if not isinstance(settings, dict):
            return f"settings_json of '{profile.name}' must be the text of a JSON object"
    return None


def _about_backends(wanted: Preferences) -> str | None:
    known = get_args(DefaultBackend)
    for entry, backend in wanted.magic_prompt_backends.items():
        is_own = backend is not None and backend.startswith("acp:")
        if backend is not None and backend not in known and not is_own:
            return f"'{entry}' must be {BACKEND} or null"
    return None


def _about_token(wanted: Preferences) -> str | None:
    token = wanted.http_server_token
    if token is None or re.fullmatch(r"[\w.~-]{16,}", token, re.ASCII):
        return None
    return "must be at least 16 letters, digits and - _ . ~, or null to have one made"


_OBJECTIONS: dict[str, Callable[[Preferences], str | None]] = {
    "custom_cli_profiles": _about_profiles,
    "magic_prompt_backends": _about_backends,
    "http_server_token": _about_token,
}
