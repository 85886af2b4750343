"""The keys at the foot of a dialog: drawn, clicked, and read back by the command palette."""

from typing import Any

from textual.content import Content
from textual.screen import Screen
from textual.style import Style
from textual.widgets import Static

from tui.keys.names import pressed, spoken


def keys_line(*keys: tuple[str, str]) -> Content:
    """`enter send   esc cancel`, for the foot of a dialog; a click on a key presses it."""
    parts: list[Content | tuple[str, str]] = []
    for key, words in keys:
        hint = Content.assemble((spoken(key), "bold $accent"), (f" {words}", "$text-muted"))
        if pressed(key) is not None:
            hint = hint.stylize(Style.from_meta({"press": key, "words": words}))
        parts += [hint, ("   ", "$text-muted")]
    return Content.assemble(*parts)


def keys_told(screen: Screen[Any]) -> list[tuple[str, str]]:
    """What a foot made by `keys_line` says: each key that can be pressed, and its words."""
    found = []
    for foot in screen.query(".keys").results(Static):
        if isinstance(content := foot.content, Content):
            for span in content.spans:
                if isinstance(span.style, Style) and "press" in span.style.meta:
                    found.append((span.style.meta["press"], span.style.meta["words"]))
    return found
