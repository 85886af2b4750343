"""Work that a worker never began leaves nothing that Python would complain about."""

import inspect
from collections.abc import Coroutine
from typing import Any

from tui.terminal.textual_internals import FrameApp

Work = Coroutine[Any, Any, None]


async def nothing() -> None:
    """Done at once."""


async def guarded(work: Work) -> None:
    await work


def closing_over(work: Work) -> Work:
    async def read() -> None:
        await work

    return read()


async def test_work_that_is_canceled_before_it_began_is_closed_with_all_that_it_awaits() -> None:
    app = FrameApp()
    async with app.run_test() as pilot:
        inner = nothing(), nothing()
        outer = guarded(guarded(inner[0])), closing_over(inner[1])
        for work in outer:
            app.run_worker(work, exclusive=True)  # the second cancels the first
        app.workers.cancel_all()
        await pilot.pause()
        assert [inspect.getcoroutinestate(work) for work in (*outer, *inner)] == ["CORO_CLOSED"] * 4


async def test_work_that_has_begun_ends_by_itself() -> None:
    ended = []

    async def until_canceled(pending: Work) -> None:
        try:
            await pilot.pause(60)
        finally:
            await pending
            ended.append("orderly")

    app = FrameApp()
    async with app.run_test() as pilot:
        worker = app.run_worker(until_canceled(nothing()))
        await pilot.pause()
        worker.cancel()
        await pilot.pause()
    assert ended == ["orderly"]
