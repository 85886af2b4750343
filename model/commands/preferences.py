"""Implements `model.api.preferences`."""

from typing import TYPE_CHECKING, Any

from model.api import preferences as api
from model.commands.registry import implements
from model.preferences.apply import changed, redacted
from model.preferences.choices import choices, takes_null
from model.preferences.fields import shown_fields
from model.preferences.schema import Preferences

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.get_preferences)
async def get_preferences(workspace: "Workspace") -> Preferences:
    return redacted(workspace.store.state.preferences)


@implements(api.list_preferences)
async def list_preferences(workspace: "Workspace") -> list[api.PreferenceRow]:
    preferences, catalog = workspace.store.state.preferences, workspace.catalog
    return [
        api.PreferenceRow(
            key=field.key,
            group=field.group,
            help=field.help,
            more=field.more,
            kind=field.kind,
            default=field.default,
            entries=list(field.entries),
            choices=[
                api.PreferenceChoice(value=value, label=label)
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


@implements(api.update_preferences)
async def update_preferences(workspace: "Workspace", changes: dict[str, Any]) -> Preferences:
    wanted = changed(workspace.store.state.preferences, changes)
    return redacted(await workspace.change_preferences(wanted))
