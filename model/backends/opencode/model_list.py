"""The models of OpenCode as people choose them: those of every provider that is connected."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from model.backends.model_lists import ModelList, OfferedModel
from model.backends.process import agent_environment

_TOLD: Final = "providers"


@dataclass(frozen=True, slots=True)
class Own:
    """What the person's configuration says of models."""

    model: str = ""
    small: str = ""

    @classmethod
    def of(cls, config: object) -> "Own":
        """From the answer to `GET /config`, which holds keys as well: no more of it is kept."""
        told = config if isinstance(config, Mapping) else {}
        return cls(str(told.get("model") or ""), str(told.get("small_model") or ""))


def listed(told: object, own: Own) -> ModelList:
    """From the answer to `GET /config/providers`."""
    providers = told.get(_TOLD) if isinstance(told, Mapping) else None
    known = providers if isinstance(providers, list) else []
    several = len(known) > 1
    models = [
        _offered(provider, str(name), model, several=several)
        for provider in known
        if isinstance(provider, Mapping)
        for name, model in _table(provider.get("models")).items()
        if isinstance(model, Mapping) and _talks(model)
    ]
    return ModelList(models=models, default=own.model, small=own.small)


def persons_files(environment: Mapping[str, str]) -> list[Path]:
    """The person's configuration and sign-in, where they usually are."""
    found = agent_environment(environment)
    home = Path(found.get("HOME") or Path.home())
    config = Path(found.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"
    data = Path(found.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"
    own = found.get("OPENCODE_CONFIG")
    files = [config / "opencode.json", config / "opencode.jsonc", data / "auth.json"]
    return [*files, Path(own)] if own else files


def _offered(
    provider: Mapping[str, Any], name: str, model: Mapping[str, Any], *, several: bool
) -> OfferedModel:
    return OfferedModel(
        name=f"{provider.get('id')}/{name}",
        label=str(model.get("name") or name),
        description=str(provider.get("name") or provider.get("id")) if several else "",
        efforts=[str(each) for each in _table(model.get("variants"))],
        is_superseded=model.get("status") == "deprecated",
    )


def _talks(model: Mapping[str, Any]) -> bool:
    """Whether it can work in a session; providers also have models for pictures and sounds."""
    return _table(model.get("capabilities")).get("toolcall") is not False


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
