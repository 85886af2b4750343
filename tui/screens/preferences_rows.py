"""What the preferences screen says of a setting: its row, its value in words, what it may be."""

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
"""Stands for null in a list of choices."""
KEY_WIDTH = 34
VALUE_WIDTH = 26


def is_changed(field: PreferenceField, preferences: Preferences) -> bool:
    """Whether the value is not the default."""
    return bool(getattr(preferences, field.key) != field.default)


def in_words(field: PreferenceField, value: Any, catalog: Catalog) -> str:
    """The value as one line; secrets are never in it."""
    match value:
        case None:
            return "not set"
        case bool():
            return "on" if value else "off"
        case dict():
            return _entries_in_words(field, value)
        case list():
            names = [item.name if isinstance(item, CliProfile) else str(item) for item in value]
            return clean_line(", ".join(names)) or "none"
        case "":
            return "empty"
        case str() if field.secret:
            return "••••••••"
    return clean_line(_labelled(field.key, str(value), catalog))


def _entries_in_words(field: PreferenceField, value: Mapping[str, Any]) -> str:
    known = field.entries or value
    own = sum(value.get(key) != field.default.get(key) for key in known)
    return f"{own} of your own" if own else "all as built in"


def _labelled(key: str, value: str, catalog: Catalog) -> str:
    called = choice_label(key, value, catalog)
    return called if called == value else f"{value} · {called}"


def choices(
    field: PreferenceField, preferences: Preferences, catalog: Catalog, *, nullable: bool
) -> list[Choice]:
    """What can be chosen; empty where the value is written freely."""
    found = [
        Choice(value, value, "" if called == value else clean_line(called))
        for value, called in preferences_choices.list_choices(field, preferences, catalog)
    ]
    takes_choices = found or field.key in preferences_choices.PROFILES
    none = [Choice(NOTHING, "not set", "as usual")] if nullable and takes_choices else []
    return none + found


def row(field: PreferenceField, preferences: Preferences, catalog: Catalog, width: int) -> Content:
    """Mark, key, value; and what the setting does, where there is room."""
    changed = is_changed(field, preferences)
    value = in_words(field, getattr(preferences, field.key), catalog)
    help_width = width - KEY_WIDTH - VALUE_WIDTH - 3
    room = VALUE_WIDTH if help_width >= 20 else max(8, width - KEY_WIDTH - 3)
    parts: list[str | Content | tuple[str, str]] = [
        ("● " if changed else "  ", "$warning"),
        _cell(field.key, KEY_WIDTH),
        _cell(value, room).stylize("bold" if changed else "$text-muted"),
    ]
    if help_width >= 20:
        help = Content(f" {field.help}").truncate(help_width, ellipsis=True)
        parts.append(help.stylize("$text-muted"))
    return Content.assemble(*parts)


def _cell(text: str, width: int) -> Content:
    content = Content(text).truncate(width - 1, ellipsis=True)
    return Content.assemble(content, " " * (width - content.cell_length))


def found(words: str, field: PreferenceField, value: str) -> bool:
    """Whether all words are in what is known of the setting."""
    parts = (field.key, field.key.replace("_", " "), field.group, field.help, field.more, value)
    text = " ".join(parts).lower()
    return all(word in text for word in words.lower().split())


def details(field: PreferenceField, preferences: Preferences, catalog: Catalog) -> Content:
    """What the setting does, what it may be, its default, and whether it was changed."""
    must = field.requirement.removeprefix("be ")
    if len(must) > 90:
        must = f"one of {len(field.choices)}"
    changed = is_changed(field, preferences)
    default = in_words(field, field.default, catalog)
    more = f" {field.more}" if field.more else ""
    here = " Hidden from other machines." if field.secret else ""
    return Content.assemble(
        (field.key, "bold $accent"),
        f"  {field.help}.{more}{here}\n",
        (f"{must[0].upper()}{must[1:]}. Default: {default}. ", "$text-muted"),
        ("Changed." if changed else "As by default.", "$warning" if changed else "$text-muted"),
    )


def stepped(
    field: PreferenceField, value: Any, offered: list[Choice], step: int
) -> tuple[bool, Any]:
    """The next value of a switch, a choice or a number; first whether there is one."""
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
    return True, given(names[position % len(names)])


def given(choice: str) -> str | None:
    """The value that a choice stands for."""
    return None if choice == NOTHING else choice


def parsed(field: PreferenceField, text: str) -> Any:
    """What was written, as a value; the model judges it."""
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


def written(value: Any) -> str:
    """The value as one writes it; a secret begins empty."""
    return "" if value is None or value == REDACTED else str(value)
