"""Codex's models: those from `model/list`, and the one in the user's configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from model.backends.base import Settings
from model.backends.json_values import Json, as_object, as_objects
from model.backends.model_lists import ModelList, OfferedModel
from model.backends.process import build_agent_environment

_BUILT_IN_PROVIDER: Final = "openai"


@dataclass(frozen=True, slots=True)
class UserConfig:
    """The model settings in the user's configuration; a profile takes precedence."""

    model: str = ""
    has_provider: bool = False
    """Whether it names a custom provider, whose models the program does not list."""
    effort: str = ""

    @classmethod
    def from_response(cls, response: Mapping[str, Any], profile: Mapping[str, Any]) -> "UserConfig":
        """Create from the response to `config/read`."""
        settings = {**as_object(response.get("config")), **profile}
        provider = settings.get("model_provider")
        return cls(
            model=str(settings.get("model") or ""),
            has_provider=bool(provider) and provider != _BUILT_IN_PROVIDER,
            effort=str(settings.get("model_reasoning_effort") or ""),
        )


class Models:
    """The models that a running program lists, including hidden ones."""

    def __init__(self, listed: object = None) -> None:
        self._models = [each for each in as_objects(listed) if each.get("model")]

    def list_efforts(self, model: str) -> Sequence[str]:
        """The efforts that the model supports; empty if unknown."""
        found = (each for each in self._models if each["model"] == model)
        return _parse_efforts(next(found, {}))

    def default_model(self, config: UserConfig) -> str:
        """The model of a turn if none is chosen."""
        defaults = (str(each["model"]) for each in self._models if each.get("isDefault"))
        return config.model or next(defaults, "")

    def may_have(self, settings: Settings, config: UserConfig) -> bool:
        """Whether the program and the user's provider may have the chosen model.

        A name that the user entered is not checked.
        """
        if not settings.model_is_preset or not settings.model or not self._models:
            return True
        is_listed = any(each["model"] == settings.model for each in self._models)
        return is_listed and not config.has_provider

    def initial_model(self, settings: Settings, config: UserConfig) -> str:
        """The model to open a thread with."""
        chosen = settings.model if self.may_have(settings, config) else ""
        return chosen or self.default_model(config)

    def to_model_list(self, config: UserConfig) -> ModelList:
        """The list to choose from."""
        visible = [each for each in self._models if not each.get("hidden")]
        return ModelList(
            models=[_to_model(each) for each in visible],
            default=self.default_model(config),
            is_own_provider=config.has_provider,
        )


def user_files(environment: Mapping[str, str]) -> list[Path]:
    """The user's configuration and sign-in files."""
    variables = build_agent_environment(environment)
    home = Path(variables.get("HOME") or Path.home())
    folder = Path(variables.get("CODEX_HOME") or home / ".codex")
    return [folder / "config.toml", folder / "auth.json"]


def _to_model(entry: Json) -> OfferedModel:
    return OfferedModel(
        name=str(entry["model"]),
        label=str(entry.get("displayName") or entry["model"]),
        description=str(entry.get("description") or ""),
        efforts=_parse_efforts(entry),
        default_effort=str(entry.get("defaultReasoningEffort") or ""),
        is_superseded=bool(entry.get("upgrade")),
    )


def _parse_efforts(entry: Json) -> list[str]:
    listed = entry.get("supportedReasoningEfforts") or ()
    return [str(each["reasoningEffort"]) for each in listed]
