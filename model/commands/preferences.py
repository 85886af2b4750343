"""Implements `model.api.preferences`."""

from typing import TYPE_CHECKING, Any

from model.api import preferences as api
from model.commands.registry import implements
from model.preferences.apply import apply_changes, redact
from model.preferences.choices import accepts_null, list_choices
from model.preferences.fields import label_of, shown_fields
from model.preferences.prompts import PROMPTS
from model.preferences.schema import Preferences

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.get_preferences)
async def get_preferences(workspace: "Workspace") -> Preferences:
    return redact(workspace.store.state.preferences)


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
                for value, label in list_choices(field, preferences, catalog)
            ],
            low=field.low,
            high=field.high,
            nullable=accepts_null(field),
            secret=field.secret,
            requirement=field.requirement,
        )
        for field in shown_fields().values()
    ]


@implements(api.list_prompts)
async def list_prompts(workspace: "Workspace") -> list[api.MagicPrompt]:
    return [
        api.MagicPrompt(
            key=key,
            label=label_of(key),
            purpose=prompt.purpose,
            kind=prompt.kind,
            default=prompt.default,
            variables=[
                api.PromptVariable(name=variable.name, help=variable.help)
                for variable in prompt.variables
            ],
        )
        for key, prompt in PROMPTS.items()
    ]


@implements(api.update_preferences)
async def update_preferences(workspace: "Workspace", changes: dict[str, Any]) -> Preferences:
    wanted = apply_changes(workspace.store.state.preferences, changes)
    return redact(await workspace.change_preferences(wanted))
