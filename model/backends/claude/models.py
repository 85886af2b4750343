"""Claude Code's models: those listed at its start, and the one in the user's settings."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from model.backends.json_values import Json, as_object, as_objects
from model.backends.model_lists import ModelList, OfferedModel
from model.backends.process import build_agent_environment

_DEFAULT: Final = "default"
_MODEL_VARIABLE: Final = "ANTHROPIC_MODEL"
"""The environment variable that takes precedence over the files."""

_MAX_BYTES: Final = 1_000_000

_COMMAND: Final = re.compile(r"/model\s+\S")


def parse_models(response: Json, configured: str) -> ModelList:
    """Parse the response to `initialize`; `configured` is the model in the user's settings."""
    entries = [each for each in as_objects(response.get("models")) if each.get("value")]
    default = next((each for each in entries if each["value"] == _DEFAULT), {})
    offered = [_to_model(each) for each in entries if each["value"] != _DEFAULT]
    return ModelList(models=offered, default=configured or str(default.get("resolvedModel") or ""))


def is_model_command(text: str) -> bool:
    """Whether a message is the program's command to choose a model."""
    return _COMMAND.match(text.lstrip()) is not None


def find_user_model(
    worktree: Path, environment: Mapping[str, str], profile: Mapping[str, Any]
) -> str:
    """The model in the settings of the profile, the project or the user, if any."""
    variables = build_agent_environment(environment)
    layers = _read_layers(worktree, variables, profile)
    from_env = [as_object(each.get("env")).get(_MODEL_VARIABLE) for each in layers]
    names = [*from_env, variables.get(_MODEL_VARIABLE), *(each.get("model") for each in layers)]
    return next((name.strip() for name in names if isinstance(name, str) and name.strip()), "")


def find_user_effort(
    worktree: Path, environment: Mapping[str, str], profile: Mapping[str, Any]
) -> str:
    """The `effortLevel` in the settings of the profile, the project or the user, if any."""
    layers = _read_layers(worktree, build_agent_environment(environment), profile)
    names = (each.get("effortLevel") for each in layers)
    return next((name for name in names if isinstance(name, str) and name), "")


def user_files(environment: Mapping[str, str]) -> list[Path]:
    """The user's settings and sign-in files."""
    folder = find_config_folder(build_agent_environment(environment))
    return [folder / "settings.json", folder / ".credentials.json"]


def _read_layers(
    worktree: Path, environment: Mapping[str, str], profile: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """The settings by precedence, highest first."""
    return [profile, *(_read_settings(file) for file in _settings_files(worktree, environment))]


def _settings_files(worktree: Path, environment: Mapping[str, str]) -> Iterable[Path]:
    for name in ("settings.local.json", "settings.json"):
        yield worktree / ".claude" / name
    yield worktree / find_config_folder(environment) / "settings.json"


def find_config_folder(environment: Mapping[str, str]) -> Path:
    """The program's configuration folder; relative paths are below the worktree."""
    home = Path(environment.get("HOME") or Path.home())
    return Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude")


def _read_settings(file: Path) -> Mapping[str, Any]:
    """Read a settings file; the program itself reports an unreadable one."""
    try:
        with file.open("rb") as stream:
            return as_object(json.loads(stream.read(_MAX_BYTES)))
    except (OSError, ValueError, RecursionError):
        return {}


def _to_model(entry: Json) -> OfferedModel:
    """Convert a model; its description begins with the name: `Opus 5.5 · Best for …` (2.1.329)."""
    label = str(entry.get("displayName") or entry["value"])
    name, _, description = str(entry.get("description") or "").partition(" · ")
    if not description or label.casefold() not in name.casefold():
        name, description = label, str(entry.get("description") or "")
    efforts = entry.get("supportedEffortLevels") if entry.get("supportsEffort") else None
    return OfferedModel(
        name=str(entry["value"]),
        label=name,
        description=description,
        efforts=[str(each) for each in efforts] if isinstance(efforts, list) else [],
        answers_as=str(entry.get("resolvedModel") or ""),
    )
