"""Rows as a terminal gets them."""

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.strip import Strip

from tui.draw.line_parts import to_strip
from tui.terminal.output_filters import NO_BOXES, CharacterFilter
from tui.terminal.sanitize import ControlCharFilter
from tui.terminal.textual_internals import Row
from tui.transcript.strip_cache import CAPACITY, StripCache

GROUND = Color.parse("#101010")
FILTERS = [ControlCharFilter()]


def row(text: str) -> Strip:
    return to_strip([Segment(text, Style(bold=True))], 20, "dark")


def test_a_row_is_finished_once_wherever_it_stands() -> None:
    finished, first, second = StripCache(), row("first"), row("second")
    before = finished.get([first, second], FILTERS, GROUND)
    after = finished.get([second, first], FILTERS, GROUND)
    assert after[0] is before[1]
    assert after[1] is before[0]
    assert [strip.text.strip() for strip in before] == ["first", "second"]


def test_other_filters_or_another_ground_finish_it_anew() -> None:
    finished, drawn = StripCache(), row("─ box")
    [plain] = finished.get([drawn], FILTERS, GROUND)
    [other] = finished.get([drawn], [CharacterFilter(NO_BOXES)], GROUND)
    assert (plain.text.strip(), other.text.strip()) == ("─ box", "box")
    [lighter] = finished.get([drawn], FILTERS, Color.parse("#fff"))
    assert lighter is not plain


def test_rows_that_are_long_gone_are_forgotten() -> None:
    finished, first = StripCache(), row("first")
    [before] = finished.get([first], FILTERS, GROUND)
    finished.get([row(str(number)) for number in range(CAPACITY + 1)], FILTERS, GROUND)
    [after] = finished.get([first], FILTERS, GROUND)
    assert after is not before
    assert after == before


def test_a_kept_row_is_cut_and_styled_like_any_other() -> None:
    kept = row("some words")
    usual = Strip(list(kept))
    assert isinstance(kept, Row)
    assert kept == usual
    assert kept.cell_length == usual.cell_length == 20
    assert kept.crop(2, 7) == usual.crop(2, 7)
    assert kept.divide([4, 20]) == usual.divide([4, 20])
    assert kept.apply_style(Style(italic=True)) == usual.apply_style(Style(italic=True))
    assert kept.apply_filter(FILTERS[0], GROUND) == usual
    assert kept.extend_cell_length(30) == usual.extend_cell_length(30)


def test_a_row_that_is_too_long_is_cut() -> None:
    assert row("x" * 30).text == "x" * 20
