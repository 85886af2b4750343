"""The models that an agent's program reports, and the model that each preset means there.

A preset of the interface is a role. For Claude Code it is the newest (or second newest) of a model
family; for Codex and OpenCode the program's default (the first preset), its next models, and the
smallest (the last preset).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from pydantic import Field

from model.agents.catalog import BUILT_IN, PRESETS, BackendRow, Catalog, ModelRow
from model.base.text import clean_line
from model.domain.resource import Resource

MODEL_LIMIT: Final = 1000
"""Maximum number of models kept per program; a gateway may offer some hundreds."""

_MAX_LENGTH: Final = 200
"""Maximum characters of a name or a description."""

_FAMILIES: Final = {
    "model_1": ("opus", 0),
    "model_2": ("opus", 1),
    "model_3": ("sonnet", 0),
    "model_4": ("sonnet", 1),
    "model_5": ("haiku", 0),
}
"""By preset, the family of Claude Code's models and the age: 0 newest, 1 the one before it."""

_SMALL: Final = re.compile(r"\b(mini|nano|fast|small|light)", re.IGNORECASE)
_SMALLEST_PRESET: Final = 5
"""The number of the preset that means the smallest model."""


class OfferedModel(Resource):
    """A model that a program offers."""

    name: str
    label: str
    description: str = ""
    efforts: list[str] = Field(default_factory=list)
    default_effort: str = ""
    answers_as: str = ""
    """The full name, if `name` is an alias."""
    is_superseded: bool = False
    """Whether the program itself recommends another model instead."""


class ModelList(Resource):
    """The models that a program reports, best first."""

    models: list[OfferedModel] = Field(default_factory=list)
    default: str = ""
    """The model used if none is chosen: from the user's configuration, else the program's own."""
    small: str = ""
    """The model that the user configured for small tasks."""
    is_own_provider: bool = False
    """Whether the user's provider is not covered by the list; presets then mean the default."""

    def sanitized(self) -> "ModelList":
        """A copy that is safe to store and show: bounded, without hidden characters."""
        models = [
            _sanitize(each) for each in self.models[:MODEL_LIMIT] if _is_valid_name(each.name)
        ]
        return self.model_copy(update={"models": models})

    def find(self, name: str) -> OfferedModel | None:
        """The model with this name or full name."""
        found = (each for each in self.models if name and name in (each.name, each.answers_as))
        return next(found, None)


def apply_model_lists(catalog: Catalog, lists: Mapping[str, ModelList]) -> Catalog:
    """The catalog with the models that the programs report, by backend."""
    rows = (
        _apply_list(row, lists[row.name]) if row.name in lists and row.name in PRESETS else row
        for row in catalog.backends
    )
    return Catalog(tuple(rows))


def _apply_list(row: BackendRow, listed: ModelList) -> BackendRow:
    configured = {model.name: model for model in row.models}
    presets = [
        _preset_row(row.name, configured[name], listed)
        for name in configured
        if name in PRESETS[row.name]
    ]
    others = [model for name, model in configured.items() if name not in PRESETS[row.name]]
    offered = [_to_row(each) for each in listed.models if each.name not in configured]
    models = [_default_row(listed), *presets, *others, *offered]
    return replace(row, models=tuple(models))


def _preset_row(backend: str, row: ModelRow, listed: ModelList) -> ModelRow:
    """The model that a preset means; one defined by the user stays as it is."""
    if row != BUILT_IN.model(backend, row.name):
        return row
    found = listed.find(_find_model(backend, row.name, listed))
    target = _to_row(found) if found else _default_row(listed)
    return replace(target, name=row.name, is_offered=False)


def _find_model(backend: str, preset: str, listed: ModelList) -> str:
    """The name of the model that a preset means; empty for the program's default."""
    if listed.is_own_provider:
        return ""
    if backend == "backend_a":
        family, age = _FAMILIES[preset]
        found = [each.name for each in listed.models if family in f"{each.name} {each.answers_as}"]
        return found[min(age, len(found) - 1)] if found else ""
    number = int(preset.rpartition("_")[2])
    if number == 1:
        return ""
    if backend == "backend_c":
        built_in = BUILT_IN.resolve_model(backend, preset)
        is_small = number == _SMALLEST_PRESET and listed.small
        return listed.small if is_small else built_in
    current = [each for each in listed.models if not each.is_superseded]
    small = [each for each in current if _SMALL.search(f"{each.name} {each.description}")]
    smallest = (small or current[-1:])[:1]
    if number == _SMALLEST_PRESET:
        return smallest[0].name if smallest else ""
    others = [e.name for e in current if e not in smallest and e.name != listed.default]
    return others[number - 2] if number - 2 < len(others) else ""


def _default_row(listed: ModelList) -> ModelRow:
    """The row for the program's default model."""
    found = listed.find(listed.default)
    name = found.label if found else clean_line(listed.default)
    label = f"Default ({name})" if name else "Default"
    efforts = tuple(found.efforts) if found else ()
    answers_as = (found.answers_as or found.name) if found else ""
    return ModelRow("", "", label, "", efforts, full_name=answers_as, is_default=True)


def _to_row(model: OfferedModel) -> ModelRow:
    return ModelRow(
        model.name,
        model.name,
        model.label,
        model.description,
        tuple(model.efforts),
        model.default_effort,
        model.answers_as,
    )


def _is_valid_name(name: str) -> bool:
    return bool(name) and clean_line(name) == name and len(name) <= _MAX_LENGTH


def _sanitize(model: OfferedModel) -> OfferedModel:
    return OfferedModel(
        name=model.name,
        label=_truncate(model.label) or model.name,
        description=_truncate(model.description),
        efforts=list(_truncate_all(model.efforts)),
        default_effort=_truncate(model.default_effort),
        answers_as=_truncate(model.answers_as),
        is_superseded=model.is_superseded,
    )


def _truncate_all(texts: Iterable[str]) -> Iterable[str]:
    return (_truncate(text) for text in list(texts)[:20])


def _truncate(text: str) -> str:
    return clean_line(text[:_MAX_LENGTH])
