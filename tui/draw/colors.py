"""Chrome and syntax theme as terminal styles, and the marks that lines are drawn with."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from rich.style import Style

from themes.contrast import blend, changed_word_background, ensure_contrast
from themes.loader import Kind, SyntaxTheme, TokenStyle, load_chrome, load_syntax_theme
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


Tokens = Mapping[TokenClass | None, Style]
"""A style for each token class, and under `None` for code that is of no class."""


@dataclass(frozen=True, slots=True, eq=False)
class DiffStyles:
    """One side of a diff: its ground, that of its changed words, its sign, and code on both."""

    ground: Style
    word: Style
    sign: Style
    tokens: Tokens
    word_tokens: Tokens


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
    tokens: Tokens
    inserted: DiffStyles
    deleted: DiffStyles


@lru_cache(maxsize=32)
def palette(kind: Kind, syntax: str, *, ascii_marks: bool = False) -> Palette:
    """The styles of our chrome, `dark` or `light`, with code in the theme called `syntax`.

    Colours of the theme that are hard to read on their ground are moved as far as they must. The
    same arguments give the same object, so that what is drawn can be kept by it.
    """
    ui, theme = load_chrome(kind).ui, load_syntax_theme(syntax)
    ground, foreground = theme.ui["background"], theme.ui["foreground"]
    sides = [theme.ui[f"{side}_background"] for side in ("inserted", "deleted")]
    faint = ensure_contrast(blend(foreground, ground, 0.6), ground, *sides)
    tokens = _tokens_on(theme, ground, theme.ui["line_highlight"])
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
        code=tokens[None],
        code_faint=Style(color=faint, bgcolor=ground),
        tokens=tokens,
        inserted=_diff_styles(theme, "inserted"),
        deleted=_diff_styles(theme, "deleted"),
    )


def _tokens_on(theme: SyntaxTheme, ground: str, *others: str, bold: bool = False) -> Tokens:
    """Code on this ground, readable there and on the others as well."""
    plain = TokenStyle(theme.ui["foreground"])
    styles: dict[TokenClass | None, TokenStyle] = {None: plain}
    styles.update(theme.tokens.items())
    return {
        name: token_style(style, ground, *others) + Style(bold=bold or None)
        for name, style in styles.items()
    }


def token_style(style: TokenStyle, ground: str, *others: str) -> Style:
    """A token of code on the ground of its theme, or on its own where it has one."""
    grounds = (style.background,) if style.background else (ground, *others)
    return Style(
        color=ensure_contrast(style.color, *grounds),
        bgcolor=grounds[0],
        bold=style.bold or None,
        italic=style.italic or None,
        underline=style.underline or None,
        strike=style.strike or None,
    )


def _diff_styles(theme: SyntaxTheme, side: Literal["inserted", "deleted"]) -> DiffStyles:
    ground, sign = theme.ui[f"{side}_background"], theme.tokens[side].color
    word = changed_word_background(sign, ground)
    return DiffStyles(
        ground=Style(bgcolor=ground),
        word=Style(bgcolor=word, bold=True),
        sign=Style(color=ensure_contrast(sign, ground), bgcolor=ground, bold=True),
        tokens=_tokens_on(theme, ground),
        word_tokens=_tokens_on(theme, word, bold=True),
    )
