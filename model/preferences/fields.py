"""Metadata of each setting for the settings pages, the documentation and error messages."""

import types
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, Union, cast, get_args, get_origin

from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

from model.preferences.schema import INSTRUCTION_PROMPTS, WRITING_PROMPTS, Preferences

Kind = Literal["switch", "choice", "number", "whole", "text", "list", "object"]


@dataclass(frozen=True, slots=True)
class PreferenceField:
    """The description of a setting."""

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
    """The requirement for a value, if its kind does not describe it fully."""
    more: str = ""
    """Further help, in full sentences."""
    shown: bool = True
    """Whether it has an effect; otherwise it is only stored."""
    entries: tuple[str, ...] = ()
    """The entries that have an effect, for an object with a fixed set of entries."""

    @property
    def requirement(self) -> str:
        """The requirement for a value, worded to follow 'must'."""
        text = self.form or self._kind_requirement()
        return f"be {text} or null" if self.nullable else f"be {text}"

    def _kind_requirement(self) -> str:
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
    "magic_prompts": (*WRITING_PROMPTS, *INSTRUCTION_PROMPTS),
    "magic_prompt_models": tuple(f"{key}_model" for key in WRITING_PROMPTS),
    "magic_prompt_providers": tuple(f"{key}_provider" for key in WRITING_PROMPTS),
    "magic_prompt_backends": tuple(f"{key}_backend" for key in WRITING_PROMPTS),
}


@cache
def preference_fields() -> dict[str, PreferenceField]:
    """All settings by key, in display order."""
    return {key: _describe(key, info) for key, info in Preferences.model_fields.items()}


@cache
def shown_fields() -> dict[str, PreferenceField]:
    """The settings that have an effect; the others are stored for clients that know them."""
    return {key: field for key, field in preference_fields().items() if field.shown}


def _describe(key: str, info: FieldInfo) -> PreferenceField:
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
    """The type inside `… | None`, and whether null is allowed.

    A union of fixed choices and custom names counts as the fixed choices.
    """
    if get_origin(annotation) not in (Union, types.UnionType):
        return annotation, False
    parts = tuple(part for part in get_args(annotation) if part is not type(None))
    choice = next((part for part in parts if get_origin(part) is Literal), None)
    return choice or Union[parts], len(parts) < len(get_args(annotation))  # noqa: UP007


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
