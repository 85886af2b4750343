"""HTML of the page without JavaScript: elements, and block trees split into pieces."""

import pytest

from model.richtext.markdown import parse_markdown
from server.lite.html import make, size, to_html
from server.lite.richtext import PIECE, make_elements, verbatim
from tests.page.hostile import ALL
from tests.server.lite.strict_html import StrictPage


def parse(*content: object) -> StrictPage:
    """Parse the content inside a whole page."""
    page = make("html", make("body", make("h1", "x"), content), lang="en")  # type: ignore[arg-type]
    return StrictPage(f"<!doctype html>\n{to_html(page)}")


def test_text_and_attributes_are_escaped() -> None:
    made = make("input", name='"><script>', value="a&b's <i>")
    assert to_html(made) == '<input name="&quot;&gt;&lt;script&gt;" value="a&amp;b\'s &lt;i&gt;">'
    assert to_html(make("b", "</b>&lt;")) == "<b>&lt;/b&gt;&amp;lt;</b>"


def test_an_attribute_that_is_off_is_left_out() -> None:
    made = make("input", checked=True, required=False, value=None, class_="x", start=3)
    assert to_html(made) == '<input checked class="x" start="3">'


@pytest.mark.parametrize(
    "address",
    [
        "javascript:x",
        "JaVaScRiPt:x",
        " https://x",
        "//x.test",
        "/\\x.test",
        "data:text/html,x",
        "x",
        "",
    ],
)
def test_unsafe_addresses_are_omitted(address: str) -> None:
    assert to_html(make("a", "x", href=address)) == "<a>x</a>"
    assert to_html(make("form", action=address)).startswith("<form>")


@pytest.mark.parametrize("address", ["/lite", "?part=1.2", "#end", "https://x.test/", "mailto:a@b"])
def test_safe_addresses_are_kept(address: str) -> None:
    assert to_html(make("a", "x", href=address)) == f'<a href="{address}">x</a>'


@pytest.mark.parametrize("name", ["textarea", "pre"])
def test_a_text_that_begins_with_a_line_break_keeps_it(name: str) -> None:
    """Browsers drop the first one, so another is added."""
    assert to_html(make(name, "\nx")).startswith(f"<{name}>\n\nx")


def test_control_characters_and_direction_marks_are_replaced() -> None:
    assert (
        to_html(make("b", "a\0b\x1b[31mc\u202ed\ud800"))
        == "<b>a␀b␛[31mc&lt;U+202E&gt;d&lt;U+D800&gt;</b>"
    )


def test_there_are_at_least_two_hundred_hostile_texts() -> None:
    assert len(set(ALL)) >= 200


@pytest.mark.parametrize("text", ALL)
def test_hostile_text_is_escaped(text: str) -> None:
    page = parse(list(make_elements(parse_markdown(text))), list(verbatim(text)), make("pre", text))
    addresses = [known.get("href") or "" for known in page.all("a")]
    assert all(address.startswith(("http", "mailto:")) for address in addresses)


LONG = {
    "a paragraph": "word & word " * 2000,
    "one word": "<" * 20_000,
    "a heading": "# " + "title " * 2000,
    "code": "```py\n" + "x = 1 < 2\n" * 1000 + "```",
    "a line of code": "```\n" + "&" * 20_000 + "\n```",
    "a list": "\n".join(f"- item {n}" for n in range(500)),
    "a numbered list of long items": "\n".join(f"{n}. " + "word " * 900 for n in range(1, 5)),
    "a deep list": "\n".join("  " * n + f"- level {n}" for n in range(40)),
    "a quote": "> " + "line\n> " * 2000,
    "quotes in quotes": "\n".join(">" * n + f" {n}" for n in range(1, 60)) + " word" * 3000,
    "a table": "|a|b|\n|-|-|\n" + "|1|2|\n" * 1000,
    "a table with long cells": "|a|b|\n|-|-|\n|" + "cell " * 2000 + "|2|\n",
    "a long address": f"[here](https://x.test/{'a' * 5000})",
    "many links": "[a](https://x.test/?a=1&b=2) **b** `c` " * 500,
}


@pytest.mark.parametrize("name", LONG)
def test_long_content_is_split_into_pieces(name: str) -> None:
    pieces = list(make_elements(parse_markdown(LONG[name])))
    assert max(map(size, pieces)) < PIECE * 2
    page = parse(pieces)
    words = page.text.split()
    if "code" not in name and "one word" not in name:
        whole = " ".join(LONG[name].split())
        for word in ("word", "item", "cell", "title", "level", "line"):
            assert words.count(word) == whole.replace("|", " ").split().count(word), word


def test_pieces_of_a_numbered_list_continue_its_numbers() -> None:
    pieces = list(
        make_elements(parse_markdown("\n".join(f"{n}. " + "word " * 60 for n in range(1, 31))))
    )
    starts = [int(str(piece.attributes.get("start") or 1)) for piece in pieces]
    items = [to_html(piece).count("<li>") for piece in pieces]
    assert len(pieces) > 3
    assert starts == [1 + sum(items[:place]) for place in range(len(items))]


def test_lines_of_code_are_only_cut_where_one_is_longer_than_a_piece() -> None:
    code = "\n".join(f"{n}: " + "x" * 150 for n in range(100))
    page = parse(list(make_elements(parse_markdown(f"```\n{code}\n```"))))
    assert all(line in page.text.split("\n") for line in code.split("\n"))


def test_line_breaks_show_without_a_style_sheet() -> None:
    assert to_html(list(verbatim("a\nb"))) == '<p class="verbatim">a<br>b</p>\n'
    assert to_html(list(make_elements(parse_markdown("a\nb")))) == "<p>a<br>b</p>\n"
