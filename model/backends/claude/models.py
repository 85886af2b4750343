"""The models of Claude Code: what its greeting lists, and which one the person's settings name."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from model.backends.claude.json_values import Line, as_object, as_objects
from model.backends.model_lists import ModelList, OfferedModel
from model.backends.process import agent_environment

_DEFAULT: Final = "default"
_OWN: Final = "ANTHROPIC_MODEL"
"""The environment variable that goes before the files."""

_MOST_BYTES: Final = 1_000_000

_COMMAND: Final = re.compile(r"/model\s+\S")


def listed(introduction: Line, own: str) -> ModelList:
    """What the answer to `initialize` lists; `own` is the model of the person's settings."""
    told = [each for each in as_objects(introduction.get("models")) if each.get("value")]
    default = next((each for each in told if each["value"] == _DEFAULT), {})
    offered = [_offered(each) for each in told if each["value"] != _DEFAULT]
    return ModelList(models=offered, default=own or str(default.get("resolvedModel") or ""))


def chooses(text: str) -> bool:
    """Whether a message is the program's command that chooses a model."""
    return _COMMAND.match(text.lstrip()) is not None


def own_model(worktree: Path, environment: Mapping[str, str], profile: Mapping[str, Any]) -> str:
    """The model that the settings of the profile, the project and the person name, if any."""
    found = agent_environment(environment)
    layers = _layers(worktree, found, profile)
    variables = [as_object(each.get("env")).get(_OWN) for each in layers]
    named = [*variables, found.get(_OWN), *(each.get("model") for each in layers)]
    return next((name.strip() for name in named if isinstance(name, str) and name.strip()), "")


def own_effort(worktree: Path, environment: Mapping[str, str], profile: Mapping[str, Any]) -> str:
    """The `effortLevel` that the settings of the profile, the project and the person name."""
    layers = _layers(worktree, agent_environment(environment), profile)
    named = (each.get("effortLevel") for each in layers)
    return next((name for name in named if isinstance(name, str) and name), "")


def persons_files(environment: Mapping[str, str]) -> list[Path]:
    """The person's settings and sign-in."""
    folder = _folder(agent_environment(environment))
    return [folder / "settings.json", folder / ".credentials.json"]


def _layers(
    worktree: Path, environment: Mapping[str, str], profile: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """What says something of the program, first what goes first."""
    return [profile, *(_settings(file) for file in _files(worktree, environment))]


def _files(worktree: Path, environment: Mapping[str, str]) -> Iterable[Path]:
    for name in ("settings.local.json", "settings.json"):
        yield worktree / ".claude" / name
    yield worktree / _folder(environment) / "settings.json"


def _folder(environment: Mapping[str, str]) -> Path:
    home = Path(environment.get("HOME") or Path.home())
    return Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude")


def _settings(file: Path) -> Mapping[str, Any]:
    """A file of settings; what cannot be read is the program's to complain about."""
    try:
        with file.open("rb") as opened:
            return as_object(json.loads(opened.read(_MOST_BYTES)))
    except (OSError, ValueError, RecursionError):
        return {}


def _offered(told: Line) -> OfferedModel:
    """Its description begins with the name that people know: `Opus 5.5 · Best for …` (2.1.329)."""
    label = str(told.get("displayName") or told["value"])
    name, _, about = str(told.get("description") or "").partition(" · ")
    if not about or label.casefold() not in name.casefold():
        name, about = label, str(told.get("description") or "")
    efforts = told.get("supportedEffortLevels") if told.get("supportsEffort") else None
    return OfferedModel(
        name=str(told["value"]),
        label=name,
        description=about,
        efforts=[str(each) for each in efforts] if isinstance(efforts, list) else [],
        answers_as=str(told.get("resolvedModel") or ""),
    )
