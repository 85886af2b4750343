"""Every text can be read: each theme on each ground where its text stands."""

import pytest
from rich.style import Style

from themes.contrast import contrast_ratio, ensure_contrast, is_dark, luminance
from themes.loader import Kind, list_syntax_themes, load_chrome, load_syntax_theme
from themes.stylesheet import custom_properties, diff_properties
from tui.draw.colors import Palette, get_palette
from tui.transcript.parts import get_styles

KINDS: tuple[Kind, Kind] = ("dark", "light")
GROUNDS_OF_TEXT = ("background", "surface", "panel", "overlay")


def ratio(style: Style, ground: str) -> float:
    assert style.color is not None
    below = style.bgcolor.get_truecolor().hex if style.bgcolor is not None else ground
    return contrast_ratio(style.color.get_truecolor().hex, below)


def looks(name: str) -> Palette:
    return get_palette(load_syntax_theme(name).kind, name)


def test_contrast_is_what_wcag_says():
    assert contrast_ratio("#000000", "#ffffff") == pytest.approx(21)
    assert contrast_ratio("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert luminance("#ffffff") == pytest.approx(1)
    assert is_dark("#282a36") and is_dark("#000000") and not is_dark("#eff1f5")


def test_a_colour_that_can_be_read_is_left_alone():
    assert ensure_contrast("#f8f8f2", "#282a36") == "#f8f8f2"


def test_a_colour_that_cannot_is_moved_no_further_than_it_must_and_keeps_its_hue():
    moved = ensure_contrast("#6272a4", "#282a36")
    assert 4.5 <= contrast_ratio(moved, "#282a36") < 4.65
    red, green, blue = (int(moved[at : at + 2], 16) for at in (1, 3, 5))
    assert red < green < blue


def test_a_colour_is_moved_for_all_its_grounds_at_once():
    moved = ensure_contrast("#a0a1a7", "#fafafa", "#e0e0e0")
    assert contrast_ratio(moved, "#e0e0e0") >= 4.5
    assert contrast_ratio(ensure_contrast("#888888", "#777777"), "#777777") >= 4.2, (
        "nothing reads better"
    )


@pytest.mark.parametrize("name", list_syntax_themes())
def test_code_can_be_read_on_its_ground_and_on_the_line_of_the_cursor(name):
    theme = load_syntax_theme(name)
    for kind, style in looks(name).tokens.items():
        assert ratio(style, theme.ui["background"]) >= 4.5, kind
        if kind is None or theme.tokens[kind].background is None:
            assert (
                contrast_ratio(style.color.get_truecolor().hex, theme.ui["line_highlight"]) >= 4.5
            )


@pytest.mark.parametrize("name", list_syntax_themes())
@pytest.mark.parametrize("side", ["inserted", "deleted"])
def test_code_can_be_read_in_a_diff_and_in_its_changed_words(name, side):
    styles, drawn = getattr(looks(name), side), looks(name)
    ground = styles.background.bgcolor.get_truecolor().hex
    word = styles.changed.bgcolor.get_truecolor().hex
    for kind in drawn.tokens:
        assert ratio(styles.tokens[kind], ground) >= 4.5, kind
        assert ratio(styles.changed_tokens[kind], word) >= 4.5, kind
        assert styles.changed_tokens[kind].bold, "a changed word is told by more than its colour"
    assert ratio(styles.sign, ground) >= 4.5
    assert ratio(drawn.code_faint + styles.background, ground) >= 4.5
    assert contrast_ratio(word, ground) >= 1.25, "a changed word stands out"


@pytest.mark.parametrize("name", list_syntax_themes())
def test_everything_else_that_is_drawn_in_a_conversation_can_be_read(name):
    drawn = looks(name)
    ground = load_chrome(drawn.kind).ui["background"]
    plain = ("text", "strong", "muted", "faint", "link", "accent", "success", "warning", "error")
    for part in (*plain, "info", "code", "code_faint", "code_inline"):
        assert ratio(getattr(drawn, part), ground) >= 4.5, part
    assert all(ratio(heading, ground) >= 4.5 for heading in drawn.headings)
    assert ratio(drawn.border, ground) >= 3
    marks = get_styles(drawn.kind)
    for style in (marks.strong, marks.accent, marks.success, marks.warning, marks.error):
        assert ratio(style, ground) >= 4.5
    assert ratio(marks.news, ground) >= 4.5
    assert ratio(marks.selected, ground) >= 4.5


@pytest.mark.parametrize("name", list_syntax_themes())
def test_the_page_gets_colours_that_can_be_read_as_well(name):
    theme = load_syntax_theme(name)
    usual = custom_properties(load_chrome(theme.kind), theme)
    for token, style in theme.tokens.items():
        key = f"--tok-{token.replace('_', '-')}"
        assert contrast_ratio(usual[key], style.background or theme.ui["background"]) >= 4.5, token
        for side in ("inserted", "deleted"):
            here = usual | diff_properties(theme, side)
            assert contrast_ratio(here[key], theme.ui[f"{side}_background"]) >= 4.5, (token, side)


@pytest.mark.parametrize("kind", KINDS)
def test_the_words_of_the_chrome_can_be_read_wherever_they_may_stand(kind):
    ui = load_chrome(kind).ui
    for ground in (*(ui[name] for name in GROUNDS_OF_TEXT), ui["selection"]):
        assert contrast_ratio(ui["text"], ground) >= 4.5
    for name in ("success", "warning", "error", "info", "merged"):
        assert contrast_ratio(ui[name], ui[f"{name}_muted"]) >= 4.5, name
    for ground in (ui[name] for name in GROUNDS_OF_TEXT):
        assert contrast_ratio(ui["accent_text"], ground) >= 4.5
        assert contrast_ratio(ui["accent"], ground) >= 4.5
    assert contrast_ratio(ui["on_accent"], ui["accent"]) >= 4.5
    assert contrast_ratio(ui["on_selection"], ui["selection"]) >= 4.5
