"""Keys as people read them."""

_SHOWN = {
    "ctrl+@": "",
    "escape": "esc",
    "ctrl+space": "^space",
    "delete": "del",
    "ctrl+right_square_bracket": "^]",
    "f19": "shift+f7",  # as terminals without a keyboard protocol of their own send it
}


def shown(keys: str) -> str:
    """The first key as people read it: `ctrl+n` is `^n`, `shift+tab` is `⇧tab`."""
    names = [_SHOWN.get(key, key) for key in keys.split(",")]
    first = next(filter(None, names), "")
    return first.replace("ctrl+", "^").replace("shift+", "⇧")


def all_shown(keys: str) -> str:
    """Every key, spelled out, for the help."""
    names = dict.fromkeys(_SHOWN.get(key, key) for key in keys.split(","))
    return " or ".join(name.replace("^", "ctrl+") for name in names if name)
