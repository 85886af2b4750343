"""How settings that an older version stored become those of today, silently, when they are read.

A migration is a small function from the stored object to a new one. It must leave alone what is
new already, since it runs at every start, and it must bear values of any type.
"""

from collections.abc import Callable
from typing import Any

Stored = dict[str, Any]
Migration = Callable[[Stored], Stored]

RENAMED_KEYS: dict[str, str] = {}
"""A key's old name -> its name today."""

RENEWED_KEYBINDINGS: tuple[tuple[str, str, str], ...] = ()
"""`(action, old default, new default)`, oldest first. Who stored the old default gets the new."""


def migrated(stored: Stored) -> Stored:
    """`stored`, as today's version would have written it."""
    for migration in MIGRATIONS:
        stored = migration(stored)
    return stored


def _rename_keys(stored: Stored) -> Stored:
    renamed = {RENAMED_KEYS[key]: value for key, value in stored.items() if key in RENAMED_KEYS}
    kept = {key: value for key, value in stored.items() if key not in RENAMED_KEYS}
    return {**renamed, **kept}


def _renew_keybindings(stored: Stored) -> Stored:
    bindings = stored.get("keybindings")
    if not isinstance(bindings, dict):
        return stored
    bindings = dict(bindings)
    for action, old, new in RENEWED_KEYBINDINGS:
        if bindings.get(action) == old:
            bindings[action] = new
    return {**stored, "keybindings": bindings}


MIGRATIONS: tuple[Migration, ...] = (_rename_keys, _renew_keybindings)
