"""Display names of keys, and the key events that they stand for."""

from textual.events import Key

from tui.terminal import screen_reader

_DISPLAY_NAMES = {
    "ctrl+@": "",
    "ctrl+circumflex_accent": "",  # what terminals send for ctrl+6
    "escape": "esc",
    "ctrl+space": "^space",
    "delete": "del",
    "ctrl+right_square_bracket": "^]",
    "right_square_bracket": "]",
    "left_square_bracket": "[",
    "full_stop": ".",
    "comma": ",",
    "equals_sign": "=",
    "f19": "shift+f7",  # as terminals without a keyboard protocol of their own send it
}

_SPOKEN_NAMES = {"esc": "escape", "del": "delete", "pgup": "page-up", "pgdn": "page-down"}
_SPOKEN_SIGNS = str.maketrans(
    {"^": "ctrl+", "⇧": "shift+", "↑": "up", "↓": "down", "←": "left", "→": "right"}
)
_SIGNS = {
    "]": "right_square_bracket", "[": "left_square_bracket", ".": "full_stop", ",": "comma",
    "=": "equals_sign", "+": "plus",
}  # fmt: skip
_KEY_NAMES = {"esc": "escape", "del": "delete", **_SIGNS}
_CHARACTERS = {
    "space": " ", "enter": "\r", "tab": "\t", **{name: sign for sign, name in _SIGNS.items()}
}  # fmt: skip
_NOT_KEYS = ("letters", "empty")


def format_key(keys: str) -> str:
    """The display name of the first key: `ctrl+n` is `^n`, `shift+tab` is `⇧tab`."""
    names = [_DISPLAY_NAMES.get(key, key) for key in keys.split(",")]
    first = next(filter(None, names), "")
    return spell_out(first.replace("ctrl+", "^").replace("shift+", "⇧"))


def spell_out(names: str) -> str:
    """Key names unchanged, or spelled out in screen-reader mode: `^n ↑` is `ctrl+n up`."""
    if not screen_reader.is_enabled():
        return names
    words = " ".join(_SPOKEN_NAMES.get(name, name) for name in names.split())
    return words.translate(_SPOKEN_SIGNS)


def format_keys(keys: str) -> str:
    """All keys, spelled out, for the help."""
    names = dict.fromkeys(_DISPLAY_NAMES.get(key, key) for key in keys.split(","))
    return " or ".join(name.replace("^", "ctrl+") for name in names if name)


def parse_key(name: str) -> Key | None:
    """The key event for a display name; `None` if the name stands for several keys."""
    key = name.split(" or ")[-1].replace("^", "ctrl+").replace("⇧", "shift+")
    key = _KEY_NAMES.get(key, key)
    if " " in key or key in _NOT_KEYS:
        return None
    return Key(key, key if len(key) == 1 else _CHARACTERS.get(key))
