"""What the settings pages, the documentation and the error sentences need to know of each key."""

import types
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, Union, cast, get_args, get_origin

from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

from model.preferences.schema import TOLD_PROMPTS, WRITTEN_PROMPTS, Preferences

Kind = Literal["switch", "choice", "number", "whole", "text", "list", "object"]


@dataclass(frozen=True, slots=True)
class PreferenceField:
    """One setting, described."""

    key: str
    group: str
    help: str
    kind: Kind
    default: Any
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    nullable: bool = False
    secret: bool = False
    """Hidden from clients on other machines."""
    form: str = ""
    """What the value must be, where its kind does not say it all."""
    more: str = ""
    """What else one should know, in sentences."""
    shown: bool = True
    """Whether it does anything; else it is only kept."""
    entries: tuple[str, ...] = ()
    """Of an object with a fixed set of them: those that do something."""

    @property
    def requirement(self) -> str:
        """What a value must be, to follow the word “must”."""
        text = self.form or self._by_kind()
        return f"be {text} or null" if self.nullable else f"be {text}"

    def _by_kind(self) -> str:
        match self.kind:
            case "switch":
                return "true or false"
            case "choice":
                return "one of " + ", ".join(self.choices)
            case "number" | "whole":
                name = "a number" if self.kind == "number" else "a whole number"
                return f"{name} from {self.low} to {self.high}"
            case "text":
                return "text"
            case "list":
                return "a list of texts"
            case "object":
                return "an object of texts"


_ENTRIES: Final = {
    "magic_prompts": (*WRITTEN_PROMPTS, *TOLD_PROMPTS),
    "magic_prompt_models": tuple(f"{key}_model" for key in WRITTEN_PROMPTS),
    "magic_prompt_providers": tuple(f"{key}_provider" for key in WRITTEN_PROMPTS),
    "magic_prompt_backends": tuple(f"{key}_backend" for key in WRITTEN_PROMPTS),
}


@cache
def preference_fields() -> dict[str, PreferenceField]:
    """Every setting by its key, in the order in which people see them."""
    return {key: _described(key, info) for key, info in Preferences.model_fields.items()}


@cache
def shown_fields() -> dict[str, PreferenceField]:
    """The settings that do something, likewise; the others are kept for clients that know them."""
    return {key: field for key, field in preference_fields().items() if field.shown}


def _described(key: str, info: FieldInfo) -> PreferenceField:
    annotation, nullable = _without_null(info.annotation)
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    return PreferenceField(
        key=key,
        group=str(extra["group"]),
        help=info.description or "",
        kind=_kind(annotation),
        default=info.default,
        choices=get_args(annotation) if get_origin(annotation) is Literal else (),
        low=next((cast("float", at.ge) for at in info.metadata if isinstance(at, Ge)), None),
        high=next((cast("float", at.le) for at in info.metadata if isinstance(at, Le)), None),
        nullable=nullable,
        secret=bool(extra["secret"]),
        form=str(extra["form"]),
        more=str(extra["more"]),
        shown=bool(extra["shown"]),
        entries=_ENTRIES.get(key, ()),
    )


def _without_null(annotation: Any) -> tuple[Any, bool]:
    """The type inside `… | None`, and whether null was allowed.

    A choice that leaves room for a person's own names counts as the choice.
    """
    if get_origin(annotation) not in (Union, types.UnionType):
        return annotation, False
    kept = tuple(part for part in get_args(annotation) if part is not type(None))
    choice = next((part for part in kept if get_origin(part) is Literal), None)
    return choice or Union[kept], len(kept) < len(get_args(annotation))  # noqa: UP007


def _kind(annotation: Any) -> Kind:
    origin = get_origin(annotation)
    if origin is Literal:
        return "choice"
    if origin in (list, dict):
        return "list" if origin is list else "object"
    if annotation is bool:
        return "switch"
    if annotation is str:
        return "text"
    return "whole" if annotation is int else "number"
