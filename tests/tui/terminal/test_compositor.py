"""The compositor renders only the requested rows, and renders them as Textual does."""

import pytest
from textual._compositor import Compositor
from textual.geometry import Region
from textual.widgets import Static

from tests.tui.builders import a_message
from tests.tui.conftest import Start
from tests.tui.fake_client import a_client
from tests.tui.waiting import until
from tui.terminal.compositor import RowCompositor


@pytest.mark.parametrize("keys", [(), ("f1",), ("ctrl+p",)])
async def test_rows_equal_those_that_textual_renders(
    start: Start, monkeypatch: pytest.MonkeyPatch, keys: tuple[str, ...]
) -> None:
    client = a_client(message_count=30)
    client.messages["s1"] = [a_message(f"Message **{n}**", id=f"m{n}") for n in range(30)]
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.chat.transcript is not None)
        await pilot.press(*keys)  # an overlay hides a part of the panes
        await until(pilot, lambda: (app.screen is app.main) is not bool(keys))
        compositor = app.screen._compositor
        await until(pilot, lambda: compositor.visible_widgets)  # the layout is done
        assert isinstance(compositor, RowCompositor)
        ours = compositor.render_strips()
        asked = [rows for rows, _, _ in compositor._get_renders(Region(40, 10, 30, 1))]
        with monkeypatch.context() as patch:
            patch.setattr(RowCompositor, "_get_renders", Compositor._get_renders)
            textuals = compositor.render_strips()
        assert ours == textuals
        assert asked
        assert {rows.height for rows in asked} == {1}


async def test_what_a_layout_changes_is_drawn_and_resized_although_it_was_looked_up_before(
    start: Start,
) -> None:
    async with start(a_client()) as (app, pilot):
        await until(pilot, lambda: app.main.chat.transcript is not None)
        await pilot.pause()
        transcript, screen = app.main.chat.transcript, app.screen
        compositor = screen._compositor
        assert transcript is not None and transcript.is_ready
        before = transcript.region
        compositor._full_map_invalidated = True  # as after a scroll
        app.main.chat.status.display = False
        after = transcript.region
        assert after != before
        result = compositor.reflow(screen, screen.size)
        assert transcript in result.resized
        assert {before, after} <= compositor._dirty_regions


async def test_a_new_widget_is_shown_although_it_was_looked_up_before(start: Start) -> None:
    async with start(a_client()) as (app, pilot):
        await until(pilot, lambda: app.main.chat.transcript is not None)
        note = Static("new")
        await app.main.chat.mount(note)
        compositor = app.screen._compositor
        compositor._full_map_invalidated = True  # as after its first refresh
        assert note.region
        assert note in compositor.reflow(app.screen, app.screen.size).shown


async def test_the_transcript_follows_although_its_size_was_looked_up_before_the_layout(
    start: Start,
) -> None:
    client = a_client(message_count=30)
    client.messages["s1"] = [a_message(f"Message {n}", id=f"m{n}") for n in range(30)]
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.chat.transcript is not None)
        await pilot.pause()
        chat = app.main.chat
        transcript = chat.transcript
        assert transcript is not None and transcript.viewport is not None
        app.screen._compositor._full_map_invalidated = True
        chat.status.display = False
        height = transcript.size.height
        await until(pilot, lambda: transcript.is_ready)
        viewport = transcript.viewport
        assert viewport.height == height
        assert viewport.top + height == viewport.rows.total
