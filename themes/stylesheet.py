"""Chrome and syntax theme as CSS custom properties, for the page's own style sheet.

Code colors are adjusted to be readable on their background: the theme's own, and with the
properties of `diff_properties` and `word_properties` the backgrounds of a diff.
"""

from collections.abc import Mapping
from typing import Literal, get_args

from themes.contrast import mixed, readable, word_ground
from themes.loader import Chrome, SyntaxTheme
from themes.tokens import TokenClass

Side = Literal["inserted", "deleted"]


def custom_properties(chrome: Chrome, syntax: SyntaxTheme) -> dict[str, str]:
    """`--ui-*` from the chrome, `--code-*` from the theme's editor and `--tok-*` from its tokens.

    A token style beyond color also has `--tok-<class>-weight`, `-style`, `-line` or `-ground`.
    Underscores become dashes. `--code-faint` is readable on every background of a diff.
    """
    properties = _prefixed("ui", chrome.ui) | _prefixed("code", syntax.ui) | _token_colors(syntax)
    background, foreground = syntax.ui["background"], syntax.ui["foreground"]
    sides = (syntax.ui["inserted_background"], syntax.ui["deleted_background"])
    properties["--code-faint"] = readable(mixed(foreground, background, 0.6), background, *sides)
    for name, style in syntax.tokens.items():
        token = _token_property(name)
        if style.bold:
            properties[f"{token}-weight"] = "bold"
        if style.italic:
            properties[f"{token}-style"] = "italic"
        lines = " ".join(
            line
            for line, drawn in (("underline", style.underline), ("line-through", style.strike))
            if drawn
        )
        if lines:
            properties[f"{token}-line"] = lines
        if style.background:
            properties[f"{token}-ground"] = style.background
    return properties


def token_rules() -> list[str]:
    """A CSS rule for each token class, `.tok-<class>`, that applies its properties."""
    return [
        f".tok-{name} {{ color: var({_token_property(name)}); "
        f"font-weight: var({_token_property(name)}-weight, inherit); "
        f"font-style: var({_token_property(name)}-style, inherit); "
        f"text-decoration: var({_token_property(name)}-line, inherit); "
        f"background: var({_token_property(name)}-ground, none); }}"
        for name in get_args(TokenClass)
    ]


def diff_properties(syntax: SyntaxTheme, side: Side) -> dict[str, str]:
    """The `--tok-*` that must differ from the default ones to be readable on this side of a diff.

    `--code-sign` is the color of the side's sign, `--code-side` its background.
    """
    background = syntax.ui[f"{side}_background"]
    own = {
        "--code-side": background,
        "--code-sign": readable(syntax.tokens[side].color, background),
    }
    return own | _differing(_code_colors_on(syntax, background), _default_colors(syntax))


def word_properties(syntax: SyntaxTheme, side: Side) -> dict[str, str]:
    """`--code-side` of changed words, and the `--tok-*` that must differ from those of the row."""
    background = syntax.ui[f"{side}_background"]
    words_background = word_ground(syntax.tokens[side].color, background)
    differing = _differing(
        _code_colors_on(syntax, words_background), _code_colors_on(syntax, background)
    )
    return {"--code-side": words_background} | differing


def _differing(required: Mapping[str, str], current: Mapping[str, str]) -> dict[str, str]:
    return {name: color for name, color in required.items() if current[name] != color}


def _code_colors_on(syntax: SyntaxTheme, background: str) -> dict[str, str]:
    own = {
        _token_property(name): readable(style.color, background)
        for name, style in syntax.tokens.items()
    }
    return {"--code-foreground": readable(syntax.ui["foreground"], background)} | own


def _default_colors(syntax: SyntaxTheme) -> dict[str, str]:
    return {"--code-foreground": syntax.ui["foreground"]} | _token_colors(syntax)


def _token_colors(syntax: SyntaxTheme) -> dict[str, str]:
    backgrounds = (syntax.ui["background"], syntax.ui["line_highlight"])
    return {
        _token_property(name): readable(
            style.color, *([style.background] if style.background else backgrounds)
        )
        for name, style in syntax.tokens.items()
    }


def _token_property(name: str) -> str:
    return f"--tok-{name.replace('_', '-')}"


def _prefixed(prefix: str, colors: Mapping[str, str]) -> dict[str, str]:
    return {f"--{prefix}-{key.replace('_', '-')}": color for key, color in colors.items()}
