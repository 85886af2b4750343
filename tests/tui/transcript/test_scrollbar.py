"""The scroll bar is drawn again only when its thumb moves."""

import pytest
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.scrollbar import ScrollBar

from tui.transcript.scrollbar import update_scrollbar


class BarApp(App[None]):
    """A scroll bar of 20 rows in a container."""

    def compose(self) -> ComposeResult:
        with Vertical():
            yield ScrollBar(name="vertical")

    CSS = "ScrollBar { height: 20; width: 1; }"


async def test_it_is_drawn_when_the_thumb_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    app = BarApp()
    async with app.run_test(size=(80, 24)) as pilot:
        bar = app.query_one(ScrollBar)
        bar.window_size = 20
        update_scrollbar(bar, 10_000, 9_980)
        await pilot.pause()
        drawn: list[int] = []
        monkeypatch.setattr(bar, "refresh", lambda **_: drawn.append(1))
        update_scrollbar(bar, 10_001, 9_981)  # a row was added, and the end is followed
        assert drawn == []
        assert bar.window_virtual_size == 10_001
        assert bar.position == 9_981
        update_scrollbar(bar, 10_001, 4_000)
        assert drawn == [1]
        bar.position = 100
        assert drawn == [1, 1]
