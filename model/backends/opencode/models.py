"""What the providers of OpenCode offer: how far a model's context goes, how hard it can think."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from model.backends.base import Settings
from model.backends.opencode.model_list import Own, listed
from model.domain.resources import Effort

_VARIANTS: Final[dict[Effort, tuple[str, ...]]] = {
    "low": ("low", "minimal"),
    "medium": ("medium", "low"),
    "high": ("high", "medium"),
    "xhigh": ("xhigh", "high"),
    "max": ("max", "xhigh", "high"),
}
"""What a model may call an effort, the best first; a model that has none of them takes its own."""

_MOST_NAMED: Final = 8
"""Models that are named where one is not there."""

_NOTHING: Final = Own()

_NO_THINKING: Final = ("none", "minimal", "low")


class Models:
    """The models by `provider/model`, from what the program tells of its providers."""

    def __init__(self, told: object, own: Own = _NOTHING) -> None:
        self._models = dict(_models(told))
        self.own = own
        self.listed = listed(told, own)
        """For those who choose."""

    def fitting(self, settings: Settings) -> Settings:
        """The same, without a preset that no provider has."""
        lacks = settings.model_is_preset and self.lacks(settings.model)
        return replace(settings, model="") if lacks else settings

    def variant(self, model: str, settings: Settings) -> str | None:
        """Which of its variants thinks as hard as the settings say; `None` for no choice."""
        offered = self._models.get(model, {}).get("variants")
        wanted = _NO_THINKING if settings.thinking == "off" else _VARIANTS[settings.effort]
        known = offered if isinstance(offered, Mapping) else {}
        return next((name for name in wanted if name in known), None)

    def lacks(self, model: str) -> str | None:
        """Why a turn with this model cannot begin and what to do; `None` where it may.

        Where the program told nothing of its providers it is left to say so itself.
        """
        if not model or not self._models or model in self._models:
            return None
        known = sorted(self._models)
        more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
        return (
            f"OpenCode has no model “{model}” here. It has {', '.join(known[:_MOST_NAMED])}{more}. "
            "Choose one of these for the session, and as OpenCode's model in the preferences."
        )

    def window(self, model: str) -> int | None:
        """How many tokens a conversation may have."""
        limits = self._models.get(model, {}).get("limit")
        window = limits.get("context") if isinstance(limits, Mapping) else None
        return window if isinstance(window, int) and window > 0 else None


def _models(told: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    providers = told.get("providers") if isinstance(told, Mapping) else None
    for provider in providers if isinstance(providers, list) else ():
        models = provider.get("models") if isinstance(provider, Mapping) else None
        for name, model in models.items() if isinstance(models, Mapping) else ():
            if isinstance(model, Mapping):
                yield f"{provider.get('id')}/{name}", model
