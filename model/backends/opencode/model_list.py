"""OpenCode's selectable models: those of all connected providers."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.backends.json_values import as_object, as_objects
from model.backends.model_lists import ModelList, OfferedModel
from model.backends.process import build_agent_environment


@dataclass(frozen=True, slots=True)
class ConfiguredModels:
    """The models that the user's configuration selects."""

    model: str = ""
    small: str = ""

    @classmethod
    def parse(cls, response: object) -> "ConfiguredModels":
        """Parse the response to `GET /config`; its other fields, such as keys, are discarded."""
        config = as_object(response)
        return cls(str(config.get("model") or ""), str(config.get("small_model") or ""))


def parse_model_list(response: object, configured: ConfiguredModels) -> ModelList:
    """Parse the response to `GET /config/providers`."""
    providers = as_objects(as_object(response).get("providers"))
    several = len(providers) > 1
    models = [
        _model(provider, str(name), model, several=several)
        for provider in providers
        for name, model in as_object(provider.get("models")).items()
        if isinstance(model, Mapping) and _supports_tools(model)
    ]
    return ModelList(models=models, default=configured.model, small=configured.small)


def user_files(environment: Mapping[str, str]) -> list[Path]:
    """The user's configuration and sign-in files, in their usual locations."""
    variables = build_agent_environment(environment)
    home = Path(variables.get("HOME") or Path.home())
    config = Path(variables.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"
    data = Path(variables.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"
    own = variables.get("OPENCODE_CONFIG")
    files = [config / "opencode.json", config / "opencode.jsonc", data / "auth.json"]
    return [*files, Path(own)] if own else files


def _model(
    provider: Mapping[str, Any], name: str, model: Mapping[str, Any], *, several: bool
) -> OfferedModel:
    return OfferedModel(
        name=f"{provider.get('id')}/{name}",
        label=str(model.get("name") or name),
        description=str(provider.get("name") or provider.get("id")) if several else "",
        efforts=[str(each) for each in as_object(model.get("variants"))],
        is_superseded=model.get("status") == "deprecated",
    )


def _supports_tools(model: Mapping[str, Any]) -> bool:
    """Whether it can be used in a session; providers also have models for images and audio."""
    return as_object(model.get("capabilities")).get("toolcall") is not False
