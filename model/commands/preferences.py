"""Commands about preferences."""

from typing import TYPE_CHECKING, Any

from model.commands.registry import command
from model.domain.resources import Resource
from model.preferences.apply import changed, redacted
from model.preferences.choices import choices, takes_null
from model.preferences.fields import Kind, shown_fields
from model.preferences.schema import Preferences

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


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
async def get_preferences(workspace: "Workspace") -> Preferences:
    """All preferences; secrets are hidden."""
    return redacted(workspace.store.state.preferences)


@command
async def list_preferences(workspace: "Workspace") -> list[PreferenceRow]:
    """What each preference is, in the order in which people see them; not what it is set to.

    Those that do nothing yet are not among them; they are taken and kept all the same.
    """
    preferences, catalog = workspace.store.state.preferences, workspace.catalog
    return [
        PreferenceRow(
            key=field.key,
            group=field.group,
            help=field.help,
            more=field.more,
            kind=field.kind,
            default=field.default,
            entries=list(field.entries),
            choices=[
                PreferenceChoice(value=value, label=label)
                for value, label in choices(field, preferences, catalog)
            ],
            low=field.low,
            high=field.high,
            nullable=takes_null(field),
            secret=field.secret,
            requirement=field.requirement,
        )
        for field in shown_fields().values()
    ]


@command
async def update_preferences(workspace: "Workspace", changes: dict[str, Any]) -> Preferences:
    """Change preferences, all or none; the error names the key and what it may be."""
    wanted = changed(workspace.store.state.preferences, changes)
    await workspace.change_preferences(wanted)
    return redacted(wanted)
