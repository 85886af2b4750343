"""The models that an agent's program has, as it told them, and what each preset stands for there.

A preset of the interface is a role: of Claude Code the newest of a line of models, of Codex and
OpenCode the program's default (the first), its next ones, and the smallest (the last).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from pydantic import Field

from model.agents.catalog import BUILT_IN, PRESETS, BackendRow, Catalog, ModelRow
from model.base.text import clean_line
from model.domain.resources import Resource

MOST: Final = 1000
"""Models of one program that are kept; a gateway may offer some hundreds."""

_LONGEST: Final = 200
"""Characters of a name or a description."""

_LINES: Final = {
    "model_1": ("opus", 0),
    "model_2": ("opus", 1),
    "model_3": ("sonnet", 0),
    "model_4": ("sonnet", 1),
    "model_5": ("haiku", 0),
}
"""The lines of Claude Code's models: the newest, and the one before it."""

_SMALL: Final = re.compile(r"\b(mini|nano|fast|small|light)", re.IGNORECASE)
_SMALLEST: Final = 5
"""The number of the preset that stands for the smallest model."""


class OfferedModel(Resource):
    """A model that a program has."""

    name: str
    label: str
    description: str = ""
    efforts: list[str] = Field(default_factory=list)
    default_effort: str = ""
    answers_as: str = ""
    """The full name, where `name` is a short one."""
    is_superseded: bool = False
    """Whether the program itself advises another in its place."""


class ModelList(Resource):
    """All that a program told of its models, the best first."""

    models: list[OfferedModel] = Field(default_factory=list)
    default: str = ""
    """What it takes where none is chosen: the person's own choice, else the program's."""
    small: str = ""
    """What the person chose for small tasks."""
    is_own_provider: bool = False
    """Whether the person's provider is none that the list is about; presets mean the default."""

    def shown(self) -> "ModelList":
        """The same, fit to be kept and shown: bounded, without hidden characters."""
        models = [_shown(each) for each in self.models[:MOST] if _is_shown(each.name)]
        return self.model_copy(update={"models": models})

    def find(self, name: str) -> OfferedModel | None:
        """The model of this name, be it the full one."""
        found = (each for each in self.models if name and name in (each.name, each.answers_as))
        return next(found, None)


def with_lists(catalog: Catalog, lists: Mapping[str, ModelList]) -> Catalog:
    """The catalogue with the models that the programs told, by backend."""
    rows = (
        _with_list(row, lists[row.name]) if row.name in lists and row.name in PRESETS else row
        for row in catalog.backends
    )
    return Catalog(tuple(rows))


def _with_list(row: BackendRow, told: ModelList) -> BackendRow:
    own = {model.name: model for model in row.models}
    presets = [_preset(row.name, own[name], told) for name in own if name in PRESETS[row.name]]
    others = [model for name, model in own.items() if name not in PRESETS[row.name]]
    offered = [_row(each) for each in told.models if each.name not in own]
    models = [_default(told), *presets, *others, *offered]
    return replace(row, models=tuple(models))


def _preset(backend: str, row: ModelRow, told: ModelList) -> ModelRow:
    """What a preset stands for; one that the person named themselves is as they said."""
    if row != BUILT_IN.model(backend, row.name):
        return row
    found = told.find(_role(backend, row.name, told))
    meant = _row(found) if found else _default(told)
    return replace(meant, name=row.name, is_offered=False)


def _role(backend: str, preset: str, told: ModelList) -> str:
    """The name of the model in this role; empty for the program's default."""
    if told.is_own_provider:
        return ""
    if backend == "backend_a":
        line, age = _LINES[preset]
        found = [each.name for each in told.models if line in f"{each.name} {each.answers_as}"]
        return found[min(age, len(found) - 1)] if found else ""
    number = int(preset.rpartition("_")[2])
    if number == 1:
        return ""
    if backend == "backend_c":
        built_in = BUILT_IN.resolve_model(backend, preset)
        is_small = number == _SMALLEST and told.small
        return told.small if is_small else built_in
    current = [each for each in told.models if not each.is_superseded]
    small = [each for each in current if _SMALL.search(f"{each.name} {each.description}")]
    smallest = (small or current[-1:])[:1]
    if number == _SMALLEST:
        return smallest[0].name if smallest else ""
    nexts = [e.name for e in current if e not in smallest and e.name != told.default]
    return nexts[number - 2] if number - 2 < len(nexts) else ""


def _default(told: ModelList) -> ModelRow:
    """The row for the program's own choice."""
    found = told.find(told.default)
    known = found.label if found else clean_line(told.default)
    label = f"Default ({known})" if known else "Default"
    efforts = tuple(found.efforts) if found else ()
    answers_as = (found.answers_as or found.name) if found else ""
    return ModelRow("", "", label, "", efforts, answers_as=answers_as, is_default=True)


def _row(told: OfferedModel) -> ModelRow:
    return ModelRow(
        told.name,
        told.name,
        told.label,
        told.description,
        tuple(told.efforts),
        told.default_effort,
        told.answers_as,
    )


def _is_shown(name: str) -> bool:
    return bool(name) and clean_line(name) == name and len(name) <= _LONGEST


def _shown(model: OfferedModel) -> OfferedModel:
    return OfferedModel(
        name=model.name,
        label=_short(model.label) or model.name,
        description=_short(model.description),
        efforts=list(_words(model.efforts)),
        default_effort=_short(model.default_effort),
        answers_as=_short(model.answers_as),
        is_superseded=model.is_superseded,
    )


def _words(words: Iterable[str]) -> Iterable[str]:
    return (_short(word) for word in list(words)[:20])


def _short(text: str) -> str:
    return clean_line(text[:_LONGEST])
