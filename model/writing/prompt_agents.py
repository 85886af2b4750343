"""Chooses the agent, the model and the provider profile of a magic prompt."""

from dataclasses import dataclass
from typing import Final

from model.agents.catalog import SMALLEST
from model.backends.model_list_cache import ModelListCache
from model.domain.projects import Project
from model.preferences import profiles
from model.preferences.precedence import choose_backend, choose_model
from model.preferences.schema import Preferences
from model.store.store import Store

_BRANCH_NAMING: Final = "branch_naming"
"""The only prompt whose model is a preference of its own."""


@dataclass(frozen=True, slots=True)
class PromptAgent:
    """Which agent works for a prompt, and how."""

    backend: str
    model: str
    """A model of this backend; a preset, or a name of the program's own."""
    profile: str
    """The name of a provider profile; empty for the program's own account."""


class PromptAgents:
    """Chooses by the preferences of the prompt, else the project's settings, else the defaults."""

    def __init__(self, store: Store, models: ModelListCache, *, demo: bool = False) -> None:
        self._store = store
        self._models = models
        self._demo = demo

    def choose(self, key: str, project: Project | None) -> PromptAgent:
        """Return the agent for a prompt in a project. `key` is that of the prompt."""
        preferences = self._store.state.preferences
        backend = self._choose_backend(key, project)
        return PromptAgent(
            backend=backend,
            model=self._choose_model(key, backend, preferences),
            profile=profiles.resolve_name(preferences, project, key),
        )

    def _choose_backend(self, key: str, project: Project | None) -> str:
        preferences = self._store.state.preferences
        chosen = preferences.magic_prompt_backends.get(f"{key}_backend")
        if chosen is not None and self._models.catalog.backend(chosen) is None:
            chosen = None  # an agent that is no longer in agents.toml
        return choose_backend(
            project, preferences, chosen, catalog=self._models.catalog, demo=self._demo
        )

    def _choose_model(self, key: str, backend: str, preferences: Preferences) -> str:
        """Return the prompt's model; a preset of another backend maps to this one's equivalent."""
        if key == _BRANCH_NAMING:
            chosen: str = preferences.branch_naming_model
        else:
            chosen = preferences.magic_prompt_models[f"{key}_model"]
        if key == "session_naming" and chosen == _default_model(key):
            chosen = preferences.session_naming_model  # a setting of its own with the same values
        catalog = self._models.catalog
        others = (row.name for row in catalog.backend_rows(demo=True) if row.name != backend)
        if catalog.model(backend, chosen) is None and any(
            catalog.model(other, chosen) for other in others
        ):
            default = choose_model(backend, preferences)
            return SMALLEST.get(backend, default) if chosen in SMALLEST.values() else default
        return chosen


def _default_model(key: str) -> str:
    defaults: dict[str, str] = Preferences.model_fields["magic_prompt_models"].default
    return defaults[f"{key}_model"]
