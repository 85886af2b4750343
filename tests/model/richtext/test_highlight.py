import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.richtext.blocks import Token
from model.richtext.highlight import (
    MAX_CHARACTERS,
    MAX_LINE_LENGTH,
    LineHighlighter,
    highlight_code,
    language_for_path,
)
from tests.nightly import examples
from themes.tokens import TOKEN_CLASSES

SAMPLES = {
    "python": '@dec\nclass A(B):\n    """Doc\n  more"""\n    x = f"{y}\\n"\n    def f(a): g(1)\n',
    "typescript": "import x from 'y';\n/* a\n b */\nconst a: number = f(`t ${b}`);\n",
    "json": '{"a": [1, true, null, "b"],\n "c": {}}\n',
    "html": '<!doctype html>\n<a href="x">y</a>\n<script>let a = 1</script>\n',
    "css": "a:hover { color: #fff; }\n",
    "bash": 'for f in *; do\n  echo "$f" # no\ndone\n',
    "rust": 'fn main() -> u8 { let mut a = "b"; /* c\n */ 1 }\n',
    "diff": "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n",
    "yaml": "a: 1\nb:\n  - c # d\n",
    "toml": '[a]\nb = "c"\n',
    "console": "$ ls\nfile\n",
    "markdown": "# a\n\n- **b** `c`\n",
}


def texts_of(lines):
    return ["".join(token.text for token in line) for line in lines]


@pytest.mark.parametrize("language", SAMPLES)
def test_every_line_keeps_its_text_and_every_class_is_a_known_one(language):
    lines = highlight_code(SAMPLES[language], language)
    assert texts_of(lines) == SAMPLES[language].removesuffix("\n").split("\n")
    kinds = {token.kind for line in lines for token in line} - {None}
    assert kinds
    assert kinds <= set(TOKEN_CLASSES)


@pytest.mark.parametrize("language", SAMPLES)
def test_highlighting_line_by_line_keeps_the_text(language):
    highlighter = LineHighlighter(language)
    source = SAMPLES[language].split("\n")
    assert texts_of(map(highlighter.highlight, source)) == source


def test_the_lexer_state_is_kept_between_lines():
    highlighter = LineHighlighter("python")
    highlighter.highlight("x = '''one")
    assert {token.kind for token in highlighter.highlight("if two")} == {"string"}
    highlighter.highlight("'''")
    assert highlighter.highlight("if two")[0] == Token("if ", "keyword")


@pytest.mark.parametrize(
    ("language", "code", "token"),
    [
        ("json", '{"a": 1}', Token('"a"', "key")),
        ("python", "print(a)", Token("print", "builtin")),
        ("python", "shout(a)", Token("shout", "function_call")),
        ("js", "const a = 1", Token("const ", "storage")),
        ("css", "a { color: red }", Token("color", "css_property")),
        ("html", "<p>", Token("<", "tag_punctuation")),
        ("diff", "+new\n", Token("+new", "inserted")),
        ("diff", "@@ -1 +1 @@\n", Token("@@ -1 +1 @@", "diff_range")),
        ("go", "func f() {}", Token("func ", "storage")),
    ],
)
def test_tokens_get_the_class_that_themes_use(language, code, token):
    assert token in highlight_code(code, language)[0]


@pytest.mark.parametrize("language", [None, "", "no-such-language", "text", "{}", "/../"])
def test_an_unknown_language_stays_plain(language):
    assert highlight_code("if a\n\n b\n", language) == ((Token("if a"),), (), (Token(" b"),))


def test_an_unknown_language_is_not_searched_for_on_disk(monkeypatch):
    # While a block is streamed, the name of its language is incomplete at first.
    def search(*_group):
        raise AssertionError("the metadata of every installed package is read")

    monkeypatch.setattr("pygments.plugin.iter_entry_points", search)
    assert highlight_code("x = 1", "pyth") == ((Token("x = 1"),),)


def test_long_code_stays_plain():
    assert highlight_code("x = 1\n" * MAX_CHARACTERS, "python")[0] == (Token("x = 1"),)
    assert highlight_code("x" * (MAX_LINE_LENGTH + 1) + " = 1", "python")[0][0].kind is None


def test_empty_lines_are_lines_and_empty_code_has_none():
    assert highlight_code("", "python") == ()
    assert highlight_code("\n", "python") == ((),)
    assert highlight_code("\n\na\n\n", "python") == ((), (), (Token("a"),), ())


@settings(deadline=None, max_examples=examples(50, 300))
@given(
    st.text(st.sampled_from("ab1 \n\t\"'`#/*(){}[]<>=:;\\$é漢\x0c\u2028\r"), max_size=80),
    st.sampled_from(sorted(SAMPLES)),
)
def test_no_code_loses_a_character(code, language):
    source = code.removesuffix("\n").split("\n") if code else []
    assert texts_of(highlight_code(code, language)) == source
    highlighter = LineHighlighter(language)
    assert texts_of(map(highlighter.highlight, source)) == source


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/app.py", "python"),
        ("a/b.ts", "typescript"),
        ("x.tsx", "tsx"),
        ("Makefile", "make"),
        ("Dockerfile", "docker"),
        ("c.json", "json"),
        ("d.yml", "yaml"),
        ("README.md", "markdown"),
        ("notes.txt", None),
        ("what", None),
        ("", None),
    ],
)
def test_the_language_is_derived_from_the_file_name(path, language):
    assert language_for_path(path) == language
