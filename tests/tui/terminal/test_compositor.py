"""A screen put together from the rows that are wanted, and from no others."""

import pytest
from textual._compositor import Compositor
from textual.geometry import Region

from tests.tui.conftest import Start, until
from tests.tui.fake_client import (
    FakeClient,
    a_message,
    a_project,
    a_session,
    a_state,
    a_worktree,
)
from tui.terminal.compositor import RowCompositor


@pytest.mark.parametrize("keys", [(), ("f1",), ("ctrl+p",)])
async def test_the_rows_are_those_that_textual_would_draw(
    start: Start, monkeypatch: pytest.MonkeyPatch, keys: tuple[str, ...]
) -> None:
    client = FakeClient(a_state(a_project(), a_worktree(), a_session(message_count=30)))
    client.messages["s1"] = [a_message(f"Message **{n}**", id=f"m{n}") for n in range(30)]
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.chat.transcript is not None)
        await pilot.press(*keys)  # what lies over the panes hides a part of them
        await until(pilot, lambda: (app.screen is app.main) is not bool(keys))
        compositor = app.screen._compositor
        await until(pilot, lambda: compositor.visible_widgets)  # it is laid out
        assert isinstance(compositor, RowCompositor)
        ours = compositor.render_strips()
        asked = [rows for rows, _, _ in compositor._get_renders(Region(40, 10, 30, 1))]
        with monkeypatch.context() as patch:
            patch.setattr(RowCompositor, "_get_renders", Compositor._get_renders)
            textuals = compositor.render_strips()
        assert ours == textuals
        assert asked
        assert {rows.height for rows in asked} == {1}
