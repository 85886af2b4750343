"""Colors for users whose device asks for more contrast."""

import pytest

from server.theme_css import _theme_rules
from themes.contrast import contrast_ratio
from themes.high_contrast import increase_contrast
from themes.loader import list_syntax_themes, load_syntax_theme

PLACES = ("", " .added", " .added .word", " .removed", " .removed .word")


def resolve_properties(place: str, name: str) -> dict[str, str]:
    """Return the CSS properties that apply in this place with more contrast."""
    rules = _theme_rules(load_syntax_theme(name).kind, name)
    more = increase_contrast(rules)
    shown: dict[str, str] = {}
    for outer in PLACES:
        if place == outer or not outer or place.startswith(f"{outer} "):
            shown |= {**rules[outer], **more[outer]}
    return shown


@pytest.mark.parametrize("name", list_syntax_themes())
@pytest.mark.parametrize("place", PLACES)
def test_code_has_a_contrast_of_7_or_the_maximum(name: str, place: str) -> None:
    shown = resolve_properties(place, name)
    ground = shown["--code-side" if place else "--code-background"]
    for token in load_syntax_theme(name).tokens:
        key = f"--tok-{token.replace('_', '-')}"
        under = shown.get(f"{key}-ground", ground)
        assert contrast_ratio(shown[key], under) >= 7 or shown[key] in ("#ffffff", "#000000"), key
    assert contrast_ratio(shown["--code-foreground"], ground) >= 7


@pytest.mark.parametrize("name", ["vitesse-black", "hosting-light"])
def test_text_and_borders_of_the_page_have_high_contrast(name: str) -> None:
    shown = resolve_properties("", name)
    for ground in ("background", "surface", "panel", "overlay"):
        under = shown[f"--ui-{ground}"]
        for role in ("text", "text-muted", "text-faint", "link", "success", "warning", "error"):
            assert contrast_ratio(shown[f"--ui-{role}"], under) >= 7, (role, ground)
        for edge in ("border", "border-strong", "focus"):
            assert contrast_ratio(shown[f"--ui-{edge}"], under) >= 4.5, (edge, ground)
    assert contrast_ratio(shown["--ui-on-accent"], shown["--ui-accent"]) >= 7
