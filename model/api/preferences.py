"""Commands about preferences."""

from typing import Any

from model.api.command import command
from model.domain.resources import Resource
from model.preferences.fields import Kind
from model.preferences.schema import Preferences


class PreferenceChoice(Resource):
    """A value that a preference may have."""

    value: str
    label: str
    """What people call it."""


class PreferenceRow(Resource):
    """What a settings page needs to know of one preference."""

    key: str
    group: str
    help: str
    more: str
    """What else one should know, in sentences."""
    kind: Kind
    default: Any
    entries: list[str]
    """Of an object with a fixed set of them: those that do something."""
    choices: list[PreferenceChoice]
    """Of the value or, in an object, of each entry; empty where it is written freely."""
    low: float | None
    high: float | None
    nullable: bool
    """Whether the value or, in an object, an entry may be null."""
    secret: bool
    requirement: str
    """What a value must be, to follow the word “must”."""


@command
async def get_preferences() -> Preferences:
    """All preferences; secrets are hidden."""


@command
async def list_preferences() -> list[PreferenceRow]:
    """What each preference is, in the order in which people see them; not what it is set to.

    Those that do nothing yet are not among them; they are taken and kept all the same.
    """


@command
async def update_preferences(changes: dict[str, Any]) -> Preferences:
    """Change preferences, all or none; the error names the key and what it may be."""
