"""The line of keys at the bottom of a dialog: rendering, clicks, and lookup for the palette."""

from typing import Any

from textual.content import Content
from textual.screen import Screen
from textual.style import Style
from textual.widgets import Static

from tui.keys.names import parse_key, spell_out


def keys_line(*keys: tuple[str, str]) -> Content:
    """Render `enter send   esc cancel` for the bottom of a dialog; a click presses the key."""
    parts: list[Content | tuple[str, str]] = []
    for key, label in keys:
        hint = Content.assemble((spell_out(key), "bold $accent"), (f" {label}", "$text-muted"))
        if parse_key(key) is not None:
            hint = hint.stylize(Style.from_meta({"press": key, "words": label}))
        parts += [hint, ("   ", "$text-muted")]
    return Content.assemble(*parts)


def read_keys(screen: Screen[Any]) -> list[tuple[str, str]]:
    """The keys and labels of the `keys_line`s on a screen that can be pressed."""
    keys = []
    for line in screen.query(".keys").results(Static):
        if isinstance(content := line.content, Content):
            for span in content.spans:
                if isinstance(span.style, Style) and "press" in span.style.meta:
                    keys.append((span.style.meta["press"], span.style.meta["words"]))
    return keys
