"""What can be chosen for a setting, and what people call it: for every screen's settings."""

from typing import Final

from model.agents.catalog import DEMO, Catalog
from model.preferences.fields import PreferenceField
from model.preferences.schema import TEXTS_OR_NULLS, Preferences

PROFILES: Final = ("default_provider", "magic_prompt_providers")
"""Settings that name provider profiles, which a person makes first."""

_MODELS_OF: Final = {
    "selected_model": "backend_a",
    "session_naming_model": "backend_a",
    "branch_naming_model": "backend_a",
    "magic_prompt_models": "backend_a",
    "selected_codex_model": "backend_b",
    "selected_opencode_model": "backend_c",
}
"""Whose models a setting names."""

_AGENTS: Final = ("default_backend", "build_backend", "yolo_backend", "magic_prompt_backends")


def choices(
    field: PreferenceField, preferences: Preferences, catalog: Catalog
) -> tuple[tuple[str, str], ...]:
    """The values that a setting, or each entry of one, may have, with their labels.

    Empty where the value is written freely.
    """
    values = field.choices
    if field.key in _AGENTS:
        values = tuple(row.name for row in catalog.backends if row.name != DEMO.name)
    elif field.key in PROFILES:
        values = tuple(profile.name for profile in preferences.custom_cli_profiles)
    elif field.key == "magic_prompt_models":
        row = catalog.backend("backend_a")
        # Presets come before them, and are not followed by what they stand for.
        named = reversed(row.models if row is not None else ())
        values = tuple({model.passed: model.name for model in named if model.name}.values())[::-1]
    return tuple((value, label(field.key, value, catalog)) for value in values)


def label(key: str, value: str, catalog: Catalog) -> str:
    """What people call a value of this setting; the value itself where it has no other name."""
    if key in _MODELS_OF:
        return catalog.label(_MODELS_OF[key], value)
    return catalog.label(value) if key in (*_AGENTS, "editor", "terminal") else value


def takes_null(field: PreferenceField) -> bool:
    """Whether the setting, or an entry of it, may be null."""
    return field.nullable or field.form == TEXTS_OR_NULLS
