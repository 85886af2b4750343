"""Chrome and syntax theme as CSS custom properties, for the page's own style sheet."""

from collections.abc import Mapping

from themes.loader import Chrome, SyntaxTheme


def custom_properties(chrome: Chrome, syntax: SyntaxTheme) -> dict[str, str]:
    """`--ui-*` from the chrome, `--code-*` from the theme's ground and `--tok-*` from its tokens.

    A token that is more than a colour has `--tok-<class>-weight`, `-style`, `-line` or `-ground`
    besides. Underscores become dashes.
    """
    properties = _named("ui", chrome.ui) | _named("code", syntax.ui)
    for name, style in syntax.tokens.items():
        token = f"--tok-{name.replace('_', '-')}"
        properties[token] = style.color
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


def _named(prefix: str, colors: Mapping[str, str]) -> dict[str, str]:
    return {f"--{prefix}-{key.replace('_', '-')}": color for key, color in colors.items()}
