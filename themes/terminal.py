"""The colors of a terminal theme from a chrome, as plain arguments that need no UI toolkit."""

from dataclasses import dataclass

from themes.loader import Chrome


@dataclass(frozen=True, slots=True)
class ThemeColors:
    """The arguments of `textual.theme.Theme`, under the same names."""

    name: str
    primary: str
    secondary: str
    warning: str
    error: str
    success: str
    accent: str
    foreground: str
    background: str
    surface: str
    panel: str
    dark: bool
    variables: dict[str, str]


def theme_colors(chrome: Chrome) -> ThemeColors:
    """Convert a chrome to a terminal theme: the named colors, and all others as `$variables`.

    Each key of the chrome is also a variable, with dashes (`$text-muted`, `$diff-added`).
    """
    ui = chrome.ui
    return ThemeColors(
        name=chrome.name,
        primary=ui["accent"],
        secondary=ui["info"],
        warning=ui["warning"],
        error=ui["error"],
        success=ui["success"],
        accent=ui["accent"],
        foreground=ui["text"],
        background=ui["background"],
        surface=ui["surface"],
        panel=ui["panel"],
        dark=chrome.kind == "dark",
        variables=_variables(chrome),
    )


def _variables(chrome: Chrome) -> dict[str, str]:
    ui = chrome.ui
    own = {
        key.replace("_", "-"): color
        for key, color in ui.items()
        if key not in ("background", "surface", "panel", "accent", "success", "warning", "error")
    }
    return own | {
        "text-disabled": ui["text_faint"],
        "text-accent": ui["accent_text"],
        "text-primary": ui["accent_text"],
        "text-success": ui["success"],
        "text-warning": ui["warning"],
        "text-error": ui["error"],
        "foreground-muted": ui["text_muted"],
        "border-blurred": ui["border"],
        "footer-key-foreground": ui["accent_text"],
        "footer-background": ui["surface"],
        "footer-description-foreground": ui["text_muted"],
        "block-cursor-foreground": ui["on_selection"],
        "block-cursor-background": ui["selection"],
        "block-cursor-text-style": "none",
        "block-cursor-blurred-foreground": ui["text"],
        "block-cursor-blurred-background": ui["overlay"],
        "block-hover-background": ui["panel"],
        "input-selection-background": ui["selection"],
        "input-cursor-background": ui["text"],
        "input-cursor-foreground": ui["background"],
        "link-color": ui["link"],
        "link-background": "initial",
        "link-color-hover": ui["background"],
        "link-background-hover": ui["link"],
        "scrollbar": ui["border"],
        "scrollbar-hover": ui["border_strong"],
        "scrollbar-active": ui["accent"],
        "scrollbar-background": ui["background"],
        "scrollbar-background-hover": ui["background"],
        "scrollbar-background-active": ui["background"],
        "scrollbar-corner-color": ui["background"],
    }
