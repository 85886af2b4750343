"""The user's own keys: the `keybindings` preference, applied to the table of actions."""

from collections.abc import Mapping

from model.base.text import clean_line
from tui.keys.keymap import ACTIONS, BY_ID, PAGE_ACTIONS

_MAX_LISTED = 5
"""Names listed in a message."""


def get_keys(action_id: str, overrides: Mapping[str, str]) -> str:
    """The keys of an action, separated by commas, with the user's overrides applied."""
    return overrides.get(action_id) or BY_ID[action_id].keys


def is_bound(key: str, overrides: Mapping[str, str]) -> bool:
    """Whether the key is bound on any screen."""
    return any(key in get_keys(action.id, overrides).split(",") for action in ACTIONS)


def normalize_overrides(preference: Mapping[str, str]) -> dict[str, str]:
    """Return the user's keys by action, without unknown actions and empty keys.

    `mod+k`, the notation of the browser page, becomes `ctrl+k`.
    """
    return {
        action: keys.strip().lower().replace("mod+", "ctrl+").replace(" ", "")
        for action, keys in preference.items()
        if action in BY_ID and keys.strip()
    }


def find_unknown_actions(preference: Mapping[str, str]) -> list[str]:
    """Return at most one message, which lists names that are no action, here or on the page."""
    names = [name for name in preference if name not in BY_ID and name not in PAGE_ACTIONS]
    listed = ", ".join(map(clean_line, names[:_MAX_LISTED])) + (
        ", …" if len(names) > _MAX_LISTED else ""
    )
    return [f"Unknown actions in your keyboard shortcuts: {listed}."] if names else []


def find_conflicts(overrides: Mapping[str, str]) -> list[str]:
    """A message for each key that two actions share."""
    owners: dict[tuple[str, str], str] = {}
    conflicts = []
    for action in ACTIONS:
        for key in filter(None, get_keys(action.id, overrides).split(",")):
            # All others are screens of their own, and the message box may use a key that does
            # something else in the other panes.
            screen = "" if action.scope in ("everywhere", "projects") else action.scope
            other = owners.setdefault((screen, key), action.id)
            if other != action.id:
                conflicts.append(
                    f"The key '{key}' is assigned to both '{other}' and '{action.id}'. "
                    "Change one of them in the keyboard shortcuts."
                )
    return conflicts
