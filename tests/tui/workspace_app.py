"""The terminal on a real workspace, so that keys reach git and agents.

Both run on the test's event loop, so that a test can inspect either at any time.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from model.client.local import LocalClient
from model.runtime.core import Core
from model.runtime.workspace import Workspace
from server.on_demand import ServerOnDemand
from tests.tui.conftest import Started
from tests.tui.virtual_loop import VirtualLoop
from tests.tui.waiting import until
from tui.shell.app import SpinneyApp

T = TypeVar("T")


class _SameLoop(Core):
    """A core that runs on the loop of its caller, without a thread."""

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        return await work

    def call_soon(self, callback: Callable[..., object], *args: Any) -> None:
        callback(*args)


@asynccontextmanager
async def terminal_on(
    workspace: Workspace, *, size: tuple[int, int] = (120, 30), data: Path | None = None
) -> AsyncIterator[Started]:
    """Run the terminal on a workspace, once it has loaded its state."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop.awaits_jobs = False  # a thread may wait for a program, for as long as the test wants
    core = _SameLoop()
    workspace.http_server = workspace.http_server or ServerOnDemand(workspace)
    app = SpinneyApp(lambda: LocalClient(core, workspace), environ={}, data=data)
    try:
        async with app.run_test(size=size, notifications=True) as pilot:
            await until(pilot, lambda: app.main.is_connected and app.main.mirror.is_loaded)
            yield app, pilot
    finally:
        core.loop.close()
