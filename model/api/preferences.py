"""Preferences."""

from typing import Any

from model.api.command import command
from model.domain.resource import Resource
from model.preferences.fields import Kind
from model.preferences.prompts import PromptKind
from model.preferences.schema import Preferences, PromptKey


class PreferenceChoice(Resource):
    """A value that can be chosen for a preference."""

    value: str
    label: str
    """Its display name."""


class PreferenceRow(Resource):
    """The description of one preference, for a settings page."""

    key: str
    group: str
    help: str
    more: str
    """Further explanation, in sentences."""
    kind: Kind
    default: Any
    entries: list[str]
    """The entries that have an effect, for an object with fixed entries."""
    choices: list[PreferenceChoice]
    """Choices for the value, or for each entry of an object; empty for free text."""
    low: float | None
    high: float | None
    nullable: bool
    """Whether the value, or an entry of an object, may be null."""
    secret: bool
    requirement: str
    """What a value must be; completes a sentence after “must”."""


class PromptVariable(Resource):
    """A variable of a magic prompt, written `{name}` in its text."""

    name: str
    help: str


class MagicPrompt(Resource):
    """The description of a magic prompt."""

    key: PromptKey
    label: str
    purpose: str
    kind: PromptKind
    """`session`: a message to a session; `text`: for an agent that writes a text; `system`: part
    of the system prompt of every agent."""
    default: str
    """The built-in text; empty if there is none."""
    variables: list[PromptVariable]
    """What the text may contain; `{{name}}` is the text `{name}` itself."""


@command
async def get_preferences() -> Preferences:
    """Get all preferences; secrets are hidden."""


@command
async def list_preferences() -> list[PreferenceRow]:
    """Describe the preferences in display order, without their values.

    Those without effect are left out; they are still accepted and saved.
    """


@command
async def list_prompts() -> list[MagicPrompt]:
    """Describe the magic prompts: what each is for, its built-in text and its variables.

    The person's own texts are in the preference `magic_prompts`; texts with other variables are
    refused there.
    """


@command
async def update_preferences(changes: dict[str, Any]) -> Preferences:
    """Change preferences, all or none, and get what was saved; an error names the key and its valid
    values.
    """
