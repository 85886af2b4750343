"""Chrome and syntax theme as terminal styles, and the marks that lines are drawn with."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rich.color import Color
from rich.color_triplet import ColorTriplet
from rich.style import Style

from themes.loader import Kind, TokenStyle, chrome, syntax_theme
from themes.tokens import TokenClass


@dataclass(frozen=True, slots=True)
class Marks:
    """The signs of drawn text; each is as wide as its twin in the other set."""

    bullets: tuple[str, ...]
    quote: str
    code: str
    across: str
    column: str
    crossing: str
    continued: str
    more: str


FINE: Final = Marks(("•", "◦", "▪"), "▎", "▏", "─", "│", "┼", "↪", "…")
ASCII: Final = Marks(("*", "-", "+"), "|", "|", "-", "|", "+", "\\", "~")


@dataclass(frozen=True, slots=True, eq=False)
class DiffStyles:
    """One side of a diff: its ground, its changed words and its sign, all on that ground."""

    ground: Style
    word: Style
    sign: Style


@dataclass(frozen=True, slots=True, eq=False)
class Palette:
    """All styles that text is drawn with. Those of code carry the syntax theme's own ground."""

    kind: Kind
    marks: Marks
    text: Style
    strong: Style
    muted: Style
    faint: Style
    border: Style
    link: Style
    accent: Style
    success: Style
    warning: Style
    error: Style
    info: Style
    headings: tuple[Style, ...]
    code_inline: Style
    code: Style
    code_faint: Style
    tokens: Mapping[TokenClass | None, Style]
    inserted: DiffStyles
    deleted: DiffStyles


@lru_cache(maxsize=32)
def palette(kind: Kind, syntax: str, *, ascii_marks: bool = False) -> Palette:
    """The styles of our chrome, `dark` or `light`, with code in the theme called `syntax`.

    The same arguments give the same object, so that what is drawn can be kept by it.
    """
    ui, theme = chrome(kind).ui, syntax_theme(syntax)
    ground = theme.ui["background"]
    code = Style(color=theme.ui["foreground"], bgcolor=ground)
    tokens: dict[TokenClass | None, Style] = {None: code}
    tokens |= {name: token_style(style, ground) for name, style in theme.tokens.items()}
    return Palette(
        kind=kind,
        marks=ASCII if ascii_marks else FINE,
        text=Style(color=ui["text"]),
        strong=Style(color=ui["text"], bold=True),
        muted=Style(color=ui["text_muted"]),
        faint=Style(color=ui["text_faint"]),
        border=Style(color=ui["border_strong"]),
        link=Style(color=ui["link"], underline=True),
        accent=Style(color=ui["accent_text"]),
        success=Style(color=ui["success"]),
        warning=Style(color=ui["warning"]),
        error=Style(color=ui["error"]),
        info=Style(color=ui["info"]),
        headings=(
            Style(color=ui["accent_text"], bold=True, underline=True),
            Style(color=ui["accent_text"], bold=True),
            Style(color=ui["text"], bold=True),
            Style(color=ui["text_muted"], bold=True),
            Style(color=ui["text_muted"], bold=True, italic=True),
            Style(color=ui["text_muted"], italic=True),
        ),
        code_inline=Style(color=ui["text"], bgcolor=ui["panel"]),
        code=code,
        code_faint=Style(color=_mixed(theme.ui["foreground"], ground, 0.6), bgcolor=ground),
        tokens=tokens,
        inserted=_diff_styles(theme.ui["inserted_background"], theme.tokens["inserted"].color),
        deleted=_diff_styles(theme.ui["deleted_background"], theme.tokens["deleted"].color),
    )


def token_style(style: TokenStyle, ground: str) -> Style:
    """A token of code on the ground of its theme, or on its own where it has one."""
    return Style(
        color=style.color,
        bgcolor=style.background or ground,
        bold=style.bold or None,
        italic=style.italic or None,
        underline=style.underline or None,
        strike=style.strike or None,
    )


def _diff_styles(ground: str, sign: str) -> DiffStyles:
    return DiffStyles(
        ground=Style(bgcolor=ground),
        word=Style(bgcolor=_mixed(sign, ground, 0.28), bold=True),
        sign=Style(color=sign, bgcolor=ground, bold=True),
    )


def _mixed(color: str, ground: str, share: float) -> str:
    one, other = (Color.parse(name).get_truecolor() for name in (color, ground))
    pairs = zip(one, other, strict=True)
    return ColorTriplet(*(round(a * share + b * (1 - share)) for a, b in pairs)).hex
