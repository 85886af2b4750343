"""No control character of a widget's text reaches the terminal."""

import pytest
from rich.segment import Segment
from textual.color import Color
from textual.widgets import Static

from tests.tui.conftest import Start
from tests.tui.fake_client import a_client
from tests.tui.waiting import until
from tui.terminal.sanitize import ControlCharFilter, escape_control_chars


@pytest.mark.parametrize(
    ("foreign", "shown"),
    [
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x9b31m", "<U+009B>31m"),
        ("gnp\u202eexe", "gnp<U+202E>exe"),
        ("a\ud800b", "a<U+D800>b"),
        ("a\tb\nc\rd", "a␉b␊c␍d"),
        ("[/] list[int] · ▸ 漢字 é", "[/] list[int] · ▸ 漢字 é"),
    ],
)
def test_control_characters_become_visible_marks(foreign: str, shown: str) -> None:
    assert escape_control_chars(foreign) == shown


def test_a_printable_row_is_not_changed() -> None:
    row = [Segment("plain "), Segment("· ünïcode")]
    assert all(
        a is b for a, b in zip(ControlCharFilter().apply(row, Color(0, 0, 0)), row, strict=True)
    )


def test_marks_do_not_widen_a_row() -> None:
    row = [Segment("\x1b[2J and more of it "), Segment("beside")]
    shown = ControlCharFilter().apply(row, Color(0, 0, 0))
    width = sum(segment.cell_length for segment in row)
    assert sum(segment.cell_length for segment in shown) == width
    assert "".join(segment.text for segment in shown).startswith("␛[2J and")


async def test_the_text_of_every_widget_is_sanitized(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        app.main.chat.mount(Static("raw\x1b]0;x\x07text", markup=False))
        app.main.say("told\x9b31m", bad=True)
        app.main.chat.composer.text = "pasted\u202etext"

        def drawn() -> str:
            strips = app.screen._compositor.render_strips(app.screen.size)
            return "".join(segment.text for strip in strips for segment in strip)

        await until(pilot, lambda: "raw␛]0;x" in drawn() and "told<U+009B>31m" in drawn())
        assert "pasted<U+202E>text" in drawn()
        assert drawn().isprintable()


async def test_the_focus_is_restored_after_the_terminal_was_too_small(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.focused is app.main.chat.composer)
        await pilot.resize_terminal(40, 10)
        await until(pilot, lambda: app.main.has_class("too-small"))
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: app.focused is app.main.chat.composer)
