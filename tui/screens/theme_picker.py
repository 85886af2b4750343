"""One list of all themes: light or dark, and the colors of code, with a preview of each."""

from collections.abc import Callable, Sequence
from typing import Literal, cast

from rich.console import Group
from rich.text import Text
from textual import on
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import OptionList, Static

from model.richtext.highlight import highlight_code
from themes.loader import Kind, list_syntax_themes, load_syntax_theme
from tui.draw.colors import get_palette
from tui.draw.diff import render_diff
from tui.draw.markdown import render_code_lines
from tui.draw.wrap import Line
from tui.screens.choose import Choice, Choose
from tui.screens.preference_editors import SAMPLE

CHROME = "theme"
"""The prefix of the values for light and dark; those for code have `code`."""
_CHANGED = SAMPLE.replace("LIMIT = 12", "LIMIT = 24").replace(">=", ">")
_KINDS: tuple[Choice, ...] = (
    Choice(f"{CHROME}:system", "Same as the terminal"),
    Choice(f"{CHROME}:dark", "Dark"),
    Choice(f"{CHROME}:light", "Light"),
)
_WIDTH = 52
"""Cells of the sample."""


class ThemePicker(Choose):
    """Moves through the themes with a preview; the result is `theme:NAME` or `code:NAME`.

    Args:
        kind: Whether the dark or the light theme is on.
        theme: The preference `theme`.
        code: The theme of code for this kind.
        show: Shows `system`, `light` or `dark` on the whole screen.
    """

    CSS = """
    ThemePicker > .dialog { width: 96; }
    ThemePicker .dialog Horizontal { height: 24; max-height: 62vh; }
    ThemePicker .dialog OptionList { width: 30; height: 100%; max-height: 100%; }
    ThemePicker .dialog #sample { width: 1fr; height: 100%; margin-left: 1; }
    """

    def __init__(
        self,
        kind: Kind,
        theme: str,
        code: str,
        show: Callable[[Literal["system", "light", "dark"]], None],
    ) -> None:
        super().__init__("Theme", (*_KINDS, *_code_choices(kind)), f"{CHROME}:{theme}")
        self._kind, self._code, self._show = kind, code, show

    def body(self) -> list[Widget]:
        """The list beside the sample."""
        options, *rest = super().body()
        return [Horizontal(options, Static(id="sample", markup=False)), *rest]

    @on(OptionList.OptionHighlighted)
    def _preview(self, event: OptionList.OptionHighlighted) -> None:
        group, _, name = str(event.option.id).partition(":")
        if group == CHROME:
            self._show(cast(Literal["system", "light", "dark"], name))
        palette = get_palette(self._kind, self._code if group == CHROME else name)
        code = render_code_lines(highlight_code(SAMPLE, "python"), _WIDTH, palette, "python")
        diff = render_diff(SAMPLE, _CHANGED, "basket.py", _WIDTH, palette)
        rows: list[Line] = [*code, [], *diff]
        self.query_one("#sample", Static).update(
            Group(*(Text.assemble(*((s.text, s.style or "") for s in row)) for row in rows))
        )


def _code_choices(kind: Kind) -> Sequence[Choice]:
    themes = (load_syntax_theme(name) for name in list_syntax_themes())
    return [
        Choice(f"code:{theme.name}", f"Code: {theme.title}")
        for theme in themes
        if theme.kind == kind
    ]
