"""Chrome and syntax themes as terminal styles, and the glyphs that lines are drawn with."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from rich.style import Style

from themes.contrast import blend, changed_word_background, ensure_contrast
from themes.loader import Kind, SyntaxTheme, TokenStyle, load_chrome, load_syntax_theme
from themes.tokens import TokenClass


@dataclass(frozen=True, slots=True)
class TextGlyphs:
    """The glyphs of rendered text; each is as wide as its counterpart in the other set."""

    bullets: tuple[str, ...]
    quote: str
    code: str
    horizontal: str
    vertical: str
    cross: str
    continued: str
    more: str


UNICODE_GLYPHS: Final = TextGlyphs(("•", "◦", "▪"), "▎", "▏", "─", "│", "┼", "↪", "…")
ASCII_GLYPHS: Final = TextGlyphs(("*", "-", "+"), "|", "|", "-", "|", "+", "\\", "~")


Tokens = Mapping[TokenClass | None, Style]
"""A style per token class; `None` is the style of code without a class."""


@dataclass(frozen=True, slots=True, eq=False)
class DiffStyles:
    """Styles of one side of a diff: its background, that of changed words, its sign, its code."""

    background: Style
    changed: Style
    sign: Style
    tokens: Tokens
    changed_tokens: Tokens


@dataclass(frozen=True, slots=True, eq=False)
class Palette:
    """All styles that text is drawn with. Code styles include the syntax theme's background."""

    kind: Kind
    glyphs: TextGlyphs
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
def get_palette(kind: Kind, syntax: str, *, ascii_glyphs: bool = False) -> Palette:
    """Return the styles of the `dark` or `light` chrome, with code in the theme named `syntax`.

    Theme colors with too little contrast are adjusted as little as possible. Equal arguments
    return the same object, so a palette can be part of a cache key.
    """
    ui, theme = load_chrome(kind).ui, load_syntax_theme(syntax)
    ground, foreground = theme.ui["background"], theme.ui["foreground"]
    diff_backgrounds = [theme.ui[f"{side}_background"] for side in ("inserted", "deleted")]
    faint = ensure_contrast(blend(foreground, ground, 0.6), ground, *diff_backgrounds)
    tokens = _make_token_styles(theme, ground, theme.ui["line_highlight"])
    return Palette(
        kind=kind,
        glyphs=ASCII_GLYPHS if ascii_glyphs else UNICODE_GLYPHS,
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


def _make_token_styles(theme: SyntaxTheme, ground: str, *others: str, bold: bool = False) -> Tokens:
    """Styles of code on `ground`, readable on `others` as well."""
    plain = TokenStyle(theme.ui["foreground"])
    styles: dict[TokenClass | None, TokenStyle] = {None: plain}
    styles.update(theme.tokens.items())
    return {
        name: make_token_style(style, ground, *others) + Style(bold=bold or None)
        for name, style in styles.items()
    }


def make_token_style(style: TokenStyle, ground: str, *others: str) -> Style:
    """The style of a token on the theme's background, or on its own if it has one."""
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
        background=Style(bgcolor=ground),
        changed=Style(bgcolor=word, bold=True),
        sign=Style(color=ensure_contrast(sign, ground), bgcolor=ground, bold=True),
        tokens=_make_token_styles(theme, ground),
        changed_tokens=_make_token_styles(theme, word, bold=True),
    )
