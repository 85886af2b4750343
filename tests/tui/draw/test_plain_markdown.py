"""Markdown as plain text, for excerpts."""

import pytest

from tui.draw.plain_markdown import strip_markdown


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("## A small change", "A small change"),
        ("```python", ""),
        ("in **yolo** mode, with *care*", "in yolo mode, with care"),
        ("see [the format](https://example.org/a) and `read_rows`", "see the format and read_rows"),
        ("2 * 3 * 4 and __init__", "2 * 3 * 4 and __init__"),
        ("- a list", "- a list"),
        ("#12 is no heading", "#12 is no heading"),
    ],
)
def test_markup_is_removed_and_words_are_kept(line: str, words: str) -> None:
    assert strip_markdown(line) == words


@pytest.mark.parametrize("sign", ["*", "**", "`", "[", "[a](", "# ", "*a "])
def test_a_long_line_of_markup_is_cut(sign: str) -> None:
    assert len(strip_markdown(sign * 100_000)) <= 2_000
