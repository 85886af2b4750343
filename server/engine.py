"""A whole Spinney without a screen: the core's thread, the workspace, the ways in.

It starts behind a terminal's first frame and can go on when that terminal is gone. Imports little
by itself: nothing that is large before somebody needs it.
"""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from model.agents.agents_file import load_catalog
from model.backends.registry import create_backends
from model.base.errors import SpinneyError
from model.base.instance import InstanceLock
from model.base.log import configure_logging
from model.base.paths import Directories
from model.client.local import LocalClient
from model.demo import prepare
from model.runtime.core import Core
from model.runtime.workspace import Workspace
from server.local_endpoint import OwnDoor
from server.on_demand import ServerOnDemand

if TYPE_CHECKING:
    from types import FrameType

STAY = 600.0
"""Seconds that a Spinney without a screen waits for somebody after its last work is done."""
END = 60.0
"""Seconds for agents to end and for everything to be saved, on a machine that is busy besides."""
_LOOK = 15.0
"""Seconds between two looks at whether there is something to do."""

_log = logging.getLogger(__name__)


class Engine:
    """Everything behind one terminal."""

    def __init__(
        self, places: Directories, lock: InstanceLock, *, demo: bool, prepared: bool = False
    ) -> None:
        """`demo` adds the demo agent; `prepared` makes something to try it on, too."""
        self._prepared = prepared
        self._places = places
        self._lock = lock
        self._demo = demo
        self._core = Core()
        self._workspace: Workspace | None = None
        self._door: OwnDoor | None = None
        self._server: ServerOnDemand

    def connect(self) -> LocalClient:
        """Start everything; returns the terminal's client. Called on a thread of its own."""
        self._core.start()
        workspace = made_workspace(self._places, demo=self._demo)
        workspace.http_server = self._server = ServerOnDemand(workspace)
        self._core.submit(self._start(workspace)).result()
        return LocalClient(self._core, workspace)

    async def _start(self, workspace: Workspace) -> None:
        await workspace.start()
        self._workspace = workspace
        self._door = await opened_door(workspace, self._lock)
        await self._server.begin()
        if self._prepared:
            await prepare(workspace, self._places)

    @property
    def is_up(self) -> bool:
        """Whether it has started."""
        return self._workspace is not None

    def stay(self, wanted: Callable[[], bool]) -> None:
        """Go on without a screen until nobody needs it or it is told to end (SIGTERM).

        `wanted` is asked once, when no signal can be missed any more.
        """
        ended = threading.Event()

        def end(_number: int, _frame: "FrameType | None") -> None:
            ended.set()

        def go_on(_number: int, _frame: "FrameType | None") -> None:
            """Not `SIG_IGN`, which everything that is started from here would inherit."""

        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGINT, end)
        signal.signal(signal.SIGHUP, go_on)
        if not wanted():
            return
        os.chdir(self._places.data)
        _log.info("goes on without a screen")
        self._core.submit(self._until_unneeded()).add_done_callback(lambda _: ended.set())
        ended.wait()

    async def _until_unneeded(self) -> None:
        assert self._workspace is not None and self._door is not None
        door = self._door
        await until_unneeded(self._workspace, lambda: door.clients)
        _log.info("ends: nothing to do, and nobody has come")

    def stop(self) -> None:
        """End agents, server and core; what was not started is no error."""
        try:
            if self._workspace is not None:
                self._core.submit(self._stop(self._workspace)).result(timeout=END)
        finally:
            self._core.stop()

    async def _stop(self, workspace: Workspace) -> None:
        if self._door is not None:
            await self._door.close()
        await self._server.end()
        await workspace.stop()


def made_workspace(places: Directories, *, demo: bool) -> Workspace:
    """A workspace with every agent, not started yet. Its program ends by SIGTERM."""
    configure_logging(places.log, os.environ.get("SPINNEY_LOG", "info"))
    catalog, problems = load_catalog(places.models, places.agents)
    for problem in problems:
        _log.warning(problem)
    agents = create_backends(places.data, catalog, demo=demo)
    workspace = Workspace(places, agents, catalog, demo=demo)
    workspace.request_shutdown = lambda: os.kill(os.getpid(), signal.SIGTERM)
    workspace.problems += problems
    return workspace


async def opened_door(workspace: Workspace, lock: InstanceLock) -> OwnDoor:
    """The way in for this user's other terminals, told in the lock."""
    door = OwnDoor(workspace)
    try:
        lock.write_instance(*door.open())
    except SpinneyError as error:
        workspace.problems.append(f"Other terminals cannot join: {error.message}")
    return door


async def until_unneeded(
    workspace: Workspace, clients: Callable[[], int], *, stay: float = STAY, look: float = _LOOK
) -> None:
    """Wait until there was nothing to do for `stay` seconds, looked at every `look` seconds."""
    loop = asyncio.get_running_loop()
    idle_since = loop.time()
    while loop.time() - idle_since < stay:
        await asyncio.sleep(look)
        if clients() or is_busy(workspace):
            idle_since = loop.time()


def is_busy(workspace: Workspace) -> bool:
    """Whether work goes on here, waits for somebody or for others to come in."""
    state = workspace.store.state
    server = workspace.http_server
    return (
        any(session.is_active for session in state.sessions.values())
        or any(worktree.status in ("creating", "removing") for worktree in state.worktrees.values())
        or (server is not None and bool(server.status()["running"]))
    )
