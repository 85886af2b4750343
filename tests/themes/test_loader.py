import re
import subprocess
import sys
from dataclasses import asdict

import pytest
from textual.theme import Theme

from tests.patience import PATIENCE
from themes.contrast import contrast_ratio, luminance
from themes.loader import list_syntax_themes, load_chrome, load_syntax_theme
from themes.stylesheet import custom_properties
from themes.terminal import theme_colors
from themes.tokens import TOKEN_CLASSES

COLOR = re.compile(r"#[0-9a-f]{6}")
UI_KEYS = (
    "background",
    "foreground",
    "selection",
    "line_highlight",
    "cursor",
    "line_number",
    "inserted_background",
    "deleted_background",
)


def test_there_are_nineteen_syntax_themes_and_the_defaults_are_among_them():
    assert len(list_syntax_themes()) == 19
    assert {"vitesse-black", "hosting-light"} <= set(list_syntax_themes())


def test_there_are_fifty_one_token_classes():
    assert len(set(TOKEN_CLASSES)) == len(TOKEN_CLASSES) == 51


@pytest.mark.parametrize("name", list_syntax_themes())
def test_a_syntax_theme_has_an_opaque_color_for_every_class(name):
    theme = load_syntax_theme(name)
    assert theme.name == name
    assert tuple(theme.tokens) == TOKEN_CLASSES
    for style in theme.tokens.values():
        assert COLOR.fullmatch(style.color)
        assert style.background is None or COLOR.fullmatch(style.background)
    assert set(UI_KEYS) <= set(theme.ui)
    assert all(map(COLOR.fullmatch, (*theme.ui.values(), *theme.ansi.values())))


@pytest.mark.parametrize("name", list_syntax_themes())
def test_the_kind_of_a_theme_matches_its_background_and_its_text_is_readable(name):
    theme = load_syntax_theme(name)
    assert (luminance(theme.ui["background"]) < 0.2) == (theme.kind == "dark")
    assert contrast_ratio(theme.ui["foreground"], theme.ui["background"]) > 6.5


def test_an_unknown_theme_is_refused_with_the_names_that_exist():
    with pytest.raises(ValueError, match=r"There is no syntax theme 'mauve'.*vitesse-black"):
        load_syntax_theme("mauve")
    with pytest.raises(ValueError, match="There is no syntax theme"):
        load_syntax_theme("../chrome/spinney-dark")
    with pytest.raises(ValueError, match="dark or light"):
        load_chrome("system")


def test_a_theme_is_read_once_and_is_immutable():
    assert load_syntax_theme("nord") is load_syntax_theme("nord")
    with pytest.raises(TypeError):
        load_syntax_theme("nord").ui["background"] = "#ffffff"


@pytest.mark.parametrize("kind", ["dark", "light"])
def test_the_chrome_is_readable_on_every_background_it_uses(kind):
    ui = load_chrome(kind).ui
    grounds = [ui[name] for name in ("background", "surface", "panel", "overlay")]
    for ground in grounds:
        assert contrast_ratio(ui["text"], ground) >= 7
        for name in ("text_muted", "text_faint", "link", "success", "warning", "error", "info"):
            assert contrast_ratio(ui[name], ground) >= 4.5, (name, ground)
        assert contrast_ratio(ui["focus"], ground) >= 3
    for name in ("added", "removed"):
        assert contrast_ratio(ui["text"], ui[f"diff_{name}"]) >= 7
        assert contrast_ratio(ui["text"], ui[f"diff_{name}_word"]) >= 7


@pytest.mark.parametrize("kind", ["dark", "light"])
def test_a_terminal_theme_is_created_from_the_chrome(kind):
    theme = Theme(**asdict(theme_colors(load_chrome(kind))))
    generated = theme.to_color_system().generate()
    assert theme.dark is (kind == "dark")
    assert generated["background"].lower() == load_chrome(kind).ui["background"]
    assert theme.variables["text-muted"] == load_chrome(kind).ui["text_muted"]


def test_a_style_sheet_defines_every_class_and_every_color():
    properties = custom_properties(load_chrome("dark"), load_syntax_theme("vitesse-black"))
    assert properties["--ui-text-muted"] == load_chrome("dark").ui["text_muted"]
    assert properties["--code-background"] == "#000000"
    assert properties["--tok-string"] == load_syntax_theme("vitesse-black").tokens["string"].color
    assert properties["--tok-heading-weight"] == "bold"
    assert properties["--tok-link-line"] == "underline"
    assert all(f"--tok-{name.replace('_', '-')}" in properties for name in TOKEN_CLASSES)
    assert not any(character in "".join(properties.values()) for character in ";{}<")


def test_loading_themes_imports_only_the_standard_library():
    code = (
        "import sys, themes.loader, themes.terminal, themes.stylesheet;"
        "themes.loader.load_syntax_theme('nord');"
        "print(*[m for m in ('rich', 'textual', 'pygments', 'model') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE)
    assert done.stdout.split() == []
