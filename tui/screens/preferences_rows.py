"""How the preferences screen shows a setting: its row, its value, its choices, its details."""

import re
from collections.abc import Mapping
from typing import Any

from textual.content import Content

from model.agents.catalog import Catalog
from model.base.text import clean_line
from model.preferences import choices as preferences_choices
from model.preferences.apply import REDACTED
from model.preferences.choices import choice_label
from model.preferences.fields import PreferenceField
from model.preferences.schema import CliProfile, Preferences
from tui.screens.choose import Choice

NOTHING = "\0null"
"""The value that represents null in a list of choices."""
LABEL_WIDTH = 34
VALUE_WIDTH = 26


def is_changed(field: PreferenceField, preferences: Preferences) -> bool:
    """Whether the value differs from the default."""
    return bool(getattr(preferences, field.key) != field.default)


def format_value(field: PreferenceField, value: Any, catalog: Catalog) -> str:
    """Return the value as one line, without secrets."""
    match value:
        case None:
            return "not set"
        case bool():
            return "on" if value else "off"
        case dict():
            return _format_entries(field, value)
        case list():
            names = [_name_item(field, item) for item in value]
            return clean_line(", ".join(names)) or "none"
        case "":
            return "empty"
        case str() if field.secret:
            return "••••••••"
    return clean_line(choice_label(field.key, str(value), catalog))


def _name_item(field: PreferenceField, item: Any) -> str:
    if isinstance(item, CliProfile):
        return item.name
    return f"{str(item).partition('://')[0]}://…" if field.secret else str(item)


def _format_entries(field: PreferenceField, value: Mapping[str, Any]) -> str:
    entries = field.entries or value
    changed = sum(value.get(key) != field.default.get(key) for key in entries)
    return f"{changed} changed" if changed else "all default"


def choices(
    field: PreferenceField, preferences: Preferences, catalog: Catalog, *, nullable: bool
) -> list[Choice]:
    """Return the values to choose from, with their labels; empty if any value is allowed."""
    offered = [
        Choice(value, clean_line(name))
        for value, name in preferences_choices.list_choices(field, preferences, catalog)
    ]
    takes_choices = offered or field.key in preferences_choices.PROFILES
    none = [Choice(NOTHING, "default")] if nullable and takes_choices else []
    return none + offered


def row(field: PreferenceField, preferences: Preferences, catalog: Catalog, width: int) -> Content:
    """Return mark, label and value; on a wide screen also the help text."""
    changed = is_changed(field, preferences)
    value = format_value(field, getattr(preferences, field.key), catalog)
    help_width = width - LABEL_WIDTH - VALUE_WIDTH - 3
    value_width = VALUE_WIDTH if help_width >= 20 else max(8, width - LABEL_WIDTH - 3)
    parts: list[str | Content | tuple[str, str]] = [
        ("● " if changed else "  ", "$warning"),
        _cell(field.label, LABEL_WIDTH),
        _cell(value, value_width).stylize("bold" if changed else "$text-muted"),
    ]
    if help_width >= 20:
        help = Content(f" {field.help}").truncate(help_width, ellipsis=True)
        parts.append(help.stylize("$text-muted"))
    return Content.assemble(*parts)


def _cell(text: str, width: int) -> Content:
    content = Content(text).truncate(width - 1, ellipsis=True)
    return Content.assemble(content, " " * (width - content.cell_length))


def matches(query: str, field: PreferenceField, value: str) -> bool:
    """Whether every word of the query is in the setting's key, label, group, help or value."""
    parts = (field.key, field.label, field.group, field.help, field.more, value)
    text = " ".join((*parts, field.key.replace("_", " "))).lower()
    return all(word in text for word in query.lower().split())


def details(field: PreferenceField, preferences: Preferences, catalog: Catalog) -> Content:
    """Return help, allowed values, default, and whether the setting was changed."""
    must = _requirement(field, preferences, catalog)
    changed = is_changed(field, preferences)
    default = format_value(field, field.default, catalog)
    more = f" {field.more}" if field.more else ""
    hidden = " Hidden from other machines." if field.secret else ""
    return Content.assemble(
        (field.label, "bold $accent"),
        f"  {field.help}.{more}{hidden}\n",
        (f"{must[0].upper()}{must[1:]}. Default: {default}. ", "$text-muted"),
        ("Changed." if changed else "Not changed.", "$warning" if changed else "$text-muted"),
    )


def _requirement(field: PreferenceField, preferences: Preferences, catalog: Catalog) -> str:
    if not field.choices:
        return field.requirement.removeprefix("be ").replace(" or null", ", or not set")
    names = [name for _, name in preferences_choices.list_choices(field, preferences, catalog)]
    text = f"one of {', '.join(map(clean_line, names))}"
    return text if len(text) <= 90 else f"one of {len(names)}"


def explain_refusal(message: str) -> str:
    """The model's message about a value, without the key that it begins with."""
    text = re.sub(r"^Invalid field '\w+': ", "", message)
    return text[:1].upper() + text[1:]


def step_value(
    field: PreferenceField, value: Any, offered: list[Choice], step: int
) -> tuple[bool, Any]:
    """Return the next value of a switch, a choice or a number, preceded by whether it exists."""
    if field.kind == "switch":
        return True, not value
    if field.kind in ("number", "whole"):
        low, high = field.low or 0, field.high if field.high is not None else value + step
        wanted = min(max(value + step, low), high)
        return wanted != value, wanted
    names = [choice.value for choice in offered]
    if not names:
        return False, value
    present = NOTHING if value is None else value
    position = names.index(present) + step if present in names else 0
    return True, parse_choice(names[position % len(names)])


def parse_choice(choice: str) -> str | None:
    """Return the value that a choice represents."""
    return None if choice == NOTHING else choice


def parse_text(field: PreferenceField, text: str) -> Any:
    """Convert text input to a value; the model validates it."""
    text = text.strip()
    if field.nullable and not text:
        return None
    if field.kind in ("number", "whole"):
        try:
            return int(text)
        except ValueError:
            pass
        try:
            return float(text)
        except ValueError:
            return text
    return text


def format_text(value: Any) -> str:
    """Return the value as text to edit; '' for a secret."""
    return "" if value is None or value == REDACTED else str(value)
