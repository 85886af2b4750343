"""What a start does up to its first frame and its first key: styles and paints, counted."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from textual.app import App
from textual.css.stylesheet import Stylesheet
from textual.screen import Screen

from tests.patience import PATIENCE
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.delayed_client import client_with_conversation
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.waiting import until
from tui.shell.app import SpinneyApp
from tui.terminal.compositor import RowCompositor

pytestmark = pytest.mark.painted

SIZES = [(120, 30), (80, 24)]
"""A size with both panes, and one that hides the tree."""
PASSES_TO_THE_KEY = 5
"""Style updates after mounting: the step gains and loses the focus, the message box gains it, its
mode, a mark of the tabs."""


class Work:
    """Calls so far, and those at the first frame."""

    def __init__(self) -> None:
        self.calls = {"apply": 0, "update_styles": 0, "paint": 0, "render_full_update": 0}
        self.at_first_frame: dict[str, int] = {}
        self.first_widgets: list[str] = []
        """The widgets of the conversation's pane in the first frame."""
        self.most_styled = 0
        """Nodes and parts of them that have styles at the first frame."""


def _count(work: Work, owner: type, name: str, patch: pytest.MonkeyPatch, key: str = "") -> None:
    done: Callable[..., Any] = getattr(owner, name)

    def count(*given: Any, **named: Any) -> Any:
        work.calls[key or name] += 1
        return done(*given, **named)

    patch.setattr(owner, name, count)


def _styled(app: SpinneyApp) -> int:
    every = [app, *app.main.walk_children(with_self=True)]
    return len(every) + sum(len(node._get_component_classes()) for node in every)


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    work = Work()
    _count(work, Stylesheet, "apply", monkeypatch)
    _count(work, App, "update_styles", monkeypatch)
    _count(work, RowCompositor, "_render_chops", monkeypatch, "paint")
    _count(work, RowCompositor, "render_full_update", monkeypatch)
    drawn = SpinneyApp.screen_drawn

    def note(app: SpinneyApp, screen: Screen[Any]) -> None:
        if screen is app.main:
            work.at_first_frame = dict(work.calls)
            work.first_widgets = [child.id or "" for child in app.main.chat.children]
            work.most_styled = _styled(app)
        drawn(app, screen)

    monkeypatch.setattr(SpinneyApp, "screen_drawn", note)
    return work


@pytest.mark.parametrize("size", SIZES)
async def test_the_first_frame_is_styled_once_and_painted_once(
    start: Start, work: Work, size: tuple[int, int]
) -> None:
    async with start(a_client(), size=size) as (app, _):
        assert work.at_first_frame["paint"] == 1
        assert work.at_first_frame["render_full_update"] == 1
        # Each node once when it is mounted; the empty screen, and the step with the focus, twice.
        assert work.at_first_frame["update_styles"] <= 2
        assert work.at_first_frame["apply"] <= work.most_styled + 3
        assert work.first_widgets == ["welcome"]
        assert app.main.chat.is_complete


@pytest.mark.parametrize("size", SIZES)
async def test_up_to_the_first_key_nothing_is_styled_or_painted_whole_again(
    start: Start, work: Work, size: tuple[int, int]
) -> None:
    async with start(client_with_conversation(), size=size) as (app, pilot):
        await until(pilot, lambda: app.focused is app.main.chat.composer)
        await pilot.press("x")
        await until(pilot, lambda: app.main.chat.composer.text == "x")
        assert work.calls["render_full_update"] == 1
        assert work.calls["update_styles"] <= PASSES_TO_THE_KEY
        box = 1 + len(app.main.chat.composer._get_component_classes())
        assert work.calls["apply"] <= _styled(app) + 3 * box


async def test_a_move_of_the_focus_paints_no_whole_screen(start: Start, work: Work) -> None:
    async with start(client_with_conversation()) as (app, pilot):
        await until(pilot, lambda: app.focused is app.main.chat.composer)
        before = dict(work.calls)
        app.main.projects.focus()
        await until(pilot, lambda: app.focused is app.main.projects)
        await until(pilot, lambda: work.calls["paint"] > before["paint"])
        assert work.calls["render_full_update"] == before["render_full_update"]


async def test_another_session_is_opened_without_styling_the_panes_again(
    start: Start, work: Work
) -> None:
    trees = [a_worktree(id=f"w{n}", name=f"tree-{n}") for n in (1, 2)]
    sessions = [a_session(id=f"s{n}", worktree_id=f"w{n}", name=f"Session {n}") for n in (1, 2)]
    async with start(FakeClient(a_state(a_project(), *trees, *sessions))) as (app, pilot):
        app.main.open_session("s1")
        await until(pilot, lambda: app.focused is app.main.chat.composer)
        before = dict(work.calls)
        app.main.open_session("s2")
        await until(pilot, lambda: app.main.chat.key == "s2")
        assert work.calls["update_styles"] == before["update_styles"]
        assert work.calls["apply"] == before["apply"]


async def test_what_is_laid_out_in_a_batch_is_painted_after_it(start: Start, work: Work) -> None:
    async with start(client_with_conversation()) as (app, pilot):
        await until(pilot, lambda: app.focused is app.main.chat.composer)
        before = work.calls["paint"]
        with app.batch_update():
            await pilot.resize_terminal(110, 28)
            await until(pilot, lambda: app.main.size == (110, 28))
            await until(pilot, lambda: app.main.projects.size.height == 28 - 2 - 1)
            assert work.calls["paint"] == before
        async with asyncio.timeout(PATIENCE):
            while work.calls["paint"] == before:
                await asyncio.sleep(0.01)  # a pause of the pilot would paint by itself
