"""Properties of the models of OpenCode's providers: context size and reasoning variants."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from model.backends.base import Settings
from model.backends.json_values import as_object, as_objects
from model.backends.opencode.model_list import ConfiguredModels, parse_model_list
from model.domain.modes import Effort

_VARIANTS: Final[dict[Effort, tuple[str, ...]]] = {
    "low": ("low", "minimal"),
    "medium": ("medium", "low"),
    "high": ("high", "medium"),
    "xhigh": ("xhigh", "high"),
    "max": ("max", "xhigh", "high"),
}
"""Names of an effort's variants, the best first; a model without any of them uses its default."""

_MAX_LISTED: Final = 8
"""Models that are listed in the message about a missing one."""

_NOTHING: Final = ConfiguredModels()

_NO_THINKING: Final = ("none", "minimal", "low")


class Models:
    """The models by `provider/model`, from the program's list of providers."""

    def __init__(self, response: object, configured: ConfiguredModels = _NOTHING) -> None:
        self._models = dict(_models(response))
        self.configured = configured
        self.listed = parse_model_list(response, configured)
        """The models for selection lists."""

    def drop_missing_preset(self, settings: Settings) -> Settings:
        """Return the settings without a preset model that no provider has."""
        is_missing = settings.model_is_preset and self.missing_message(settings.model)
        return replace(settings, model="") if is_missing else settings

    def variant(self, model: str, settings: Settings) -> str | None:
        """The model's variant with the reasoning effort of the settings; `None` for its default."""
        variants = as_object(self._models.get(model, {}).get("variants"))
        names = _NO_THINKING if settings.thinking == "off" else _VARIANTS[settings.effort]
        return next((name for name in names if name in variants), None)

    def missing_message(self, model: str) -> str | None:
        """The error message if no provider has this model; `None` otherwise.

        If the program reported no providers, it is left to report the error itself.
        """
        if not model or not self._models or model in self._models:
            return None
        known = sorted(self._models)
        more = f" and {len(known) - _MAX_LISTED} more" if len(known) > _MAX_LISTED else ""
        return (
            f"OpenCode has no model '{model}' here. It has {', '.join(known[:_MAX_LISTED])}{more}. "
            "Choose one of these for the session, and as OpenCode's model in the preferences."
        )

    def context_window(self, model: str) -> int | None:
        """The most tokens of a conversation."""
        window = as_object(self._models.get(model, {}).get("limit")).get("context")
        return window if isinstance(window, int) and window > 0 else None


def _models(response: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for provider in as_objects(as_object(response).get("providers")):
        for name, model in as_object(provider.get("models")).items():
            if isinstance(model, dict):
                yield f"{provider.get('id')}/{name}", model
