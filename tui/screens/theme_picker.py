"""One list of all themes: light or dark, and the colors of code for both, with a preview."""

from collections.abc import Callable, Sequence
from typing import Literal, cast

from textual import on
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import OptionList, Static

from model.preferences.schema import Preferences
from model.richtext.highlight import highlight_code
from themes.loader import Kind, list_syntax_themes, load_syntax_theme
from tui.draw.colors import get_palette
from tui.draw.diff import render_diff
from tui.draw.markdown import render_code_lines
from tui.draw.rich_text import to_text
from tui.draw.wrap import Line
from tui.screens.choose import Choice, Choose
from tui.screens.preference_editors import SAMPLE

_CHANGED = SAMPLE.replace("LIMIT = 12", "LIMIT = 24").replace(">=", ">")
_CHROME: tuple[Choice, ...] = (
    Choice("theme:system", "Same as the terminal"),
    Choice("theme:dark", "Dark"),
    Choice("theme:light", "Light"),
)
ShowTheme = Callable[[Literal["system", "light", "dark"]], None]
_KINDS: tuple[Kind, Kind] = ("dark", "light")
_WIDTH = 50
"""Cells of the sample until the layout is known."""


class ThemePicker(Choose):
    """Moves through the themes with a preview; the result is the preference and its new value.

    They are joined by a colon: `theme:dark`, `syntax_theme_light:NAME`. Colors of code are shown
    on the background that they are for.

    Args:
        preferences: The present ones.
        kind: Whether the dark or the light theme is on: its themes of code come first.
        show: Shows `system`, `light` or `dark` on the whole screen.
    """

    CSS = """
    ThemePicker > .dialog { width: 96; }
    ThemePicker .dialog Horizontal { height: 24; max-height: 62vh; }
    ThemePicker .dialog OptionList { width: 38; height: 100%; max-height: 100%; }
    ThemePicker .dialog #sample { width: 1fr; height: 100%; margin-left: 1; }
    """

    def __init__(self, preferences: Preferences, kind: Kind, show: ShowTheme) -> None:
        codes: dict[Kind, str] = {
            "dark": preferences.syntax_theme_dark,
            "light": preferences.syntax_theme_light,
        }
        kinds = sorted(_KINDS, key=lambda other: other != kind)
        choices = [choice for of in kinds for choice in _list_code_themes(of, codes[of])]
        super().__init__("Theme", (*_CHROME, *choices), f"theme:{preferences.theme}")
        self._codes, self._show = codes, show
        self._highlighted: str = preferences.theme

    def body(self) -> list[Widget]:
        """The list beside the sample."""
        options, *rest = super().body()
        return [Horizontal(options, Static(id="sample", markup=False)), *rest]

    def on_mount(self) -> None:
        """Draw the sample again whenever the theme changes."""
        super().on_mount()
        self.app.theme_changed_signal.subscribe(self, lambda _: self._draw_sample())

    def on_resize(self) -> None:
        """Draw the sample as wide as there is room."""
        self.call_after_refresh(self._draw_sample)

    @on(OptionList.OptionHighlighted)
    def _preview(self, event: OptionList.OptionHighlighted) -> None:
        key, _, self._highlighted = str(event.option.id).partition(":")
        chosen = self._highlighted if key == "theme" else load_syntax_theme(self._highlighted).kind
        self._show(cast(Literal["system", "light", "dark"], chosen))
        self._draw_sample()

    def _draw_sample(self) -> None:
        kind: Kind = "dark" if self.app.current_theme.dark else "light"
        is_code = self._highlighted in list_syntax_themes()
        palette = get_palette(kind, self._highlighted if is_code else self._codes[kind])
        sample = self.query_one("#sample", Static)
        width = sample.content_size.width or _WIDTH
        code = render_code_lines(highlight_code(SAMPLE, "python"), width, palette, "python")
        diff = render_diff(SAMPLE, _CHANGED, "basket.py", width, palette)
        rows: list[Line] = [*code, [], *diff]
        sample.update(to_text(rows))


def _list_code_themes(kind: Kind, present: str) -> Sequence[Choice]:
    themes = (load_syntax_theme(name) for name in list_syntax_themes())
    return [
        Choice(
            f"syntax_theme_{kind}:{theme.name}",
            f"Code, {kind}: {theme.title}",
            "in use" if theme.name == present else "",
        )
        for theme in themes
        if theme.kind == kind
    ]
