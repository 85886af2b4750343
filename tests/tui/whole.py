"""The terminal on a whole model: what is pressed there reaches git and agents for real.

Both ends live on the test's loop, so that a test can look at either at any moment.
"""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from textual.pilot import Pilot

from model.client.local import LocalClient
from model.runtime.core import Core
from model.runtime.workspace import Workspace
from server.on_demand import ServerOnDemand
from tests.tui.conftest import Started, until
from tui.shell.app import SpinneyApp

T = TypeVar("T")


class _SameLoop(Core):
    """A core without a thread of its own."""

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        return await work

    def tell(self, callback: Callable[..., object], *args: Any) -> None:
        callback(*args)


@asynccontextmanager
async def terminal_on(
    workspace: Workspace, *, size: tuple[int, int] = (120, 40), data: Path | None = None
) -> AsyncIterator[Started]:
    """The terminal, once it shows what the workspace holds."""
    core = _SameLoop()
    workspace.http_server = workspace.http_server or ServerOnDemand(workspace)
    app = SpinneyApp(lambda: LocalClient(core, workspace), environ={}, data=data)
    try:
        async with app.run_test(size=size, notifications=True) as pilot:
            await until(pilot, lambda: app.main.is_connected and app.main.mirror.is_loaded)
            yield app, pilot
    finally:
        core.loop.close()


def screen_of(app: SpinneyApp) -> str:
    """All that is drawn, row by row."""
    strips = app.screen._compositor.render_strips(app.screen.size)
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def row_of(app: SpinneyApp, word: str) -> str:
    """The first row of the tree that holds a word; empty if there is none."""
    width = app.main.projects.region.right
    rows = (row[:width] for row in screen_of(app).splitlines()[1:])
    return next((row for row in rows if word in row), "")


async def until_shown(app: SpinneyApp, pilot: "Pilot[None]", *words: str) -> None:
    """Wait until all these stand on the screen."""
    try:
        await until(pilot, lambda: all(word in screen_of(app) for word in words))
    except AssertionError:
        raise AssertionError(f"never showed all of {words}:\n{screen_of(app)}") from None
