"""How tests of the terminal wait: the loop, its clock and the pilot; and what they do not paint."""

import asyncio
import socket
import threading
from typing import Any

import pytest
from textual._compositor import Compositor

from tests.patience import PATIENCE
from tests.tui.conftest import Start
from tests.tui.fake_client import a_client
from tests.tui.unpainted import skip_frame
from tests.tui.virtual_loop import Gate, VirtualLoop
from tests.tui.waiting import until
from tui.terminal.output import PaintedApp
from tui.tree.widget import ProjectTree


def running_loop() -> VirtualLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop


async def test_a_day_of_timers_passes_in_order_and_at_once() -> None:
    loop, ended = running_loop(), []

    async def sleep(hours: int) -> None:
        await asyncio.sleep(3600 * hours)
        ended.append(hours)

    began = loop.time()
    await asyncio.gather(*(sleep(hours) for hours in (24, 3, 1, 2)))
    assert ended == [1, 2, 3, 24]
    assert loop.time() - began >= 24 * 3600


async def test_no_time_is_skipped_while_something_outside_can_call_the_loop() -> None:
    loop, end = running_loop(), threading.Event()
    assert loop.is_alone
    job = asyncio.ensure_future(asyncio.to_thread(end.wait, PATIENCE))
    await asyncio.sleep(0)
    assert not loop.is_alone
    end.set()
    assert await job
    assert loop.is_alone
    thread = threading.Thread(target=(end := threading.Event()).wait, args=(PATIENCE,))
    thread.start()
    assert not loop.is_alone
    end.set()
    thread.join()
    assert loop.is_alone
    ours, theirs = socket.socketpair()
    with ours, theirs:
        loop.add_reader(ours, lambda: None)
        assert not loop.is_alone
        loop.remove_reader(ours)
    assert loop.is_alone


async def test_a_drained_loop_has_run_all_callbacks_and_ended_all_jobs() -> None:
    loop, done = running_loop(), []

    def go_on(number: int) -> None:
        done.append(number)
        if number:
            loop.call_soon(go_on, number - 1)

    async def work() -> None:
        await asyncio.to_thread(done.append, "worked")
        go_on(50)

    job = asyncio.ensure_future(work())
    await loop.drain()
    assert done == ["worked", *range(50, -1, -1)]
    assert job.done()


async def test_a_thread_that_a_test_stops_is_waited_for_when_it_goes_on() -> None:
    loop, gate = running_loop(), Gate()
    job = asyncio.ensure_future(asyncio.to_thread(gate.wait))
    await loop.drain()
    assert not job.done()
    gate.set()
    await loop.drain()
    assert job.done()


async def test_a_condition_that_never_holds_fails_with_the_screen(start: Start) -> None:
    async with start(a_client()) as (_, pilot):
        with pytest.raises(AssertionError, match=r"did not come(.|\n)*Fix the parser"):
            await until(pilot, lambda: False)


@pytest.mark.parametrize(
    ("owner", "name"), [(ProjectTree, "render_lines"), (PaintedApp, "_display")]
)
async def test_who_observes_painting_without_the_mark_fails(
    start: Start, monkeypatch: pytest.MonkeyPatch, owner: type, name: str
) -> None:
    async with start(a_client()) as (app, _):
        original = getattr(owner, name)

        def observe(*given: Any, **named: Any) -> Any:
            return original(*given, **named)

        with monkeypatch.context() as patch:
            patch.setattr(owner, name, observe)
            with pytest.raises(AssertionError, match=f"{name}.*`painted`"):
                skip_frame(app.screen._compositor)


async def test_a_test_without_the_mark_paints_nothing(start: Start) -> None:
    async with start(a_client()) as (app, _):
        assert app.screen._compositor.render_update() is None
        assert "Fix the parser" in app.export_screenshot().replace("&#160;", " ")


@pytest.mark.painted
async def test_a_test_with_the_mark_paints(start: Start) -> None:
    assert Compositor.render_update is not skip_frame
    async with start(a_client()) as (app, pilot):
        frames: list[object] = []
        display = app._display

        def record(screen: Any, frame: object) -> None:
            frames.append(frame)
            display(screen, frame)

        app._display = record  # type: ignore[method-assign, assignment]
        await pilot.press("x")
        assert any(frames)
