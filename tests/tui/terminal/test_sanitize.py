"""What reaches the terminal, whatever a widget was told to show."""

import pytest
from rich.segment import Segment
from textual.color import Color
from textual.widgets import Static

from tests.tui.conftest import Start, until
from tests.tui.fake_client import FakeClient, a_project, a_session, a_state, a_worktree
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
def test_every_character_is_text_or_a_mark(foreign: str, shown: str) -> None:
    assert escape_control_chars(foreign) == shown


def test_a_row_that_can_be_printed_is_not_touched() -> None:
    row = [Segment("plain "), Segment("· ünïcode")]
    assert all(
        a is b for a, b in zip(ControlCharFilter().apply(row, Color(0, 0, 0)), row, strict=True)
    )


def test_marks_make_no_row_wider() -> None:
    row = [Segment("\x1b[2J and more of it "), Segment("beside")]
    shown = ControlCharFilter().apply(row, Color(0, 0, 0))
    width = sum(segment.cell_length for segment in row)
    assert sum(segment.cell_length for segment in shown) == width
    assert "".join(segment.text for segment in shown).startswith("␛[2J and")


async def test_every_widget_is_behind_the_guard(start: Start) -> None:
    client = FakeClient(a_state(a_project(), a_worktree(), a_session()))
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


async def test_after_a_terminal_was_too_small_the_keys_go_where_they_went(start: Start) -> None:
    client = FakeClient(a_state(a_project(), a_worktree(), a_session()))
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.focused is app.main.chat.composer)
        await pilot.resize_terminal(40, 10)
        await until(pilot, lambda: app.main.has_class("too-small"))
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: app.focused is app.main.chat.composer)
