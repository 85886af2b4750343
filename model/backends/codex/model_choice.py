"""Which model a session's turns use: the chosen one, or the default if the program lacks it."""

from collections.abc import Awaitable, Callable

from model.backends import agent_events
from model.backends.base import Settings
from model.backends.codex.models import Models, UserConfig
from model.backends.codex.server import NAME


class ModelChoice:
    """The model of one session's turns. Events are emitted through `emit`."""

    def __init__(self, emit: Callable[[agent_events.AgentEvent], Awaitable[None]]) -> None:
        self._emit = emit
        self._reported = ""
        self._unknown: set[str] = set()
        """Preset models that the program or its provider does not have."""

    async def resolve(self, settings: Settings, models: Models, config: UserConfig) -> str:
        """Return the model of the next turn, and report it if it has changed."""
        chosen = settings.model
        if not models.may_have(settings, config) and chosen not in self._unknown:
            await self.reject(chosen, config)
        model = "" if chosen in self._unknown else chosen
        model = model or models.default_model(config)
        if model != self._reported:
            self._reported = model
            await self._emit(agent_events.ModelReported(model))
        return model

    def has_fallback(self, settings: Settings) -> bool:
        """Whether the default model can replace the chosen one: a preset that was not rejected."""
        return settings.model_is_preset and settings.model not in ("", *self._unknown)

    async def reject(self, model: str, config: UserConfig) -> None:
        """Use the default instead of this preset from now on, and notify the user."""
        self._unknown.add(model)
        if not config.has_provider:
            await self._emit(agent_events.Notice(agent_events.model_fallback_notice(NAME, model)))
