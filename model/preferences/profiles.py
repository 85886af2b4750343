"""Provider profiles: which of them holds, what is in it, which agents can be started with it."""

import json
import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from model.agents.catalog import DEMO
from model.base.errors import SpinneyError
from model.domain.resources import Project
from model.preferences.precedence import layered
from model.preferences.schema import CliProfile, Preferences

MAX_BYTES: Final = 1_000_000
"""Of a profile's file; a larger one holds something else."""

_MEND: Final = "Mend the profile in the preferences."

_OWN_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "backend_a": frozenset(
        {"env", "apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "forceLoginMethod"}
    ),
    "backend_b": frozenset(
        {"model_provider", "model_providers", "openai_base_url", "chatgpt_base_url"}
    ),
    "backend_c": frozenset({"provider", "enabled_providers", "disabled_providers"}),
}
"""What says, in settings of an agent, where its requests go: by this one knows whose they are."""


def name_for(preferences: Preferences, project: Project | None, prompt: str = "") -> str:
    """The name of the profile that agents are started with; empty for the program's own account.

    That of the `prompt`, where the agent is to write its text, then the project's, the person's.
    """
    of_prompt = preferences.magic_prompt_providers.get(f"{prompt}_provider")
    of_project = project.default_provider if project else None
    return layered(of_prompt, of_project, preferences.default_provider, "")


def named(name: str, preferences: Preferences) -> CliProfile | None:
    """The profile of this name, `None` for none. Raises `SpinneyError` when it is gone."""
    if not name:
        return None
    found = next((each for each in preferences.custom_cli_profiles if each.name == name), None)
    if found is None:
        raise SpinneyError(
            f"The provider profile “{name}” does not exist any more. Choose another in the"
            " preferences or in the project's settings."
        )
    return found


def read(profile: CliProfile) -> dict[str, Any]:
    """All settings of a profile: those of its file, and its own over them; reads the file.

    Raises `SpinneyError` that names the profile, and the file where that is what is wrong.
    """
    own = profile.settings()
    return merged(_in_file(profile, profile.file_path), own) if profile.file_path else own


def suits(settings: Mapping[str, Any], backend: str) -> bool:
    """Whether an agent can be started with these settings, so that its requests go where they say.

    Those that are plainly another agent's it would not understand, and use its own account.
    """
    if not settings or backend == DEMO.name:
        return True
    if backend not in _OWN_KEYS:
        return False  # agents of one's own have an environment instead
    names = {name.partition(".")[0] for name in settings}
    others = frozenset[str]().union(*(keys for row, keys in _OWN_KEYS.items() if row != backend))
    return not names.isdisjoint(_OWN_KEYS[backend]) or names.isdisjoint(others)


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Two configurations as one; where both speak, `above` holds."""
    result = dict(below)
    for key, value in above.items():
        lower = result.get(key)
        if isinstance(lower, Mapping) and isinstance(value, Mapping):
            value = merged(lower, value)
        result[key] = value
    return result


def _in_file(profile: CliProfile, named: str) -> dict[str, Any]:
    path = Path(named).expanduser()
    where = f"The file of the provider profile “{profile.name}”, {path},"
    if not path.is_absolute():
        raise SpinneyError(f"{where} must be named with its whole path. {_MEND}")
    try:
        content = _content(path)
        found = tomllib.loads(content) if path.suffix == ".toml" else json.loads(content)
        # Dates, which only TOML has, are texts to every agent.
        found = json.loads(json.dumps(found, default=str))
    except OSError as error:
        raise SpinneyError(f"{where} cannot be read: {error.strerror}. {_MEND}") from None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        form = "TOML" if path.suffix == ".toml" else "JSON object"
        raise SpinneyError(f"{where} holds no {form}. {_MEND}")
    return found


def _content(path: Path) -> str:
    """The text of a regular file of bearable size. Without O_NONBLOCK, a named pipe would hang."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(0, "it is no regular file")
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise OSError(0, f"it is larger than {MAX_BYTES:,} bytes")
    return content.decode()
