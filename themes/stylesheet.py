"""Chrome and syntax theme as CSS custom properties, for the page's own style sheet.

Code is coloured so that it can be read where it stands: first on the theme's ground, then, by the
properties of `diff_properties`, on the grounds of a diff.
"""

from collections.abc import Mapping
from typing import Literal

from themes.contrast import readable
from themes.loader import Chrome, SyntaxTheme


def custom_properties(chrome: Chrome, syntax: SyntaxTheme) -> dict[str, str]:
    """`--ui-*` from the chrome, `--code-*` from the theme's ground and `--tok-*` from its tokens.

    A token that is more than a colour has `--tok-<class>-weight`, `-style`, `-line` or `-ground`
    besides. Underscores become dashes.
    """
    properties = _named("ui", chrome.ui) | _named("code", syntax.ui) | _token_colors(syntax)
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


def diff_properties(syntax: SyntaxTheme, side: Literal["inserted", "deleted"]) -> dict[str, str]:
    """The `--tok-*` that must differ from the usual ones to be read on this side of a diff."""
    usual, ground = _token_colors(syntax), syntax.ui[f"{side}_background"]
    here = {_token(name): readable(style.color, ground) for name, style in syntax.tokens.items()}
    return {token: color for token, color in here.items() if usual[token] != color}


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
