"""Chrome and syntax theme as CSS custom properties, for the page's own style sheet.

Code is coloured so that it can be read where it stands: first on the theme's ground, then, by the
properties of `diff_properties` and `word_properties`, on the grounds of a diff.
"""

from collections.abc import Mapping
from typing import Literal, get_args

from themes.contrast import mixed, readable, word_ground
from themes.loader import Chrome, SyntaxTheme
from themes.tokens import TokenClass

Side = Literal["inserted", "deleted"]


def custom_properties(chrome: Chrome, syntax: SyntaxTheme) -> dict[str, str]:
    """`--ui-*` from the chrome, `--code-*` from the theme's ground and `--tok-*` from its tokens.

    A token that is more than a colour has `--tok-<class>-weight`, `-style`, `-line` or `-ground`
    besides. Underscores become dashes. `--code-faint` can be read on every ground of a diff.
    """
    properties = _named("ui", chrome.ui) | _named("code", syntax.ui) | _token_colors(syntax)
    ground, foreground = syntax.ui["background"], syntax.ui["foreground"]
    sides = (syntax.ui["inserted_background"], syntax.ui["deleted_background"])
    properties["--code-faint"] = readable(mixed(foreground, ground, 0.6), ground, *sides)
    for name, style in syntax.tokens.items():
        token = _token(name)
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
    """A rule for each class of tokens, `.tok-<class>`, which draws it by its properties."""
    return [
        f".tok-{name} {{ color: var({_token(name)}); "
        f"font-weight: var({_token(name)}-weight, inherit); "
        f"font-style: var({_token(name)}-style, inherit); "
        f"text-decoration: var({_token(name)}-line, inherit); "
        f"background: var({_token(name)}-ground, none); }}"
        for name in get_args(TokenClass)
    ]


def diff_properties(syntax: SyntaxTheme, side: Side) -> dict[str, str]:
    """The `--tok-*` that must differ from the usual ones to be read on this side of a diff.

    `--code-sign` is the colour of the side's sign there, `--code-side` its ground.
    """
    ground = syntax.ui[f"{side}_background"]
    own = {"--code-side": ground, "--code-sign": readable(syntax.tokens[side].color, ground)}
    return own | _differing(_code_on(syntax, ground), _usual(syntax))


def word_properties(syntax: SyntaxTheme, side: Side) -> dict[str, str]:
    """`--code-side` of changed words there, and the `--tok-*` that must differ from their row's."""
    ground = syntax.ui[f"{side}_background"]
    words = word_ground(syntax.tokens[side].color, ground)
    differing = _differing(_code_on(syntax, words), _code_on(syntax, ground))
    return {"--code-side": words} | differing


def _differing(here: Mapping[str, str], there: Mapping[str, str]) -> dict[str, str]:
    return {name: color for name, color in here.items() if there[name] != color}


def _code_on(syntax: SyntaxTheme, ground: str) -> dict[str, str]:
    own = {_token(name): readable(style.color, ground) for name, style in syntax.tokens.items()}
    return {"--code-foreground": readable(syntax.ui["foreground"], ground)} | own


def _usual(syntax: SyntaxTheme) -> dict[str, str]:
    return {"--code-foreground": syntax.ui["foreground"]} | _token_colors(syntax)


def _token_colors(syntax: SyntaxTheme) -> dict[str, str]:
    grounds = (syntax.ui["background"], syntax.ui["line_highlight"])
    return {
        _token(name): readable(style.color, *([style.background] if style.background else grounds))
        for name, style in syntax.tokens.items()
    }


def _token(name: str) -> str:
    return f"--tok-{name.replace('_', '-')}"


def _named(prefix: str, colors: Mapping[str, str]) -> dict[str, str]:
    return {f"--{prefix}-{key.replace('_', '-')}": color for key, color in colors.items()}
