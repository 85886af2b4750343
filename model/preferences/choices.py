"""The choices of each setting and their labels, for the settings pages of all user interfaces."""

from typing import Final

from model.agents.catalog import DEMO, Catalog
from model.preferences.fields import PreferenceField
from model.preferences.schema import TEXTS_OR_NULLS, Preferences

PROFILES: Final = ("default_provider", "magic_prompt_providers")
"""Settings whose values are names of the user's provider profiles."""

_MODEL_BACKENDS: Final = {
    "selected_model": "backend_a",
    "session_naming_model": "backend_a",
    "branch_naming_model": "backend_a",
    "magic_prompt_models": "backend_a",
    "selected_codex_model": "backend_b",
    "selected_opencode_model": "backend_c",
}
"""The backend whose models a setting selects from."""

_AGENTS: Final = ("default_backend", "build_backend", "yolo_backend", "magic_prompt_backends")


def choices(
    field: PreferenceField, preferences: Preferences, catalog: Catalog
) -> tuple[tuple[str, str], ...]:
    """List the values of a setting, or of each of its entries, with their labels.

    Empty if any value is allowed.
    """
    values = field.choices
    if field.key in _AGENTS:
        values = tuple(row.name for row in catalog.backends if row.name != DEMO.name)
    elif field.key in PROFILES:
        values = tuple(profile.name for profile in preferences.custom_cli_profiles)
    elif field.key == "magic_prompt_models":
        row = catalog.backend("backend_a")
        # Presets come first, and the models that they resolve to are not repeated after them.
        models = reversed(row.models if row is not None else ())
        values = tuple({model.passed: model.name for model in models if model.name}.values())[::-1]
    return tuple((value, label(field.key, value, catalog)) for value in values)


def label(key: str, value: str, catalog: Catalog) -> str:
    """The label of a value of this setting; the value itself if it has none."""
    if key in _MODEL_BACKENDS:
        return catalog.label(_MODEL_BACKENDS[key], value)
    return catalog.label(value) if key in (*_AGENTS, "editor", "terminal") else value


def takes_null(field: PreferenceField) -> bool:
    """Whether the setting, or an entry of it, may be null."""
    return field.nullable or field.form == TEXTS_OR_NULLS
