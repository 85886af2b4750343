"""The models of Codex: what `model/list` tells, and the person's own in the configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from model.backends.base import Settings
from model.backends.model_lists import ModelList, OfferedModel
from model.backends.process import agent_environment

Json = dict[str, Any]

_BUILT_IN_PROVIDER: Final = "openai"


@dataclass(frozen=True, slots=True)
class Own:
    """What the person's configuration says of models, a profile first."""

    model: str = ""
    has_provider: bool = False
    """Whether it names a provider of their own, whose models the program does not list."""
    effort: str = ""

    @classmethod
    def of(cls, read: Mapping[str, Any], profile: Mapping[str, Any]) -> "Own":
        """From the answer to `config/read`."""
        config = read.get("config")
        told = {**(config if isinstance(config, dict) else {}), **profile}
        provider = told.get("model_provider")
        return cls(
            model=str(told.get("model") or ""),
            has_provider=bool(provider) and provider != _BUILT_IN_PROVIDER,
            effort=str(told.get("model_reasoning_effort") or ""),
        )


class Models:
    """Those that one running program told, hidden ones too."""

    def __init__(self, told: object = None) -> None:
        models = told if isinstance(told, list) else []
        self._told = [each for each in models if isinstance(each, dict) and each.get("model")]

    def efforts(self, model: str) -> Sequence[str]:
        """What the model can be told to make; empty where that is not known."""
        found = (each for each in self._told if each["model"] == model)
        return _efforts(next(found, {}))

    def default(self, own: Own) -> str:
        """What a turn takes where no model is chosen."""
        of_program = (str(each["model"]) for each in self._told if each.get("isDefault"))
        return own.model or next(of_program, "")

    def knows(self, settings: Settings, own: Own) -> bool:
        """Whether the program and the person's provider may know the model that is set.

        A name that somebody wrote is theirs to answer for.
        """
        if not settings.model_is_preset or not settings.model or not self._told:
            return True
        is_listed = any(each["model"] == settings.model for each in self._told)
        return is_listed and not own.has_provider

    def at_start(self, settings: Settings, own: Own) -> str:
        """The model that a thread is opened with."""
        chosen = settings.model if self.knows(settings, own) else ""
        return chosen or self.default(own)

    def listed(self, own: Own) -> ModelList:
        """For those who choose."""
        visible = [each for each in self._told if not each.get("hidden")]
        return ModelList(
            models=[_offered(each) for each in visible],
            default=self.default(own),
            is_own_provider=own.has_provider,
        )


def persons_files(environment: Mapping[str, str]) -> list[Path]:
    """The person's configuration and sign-in."""
    found = agent_environment(environment)
    home = Path(found.get("HOME") or Path.home())
    folder = Path(found.get("CODEX_HOME") or home / ".codex")
    return [folder / "config.toml", folder / "auth.json"]


def _offered(told: Json) -> OfferedModel:
    return OfferedModel(
        name=str(told["model"]),
        label=str(told.get("displayName") or told["model"]),
        description=str(told.get("description") or ""),
        efforts=_efforts(told),
        default_effort=str(told.get("defaultReasoningEffort") or ""),
        is_superseded=bool(told.get("upgrade")),
    )


def _efforts(told: Json) -> list[str]:
    known = told.get("supportedReasoningEfforts") or ()
    return [str(each["reasoningEffort"]) for each in known]
