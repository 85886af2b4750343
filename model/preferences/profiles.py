"""Provider profiles: which one applies, its settings, and the agents that can use it."""

import json
import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from model.agents.catalog import DEMO
from model.base.errors import SpinneyError
from model.base.paths import open_without_waiting
from model.domain.projects import Project
from model.preferences.precedence import first_set
from model.preferences.schema import CliProfile, Preferences

MAX_BYTES: Final = 1_000_000
"""Of a profile's file; a larger one is not a settings file."""

_FIX: Final = "Fix the profile in the preferences."

_IDENTIFYING_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "backend_a": frozenset(
        {"env", "apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "forceLoginMethod"}
    ),
    "backend_b": frozenset(
        {"model_provider", "model_providers", "openai_base_url", "chatgpt_base_url"}
    ),
    "backend_c": frozenset({"provider", "enabled_providers", "disabled_providers"}),
}
"""The settings that direct an agent's requests, by backend; they identify the agent."""


def resolve_name(preferences: Preferences, project: Project | None, prompt: str = "") -> str:
    """The name of the profile to start an agent with; empty for the program's own account.

    The profile of `prompt`, if the agent is to write its text, precedes the project's and the
    user's.
    """
    of_prompt = preferences.magic_prompt_providers.get(f"{prompt}_provider")
    of_project = project.default_provider if project else None
    return first_set(of_prompt, of_project, preferences.default_provider, "")


def find_profile(name: str, preferences: Preferences) -> CliProfile | None:
    """Find a profile; `None` for an empty name. Raises `SpinneyError` if it does not exist."""
    if not name:
        return None
    profile = next((each for each in preferences.custom_cli_profiles if each.name == name), None)
    if profile is None:
        raise SpinneyError(
            f"The provider profile '{name}' no longer exists. Choose another in the preferences"
            " or in the project's settings."
        )
    return profile


def read_settings(profile: CliProfile) -> dict[str, Any]:
    """Read all settings of a profile: its own take precedence over those in its file.

    Raises `SpinneyError` that names the profile, and the file if that is invalid.
    """
    own = profile.settings()
    return (
        merge_settings(_read_settings(profile, profile.file_path), own)
        if profile.file_path
        else own
    )


def is_compatible(settings: Mapping[str, Any], backend: str) -> bool:
    """Whether an agent started with these settings sends its requests accordingly.

    Settings of another agent would be ignored, and the agent would use its own account.
    """
    if not settings or backend == DEMO.name:
        return True
    if backend not in _IDENTIFYING_KEYS:
        return False  # agents of `agents.toml` are configured by environment variables instead
    names = {name.partition(".")[0] for name in settings}
    others = frozenset[str]().union(
        *(keys for row, keys in _IDENTIFYING_KEYS.items() if row != backend)
    )
    return not names.isdisjoint(_IDENTIFYING_KEYS[backend]) or names.isdisjoint(others)


def merge_settings(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two configurations recursively; `above` takes precedence."""
    result = dict(below)
    for key, value in above.items():
        lower = result.get(key)
        if isinstance(lower, Mapping) and isinstance(value, Mapping):
            value = merge_settings(lower, value)
        result[key] = value
    return result


def _read_settings(profile: CliProfile, file: str) -> dict[str, Any]:
    path = Path(file).expanduser()
    subject = f"The file of the provider profile '{profile.name}', {path},"
    if not path.is_absolute():
        raise SpinneyError(f"{subject} must be an absolute path. {_FIX}")
    try:
        content = _read_file(path)
        settings = tomllib.loads(content) if path.suffix == ".toml" else json.loads(content)
        # Dates, which only TOML has, are strings to every agent.
        settings = json.loads(json.dumps(settings, default=str))
    except OSError as error:
        raise SpinneyError(f"{subject} cannot be read: {error.strerror}. {_FIX}") from None
    except (ValueError, RecursionError):
        settings = None
    if not isinstance(settings, dict):
        form = "valid TOML" if path.suffix == ".toml" else "a JSON object"
        raise SpinneyError(f"{subject} does not contain {form}. {_FIX}")
    return settings


def _read_file(path: Path) -> str:
    """Read a regular file of limited size."""
    with open(path, "rb", opener=open_without_waiting) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "it is not a regular file")
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise OSError(0, f"it is larger than {MAX_BYTES:,} bytes")
    return content.decode()
