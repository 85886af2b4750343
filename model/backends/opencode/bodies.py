"""The bodies of a session's prompts, each of which names the model and the settings of its turn."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from model.backends.agent_events import model_fallback_notice
from model.backends.base import Launch, Settings
from model.backends.json_values import Json
from model.backends.opencode import prompt as opencode_prompt
from model.backends.opencode.models import Models
from model.backends.opencode.server import NAME
from model.backends.opencode.stream import OpenCodeStream
from model.base.errors import SpinneyError


class PromptBodies:
    """Builds the bodies of one session's prompts."""

    def __init__(
        self,
        launch: Launch,
        models: Models,
        stream: OpenCodeStream,
        notice: Callable[[str], Awaitable[None]],
    ) -> None:
        self._launch = launch
        self._models = models
        self._stream = stream
        self._notice = notice
        self._has_named_model = False
        """Whether a prompt named a model."""
        self._missing_presets: set[str] = set()
        """The presets that no provider has."""

    async def build(self, parts: list[Json], settings: Settings) -> dict[str, Any]:
        """The body of a prompt. Raises `SpinneyError` if the model is missing."""
        settings = await self._resolve_model(settings)
        model = settings.model or self._stream.model or self._models.configured.model
        if problem := self._models.missing_message(settings.model):
            raise SpinneyError(problem)
        body = dict(opencode_prompt.build_body(parts, self._launch, settings))
        if variant := self._models.variant(model, settings):
            body["variant"] = variant
        return body

    async def _resolve_model(self, settings: Settings) -> Settings:
        """The settings without a preset model that no provider has."""
        preset = settings.model
        settings = self._models.drop_missing_preset(settings)
        if settings.model != preset and preset not in self._missing_presets:
            self._missing_presets.add(preset)
            await self._notice(model_fallback_notice(NAME, preset))
        if not settings.model and self._has_named_model:  # a prompt without one keeps the last
            settings = replace(settings, model=self._models.configured.model)
        self._has_named_model = self._has_named_model or bool(settings.model)
        return settings
