"""Untrusted text made visible: hidden and control characters are shown, none is dropped."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from model.base.text import (
    VisibleStream,
    clean_line,
    find_hidden,
    make_json_visible,
    make_output_visible,
    make_visible,
    restore_hidden,
)

HIDING = {
    "\x1b]0;title\x07": "␛]0;title␇",
    "a\x1b[2Jb": "a␛[2Jb",
    "# \x1b]0;\ntouch made\n# \x07": "# ␛]0;\ntouch made\n# ␇",
    "\x00\x08\x0b\x0c\x1f\x7f": "␀␈␋␌␟␡",
    "\x85\x9b31m": "<U+0085><U+009B>31m",
    "safe\u202egnp.exe": "safe<U+202E>gnp.exe",
    "a\u2066b\u2069\u200e\u200f\u061c": "a<U+2066>b<U+2069><U+200E><U+200F><U+061C>",
    "r\u200bm": "r<U+200B>m",
    "\ufeffx\xad\u2060\u3164": "<U+FEFF>x<U+00AD><U+2060><U+3164>",
    "a\u2028b\u2029": "a<U+2028>b<U+2029>",
    "hi\U000e0072\U000e006d": "hi<U+E0072><U+E006D>",
    "\U0001f600\U000e0100\ufe01": "\U0001f600<U+E0100><U+FE01>",
    "\u263a\ufe0f\ufe0f": "\u263a\ufe0f<U+FE0F>",
    "a\u200db\ufe0f\u200c1": "a<U+200D>b<U+FE0F><U+200C>1",
    "over\rwritten\r\n": "over␍written\n",
    "e" + "\u0301" * 10: "e" + "\u0301" * 8 + "<U+0301>" * 2,
    "\ud800": "<U+D800>",
}
"""Texts with hidden characters, and what is shown instead."""

PLAIN = (
    "tab\tand\nnewline, “quotes” — 漢字 é",
    "👩\u200d💻 👨\u200d👩\u200d👧 👋🏽 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3 ☺\ufe0e 🇩🇪",
    "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "می\u200cخواهم",
    "क्\u200dष",
    "葛\U000e0100飾",
    "e\u0301 a\u0323\u0302",
    "[/] list[int] · ▸ <U+202E> ␛",
)
"""Texts without hidden characters."""


@pytest.mark.parametrize(("text", "shown"), HIDING.items(), ids=map(ascii, HIDING))
def test_hidden_characters_are_shown_as_marks(text: str, shown: str) -> None:
    assert make_visible(text) == shown
    assert make_visible(shown) is shown
    assert find_hidden(text) is not None


@pytest.mark.parametrize("text", PLAIN, ids=ascii)
def test_text_without_hidden_characters_stays_the_same_object(text: str) -> None:
    assert make_visible(text) is text
    assert find_hidden(text) is None


@given(st.text())
@example("\u2028\u2029")  # separators by category, shown as marks since they end lines
def test_no_visible_character_is_dropped_and_none_stays_hidden(text: str) -> None:
    shown = make_visible(text)
    assert len(shown) <= 9 * len(text)
    assert make_visible(shown) == shown
    marked = ("C", "M", "Zl", "Zp")
    written = text.replace("\r\n", "\n")
    kept = [c for c in written if not unicodedata.category(c).startswith(marked)]
    rest = iter(shown)
    assert all(character in rest for character in kept)
    assert not any(unicodedata.category(c) == "Cc" for c in shown if c not in "\t\n")


@given(
    st.lists(st.text(alphabet="a\r\n\u200c\u200d\ufe0f👩💻❤می🏴\U000e0067\u0301\x1b", max_size=4))
)
@example(["\u2764", "\u200d\U0001f3f4"])
def test_a_text_in_pieces_is_shown_like_the_whole(pieces: list[str]) -> None:
    stream = VisibleStream()
    shown = "".join(map(stream.feed, pieces)) + stream.end()
    assert shown == make_visible("".join(pieces))


@pytest.mark.parametrize(
    "unit", ["\x1b", "\r", "\u200d", "\u0301", "👩\u200d", "\U000e0067", "\r\n"]
)
def test_the_length_of_the_result_is_bounded(unit: str) -> None:
    text = unit * 100_000
    assert len(make_visible(text)) <= 9 * len(text)


def test_a_hidden_character_is_named_with_its_line() -> None:
    assert find_hidden("a\nb\x1b") == "line 2 contains the character ␛ (U+001B)"
    assert find_hidden("a\nb\n\u202e") == "line 3 contains the character U+202E"
    assert find_hidden("echo a\r\n") == "line 1 contains the character ␍ (U+000D)"


@pytest.mark.parametrize("text", [*HIDING, *PLAIN], ids=ascii)
def test_an_unedited_text_is_restored(text: str) -> None:
    assert restore_hidden(make_visible(text), text) == text


def test_marks_in_an_edited_text_are_restored() -> None:
    original = "1. print \x1b[1m\n2. \u202estop"
    edited = make_visible(original).replace("stop", "go on, and write ␇")
    assert restore_hidden(edited, original) == "1. print \x1b[1m\n2. \u202ego on, and write ␇"
    assert restore_hidden("␛ stays␛", "␛ and \x1b") == "␛ stays␛"


def test_only_color_sequences_are_removed_from_output() -> None:
    assert make_output_visible("\x1b[1;31mred\x1b[0m \x1b[2K\x1b]0;t\x07") == "red ␛[2K␛]0;t␇"
    assert make_output_visible("10%\r20%\rdone\r\nnext") == "10%␍\n20%␍\ndone\nnext"


def test_names_become_one_line_and_json_is_made_visible() -> None:
    assert clean_line(" a\n\tb\x1b ") == "a b␛"
    assert make_json_visible({"\x1b": ["\u202e", 1, None]}) == {"␛": ["<U+202E>", 1, None]}
