"""Keys as people read and hear them, and the presses that they stand for."""

from textual.events import Key

from tui.terminal import plain

_SHOWN = {
    "ctrl+@": "",
    "escape": "esc",
    "ctrl+space": "^space",
    "delete": "del",
    "ctrl+right_square_bracket": "^]",
    "f19": "shift+f7",  # as terminals without a keyboard protocol of their own send it
}

_SPOKEN = {"esc": "escape", "del": "delete", "pgup": "page-up", "pgdn": "page-down"}
_SPOKEN_SIGNS = str.maketrans(
    {"^": "ctrl+", "⇧": "shift+", "↑": "up", "↓": "down", "←": "left", "→": "right"}
)
_PRESSED = {"esc": "escape", "del": "delete", "+": "plus"}
_CHARACTERS = {"plus": "+", "space": " ", "enter": "\r", "tab": "\t"}
_NO_KEYS = ("letters", "empty")


def shown(keys: str) -> str:
    """The first key as people read it: `ctrl+n` is `^n`, `shift+tab` is `⇧tab`."""
    names = [_SHOWN.get(key, key) for key in keys.split(",")]
    first = next(filter(None, names), "")
    return spoken(first.replace("ctrl+", "^").replace("shift+", "⇧"))


def spoken(names: str) -> str:
    """Names of keys as they are, or for ears without signs: `^n ↑` is `ctrl+n up`."""
    if not plain.is_on():
        return names
    words = " ".join(_SPOKEN.get(name, name) for name in names.split())
    return words.translate(_SPOKEN_SIGNS)


def all_shown(keys: str) -> str:
    """Every key, spelled out, for the help."""
    names = dict.fromkeys(_SHOWN.get(key, key) for key in keys.split(","))
    return " or ".join(name.replace("^", "ctrl+") for name in names if name)


def pressed(name: str) -> Key | None:
    """The press of a key that people read as `name`; `None` where that tells of several."""
    key = name.split(" or ")[-1].replace("^", "ctrl+").replace("⇧", "shift+")
    key = _PRESSED.get(key, key)
    if " " in key or key in _NO_KEYS:
        return None
    return Key(key, key if len(key) == 1 else _CHARACTERS.get(key))
