"""The cache of rows with the output filters applied."""

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.strip import Strip

from tui.draw.line_parts import to_strip
from tui.terminal.output_filters import NO_BOXES, CharacterFilter
from tui.terminal.sanitize import ControlCharFilter
from tui.terminal.textual_internals import Row
from tui.transcript.strip_cache import CAPACITY, StripCache

BACKGROUND = Color.parse("#101010")
FILTERS = [ControlCharFilter()]


def row(text: str) -> Strip:
    return to_strip([Segment(text, Style(bold=True))], 20, "dark")


def test_a_row_is_filtered_once_at_any_position() -> None:
    cache, first, second = StripCache(), row("first"), row("second")
    before = cache.get([first, second], FILTERS, BACKGROUND)
    after = cache.get([second, first], FILTERS, BACKGROUND)
    assert after[0] is before[1]
    assert after[1] is before[0]
    assert [strip.text.strip() for strip in before] == ["first", "second"]


def test_other_filters_or_another_background_filter_a_row_again() -> None:
    cache, drawn = StripCache(), row("─ box")
    [plain] = cache.get([drawn], FILTERS, BACKGROUND)
    [other] = cache.get([drawn], [CharacterFilter(NO_BOXES)], BACKGROUND)
    assert (plain.text.strip(), other.text.strip()) == ("─ box", "box")
    [lighter] = cache.get([drawn], FILTERS, Color.parse("#fff"))
    assert lighter is not plain


def test_the_oldest_rows_are_evicted() -> None:
    cache, first = StripCache(), row("first")
    [before] = cache.get([first], FILTERS, BACKGROUND)
    cache.get([row(str(number)) for number in range(CAPACITY + 1)], FILTERS, BACKGROUND)
    [after] = cache.get([first], FILTERS, BACKGROUND)
    assert after is not before
    assert after == before


def test_a_row_is_cut_and_styled_like_a_strip() -> None:
    kept = row("some words")
    usual = Strip(list(kept))
    assert isinstance(kept, Row)
    assert kept == usual
    assert kept.cell_length == usual.cell_length == 20
    assert kept.crop(2, 7) == usual.crop(2, 7)
    assert kept.divide([4, 20]) == usual.divide([4, 20])
    assert kept.apply_style(Style(italic=True)) == usual.apply_style(Style(italic=True))
    assert kept.apply_filter(FILTERS[0], BACKGROUND) == usual
    assert kept.extend_cell_length(30) == usual.extend_cell_length(30)


def test_a_row_that_is_too_long_is_cut() -> None:
    assert row("x" * 30).text == "x" * 20
