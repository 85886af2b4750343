"""Silent migrations of settings stored by older versions, applied when they are read.

A migration is a small function from the stored object to a new one. It runs at every start, so it
must be idempotent, and it must accept values of any type.
"""

from collections.abc import Callable
from typing import Any

Stored = dict[str, Any]
Migration = Callable[[Stored], Stored]

RENAMED_KEYS: dict[str, str] = {}
"""A key's old name -> its current name."""

CHANGED_KEYBINDINGS: tuple[tuple[str, str, str], ...] = ()
"""`(action, old default, new default)`, oldest first. A stored old default becomes the new one."""


def migrate(stored: Stored) -> Stored:
    """Return `stored` in the form that the current version writes."""
    for migration in MIGRATIONS:
        stored = migration(stored)
    return stored


def _rename_keys(stored: Stored) -> Stored:
    renamed = {RENAMED_KEYS[key]: value for key, value in stored.items() if key in RENAMED_KEYS}
    kept = {key: value for key, value in stored.items() if key not in RENAMED_KEYS}
    return {**renamed, **kept}


def _update_keybindings(stored: Stored) -> Stored:
    bindings = stored.get("keybindings")
    if not isinstance(bindings, dict):
        return stored
    bindings = dict(bindings)
    for action, old, new in CHANGED_KEYBINDINGS:
        if bindings.get(action) == old:
            bindings[action] = new
    return {**stored, "keybindings": bindings}


MIGRATIONS: tuple[Migration, ...] = (_rename_keys, _update_keybindings)
