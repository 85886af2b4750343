"""Text of every theme has enough contrast on each background that it is shown on."""

import pytest
from rich.style import Style

from themes.contrast import contrast_ratio, ensure_contrast, is_dark, luminance
from themes.loader import Kind, list_syntax_themes, load_chrome, load_syntax_theme
from themes.stylesheet import custom_properties, diff_properties
from tui.draw.colors import Palette, get_palette
from tui.transcript.parts import get_styles

KINDS: tuple[Kind, Kind] = ("dark", "light")
TEXT_BACKGROUNDS = ("background", "surface", "panel", "overlay")


def style_contrast(style: Style, ground: str) -> float:
    assert style.color is not None
    below = style.bgcolor.get_truecolor().hex if style.bgcolor is not None else ground
    return contrast_ratio(style.color.get_truecolor().hex, below)


def load_palette(name: str) -> Palette:
    return get_palette(load_syntax_theme(name).kind, name)


def test_contrast_and_luminance_follow_wcag():
    assert contrast_ratio("#000000", "#ffffff") == pytest.approx(21)
    assert contrast_ratio("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert luminance("#ffffff") == pytest.approx(1)
    assert is_dark("#282a36") and is_dark("#000000") and not is_dark("#eff1f5")


def test_a_readable_color_is_not_changed():
    assert ensure_contrast("#f8f8f2", "#282a36") == "#f8f8f2"


def test_an_unreadable_color_is_changed_as_little_as_possible_and_keeps_its_hue():
    moved = ensure_contrast("#6272a4", "#282a36")
    assert 4.5 <= contrast_ratio(moved, "#282a36") < 4.65
    red, green, blue = (int(moved[at : at + 2], 16) for at in (1, 3, 5))
    assert red < green < blue


def test_a_color_is_made_readable_on_all_its_backgrounds():
    moved = ensure_contrast("#a0a1a7", "#fafafa", "#e0e0e0")
    assert contrast_ratio(moved, "#e0e0e0") >= 4.5
    assert contrast_ratio(ensure_contrast("#888888", "#777777"), "#777777") >= 4.2, (
        "no color has more contrast"
    )


@pytest.mark.parametrize("name", list_syntax_themes())
def test_code_is_readable_on_its_background_and_on_the_cursor_line(name):
    theme = load_syntax_theme(name)
    for kind, style in load_palette(name).tokens.items():
        assert style_contrast(style, theme.ui["background"]) >= 4.5, kind
        if kind is None or theme.tokens[kind].background is None:
            assert (
                contrast_ratio(style.color.get_truecolor().hex, theme.ui["line_highlight"]) >= 4.5
            )


@pytest.mark.parametrize("name", list_syntax_themes())
@pytest.mark.parametrize("side", ["inserted", "deleted"])
def test_code_is_readable_in_a_diff_and_in_its_changed_words(name, side):
    styles, drawn = getattr(load_palette(name), side), load_palette(name)
    ground = styles.background.bgcolor.get_truecolor().hex
    word = styles.changed.bgcolor.get_truecolor().hex
    for kind in drawn.tokens:
        assert style_contrast(styles.tokens[kind], ground) >= 4.5, kind
        assert style_contrast(styles.changed_tokens[kind], word) >= 4.5, kind
        assert styles.changed_tokens[kind].bold, "color is not the only mark of a changed word"
    assert style_contrast(styles.sign, ground) >= 4.5
    assert style_contrast(drawn.code_faint + styles.background, ground) >= 4.5
    assert contrast_ratio(word, ground) >= 1.25, "a changed word stands out"


@pytest.mark.parametrize("name", list_syntax_themes())
def test_all_other_text_of_a_conversation_is_readable(name):
    drawn = load_palette(name)
    ground = load_chrome(drawn.kind).ui["background"]
    plain = ("text", "strong", "muted", "faint", "link", "accent", "success", "warning", "error")
    for part in (*plain, "info", "code", "code_faint", "code_inline"):
        assert style_contrast(getattr(drawn, part), ground) >= 4.5, part
    assert all(style_contrast(heading, ground) >= 4.5 for heading in drawn.headings)
    assert style_contrast(drawn.border, ground) >= 3
    marks = get_styles(drawn.kind)
    for style in (marks.strong, marks.accent, marks.success, marks.warning, marks.error):
        assert style_contrast(style, ground) >= 4.5
    assert style_contrast(marks.news, ground) >= 4.5
    assert style_contrast(marks.selected, ground) >= 4.5


@pytest.mark.parametrize("name", list_syntax_themes())
def test_the_colors_of_the_page_are_readable(name):
    theme = load_syntax_theme(name)
    properties = custom_properties(load_chrome(theme.kind), theme)
    for token, style in theme.tokens.items():
        key = f"--tok-{token.replace('_', '-')}"
        assert contrast_ratio(properties[key], style.background or theme.ui["background"]) >= 4.5, (
            token
        )
        for side in ("inserted", "deleted"):
            in_diff = properties | diff_properties(theme, side)
            assert contrast_ratio(in_diff[key], theme.ui[f"{side}_background"]) >= 4.5, (
                token,
                side,
            )


@pytest.mark.parametrize("kind", KINDS)
def test_text_of_the_chrome_is_readable_on_all_its_backgrounds(kind):
    ui = load_chrome(kind).ui
    for ground in (*(ui[name] for name in TEXT_BACKGROUNDS), ui["selection"]):
        assert contrast_ratio(ui["text"], ground) >= 4.5
    for name in ("success", "warning", "error", "info", "merged"):
        assert contrast_ratio(ui[name], ui[f"{name}_muted"]) >= 4.5, name
    for ground in (ui[name] for name in TEXT_BACKGROUNDS):
        assert contrast_ratio(ui["accent_text"], ground) >= 4.5
        assert contrast_ratio(ui["accent"], ground) >= 4.5
    assert contrast_ratio(ui["on_accent"], ui["accent"]) >= 4.5
    assert contrast_ratio(ui["on_selection"], ui["selection"]) >= 4.5
