"""Which keys can be given to an action, and why the others cannot."""

from collections.abc import Mapping

from tui.keys.keymap import ACTIONS, clashes, keys_of
from tui.keys.names import shown

_THE_SAME = {
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
_TAKEN = {
    "ctrl+s": "terminals stop their output at it",
    "ctrl+z": "it goes to the shell, as everywhere",
    "ctrl+c": "it copies what is selected",
    "ctrl+backslash": "terminals end a program with it",
    "ctrl+j": "it breaks the line in the message box",
    "ctrl+a": "screen, and many a tmux, take it for themselves",
}
_MOVES = frozenset(
    {"enter", "up", "down", "left", "right", "home", "end", "pageup", "pagedown", "backspace"}
    | {"space"}
)
_FREE_LETTERS = frozenset({"ctrl+space", "ctrl+@"})


def refusal(
    key: str, character: str | None = None, *, letters_are_free: bool = False
) -> str | None:
    """Why the key, as Textual names it, cannot be given to an action; `None`: it can.

    `character` is what it writes, where it writes something; `letters_are_free` where nothing is
    written.
    """
    named = spelled(key)
    if key in _THE_SAME:
        return f"Many terminals cannot tell {named} from {_THE_SAME[key]}. Press another key."
    if key in _TAKEN:
        return f"{named} is not free: {_TAKEN[key]}. Press another key."
    if key in _MOVES or (character and character.isprintable() and not letters_are_free):
        return f"{named} writes, moves or chooses: it is needed for that. Press another key."
    if "super+" in key or "hyper+" in key or "meta+" in key:
        return f"Most terminals keep {named} to themselves. Press another key."
    if key not in _FREE_LETTERS and key.startswith("ctrl+shift+"):
        plain = spelled(key.replace("shift+", ""))
        return f"Many terminals cannot tell {named} from {plain}. Press another key."
    return None


def clash(action_id: str, key: str, overrides: Mapping[str, str]) -> str | None:
    """Which other action has the key already, as a sentence."""
    new = set(clashes({**overrides, action_id: key})) - set(clashes(overrides))
    for action in ACTIONS:
        has_it = key in keys_of(action.id, overrides).split(",")
        if action.id != action_id and has_it and any(action.id in told for told in new):
            return (
                f"{spelled(key)} is the key of '{action.title}'. Give that one another key first, "
                "or press another key."
            )
    return None


def spelled(key: str) -> str:
    """A key as people name it."""
    return shown(key).replace("^", "ctrl+").replace("⇧", "shift+") or key
