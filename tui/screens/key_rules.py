"""Rules for which keys can be assigned to an action, with the reasons for the others."""

from collections.abc import Mapping

from tui.keys.keymap import ACTIONS
from tui.keys.names import format_key
from tui.keys.overrides import find_conflicts, get_keys

_ALIASES = {
    "ctrl+m": "enter",
    "ctrl+i": "tab",
    "ctrl+h": "backspace",
    "ctrl+left_square_bracket": "esc",
    "ctrl+enter": "enter",
    "shift+enter": "enter",
    "alt+enter": "a new line",
    "shift+space": "space",
    "shift+backspace": "backspace",
    "shift+escape": "esc",
}
"""Keys that many terminals send as another one."""
_RESERVED = {
    "ctrl+s": "it pauses the output of terminals",
    "ctrl+z": "it suspends to the shell",
    "ctrl+c": "it copies the selection",
    "ctrl+backslash": "it ends programs in terminals",
    "ctrl+j": "it inserts a new line in the message box",
    "ctrl+a": "screen and tmux often use it",
    **{f"alt+{number}": "it opens a session by its number" for number in range(1, 10)},
}
_EDITING = frozenset(
    {"enter", "up", "down", "left", "right", "home", "end", "pageup", "pagedown", "backspace"}
    | {"space"}
)
_FREE_LETTERS = frozenset({"ctrl+space", "ctrl+@"})


def refusal(key: str, character: str | None = None, *, allow_letters: bool = False) -> str | None:
    """Return why the key, as Textual names it, cannot be assigned; `None` if it can.

    `character` is the text that the key writes, if any; `allow_letters` where no text is entered.
    """
    name = spell_key(key)
    if key in _ALIASES:
        return f"Many terminals send {name} as {_ALIASES[key]}. Press another key."
    if key in _RESERVED:
        return f"{name} is reserved: {_RESERVED[key]}. Press another key."
    if key in _EDITING or (character and character.isprintable() and not allow_letters):
        return f"{name} is needed for typing, moving or choosing. Press another key."
    if "super+" in key or "hyper+" in key or "meta+" in key:
        return f"Most terminals do not pass on {name}. Press another key."
    if key not in _FREE_LETTERS and key.startswith("ctrl+shift+"):
        plain = spell_key(key.replace("shift+", ""))
        return f"Many terminals send {name} as {plain}. Press another key."
    return None


def clash(action_id: str, key: str, overrides: Mapping[str, str]) -> str | None:
    """Return a message if another action already has the key, otherwise `None`."""
    new = set(find_conflicts({**overrides, action_id: key})) - set(find_conflicts(overrides))
    for action in ACTIONS:
        has_it = key in get_keys(action.id, overrides).split(",")
        if action.id != action_id and has_it and any(action.id in message for message in new):
            return (
                f"{spell_key(key)} is the key of '{action.title}'. Change that first, or press "
                "another key."
            )
    return None


def spell_key(key: str) -> str:
    """Return a key's displayed name, written out: `ctrl+t`."""
    return format_key(key).replace("^", "ctrl+").replace("⇧", "shift+") or key
