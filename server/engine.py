"""Everything of Spinney except a screen: the core's thread, the workspace, the servers.

It starts after a terminal's first frame and can keep running when that terminal is gone. Imports
little by itself: large modules are imported when they are needed.
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
from model.base.instance import InstanceLock, hold_lock
from model.base.log import configure_logging
from model.base.paths import Directories, resolve_directories
from model.client.local import LocalClient
from model.demo import prepare
from model.runtime.core import Core
from model.runtime.workspace import Workspace
from model.service.reexecution import (
    replace_process,
    take_previous_version,
    take_without_screen,
)
from server.local_endpoint import LocalEndpoint
from server.on_demand import ServerOnDemand

if TYPE_CHECKING:
    from types import FrameType

IDLE_TIMEOUT = 600.0
"""Seconds without clients and work after which a Spinney without a screen exits."""
SHUTDOWN_TIMEOUT = 60.0
"""Seconds for agents to end and for everything to be saved, also on a busy machine."""
_CHECK_INTERVAL = 15.0
"""Seconds between two checks for activity."""

_log = logging.getLogger(__name__)


class Engine:
    """Everything behind one terminal's screen."""

    def __init__(
        self, directories: Directories, lock: InstanceLock, *, demo: bool, prepared: bool = False
    ) -> None:
        """`demo` adds the demo agent; `prepared` also creates a demo project."""
        self._prepared = prepared
        self._directories = directories
        self._lock = lock
        self._demo = demo
        self._core = Core()
        self._workspace: Workspace | None = None
        self._endpoint: LocalEndpoint | None = None
        self._server: ServerOnDemand

    def connect(self) -> LocalClient:
        """Start everything; returns the terminal's client. Must be called on a separate thread."""
        self._core.start()
        workspace = create_workspace(self._directories, demo=self._demo)
        workspace.http_server = self._server = ServerOnDemand(workspace)
        self._core.submit(self._start(workspace)).result()
        return LocalClient(self._core, workspace)

    async def _start(self, workspace: Workspace) -> None:
        await workspace.start()
        if not self._prepared:  # The files of a demo end with it.
            workspace.restarter.request_shutdown = workspace.request_shutdown
        self._workspace = workspace
        self._endpoint = await open_local_endpoint(workspace, self._lock)
        await self._server.start_up()
        if self._prepared:
            await prepare(workspace, self._directories)

    @property
    def is_up(self) -> bool:
        """Whether it has started."""
        return self._workspace is not None

    @property
    def is_restarting(self) -> bool:
        """Whether the program has to be started again after `stop`."""
        return self._workspace is not None and self._workspace.restarter.is_requested

    def run_headless(self, is_wanted: Callable[[], bool]) -> None:
        """Keep running without a screen until it is idle or receives SIGTERM.

        `is_wanted` is called once, after the signal handlers are installed.
        """
        ended = threading.Event()

        def end(_number: int, _frame: "FrameType | None") -> None:
            ended.set()

        def ignore(_number: int, _frame: "FrameType | None") -> None:
            """Do nothing. `SIG_IGN` would be inherited by all child processes."""

        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGINT, end)
        signal.signal(signal.SIGHUP, ignore)
        if not is_wanted():
            return
        os.chdir(self._directories.data)
        _log.info("running without a screen")
        self._core.submit(self._wait_idle()).add_done_callback(lambda _: ended.set())
        ended.wait()

    async def _wait_idle(self) -> None:
        assert self._workspace is not None and self._endpoint is not None
        endpoint = self._endpoint
        await wait_idle(self._workspace, lambda: endpoint.clients)
        _log.info("exiting: idle and without clients")

    def stop(self) -> None:
        """Stop agents, servers and core. Does nothing for those that were not started."""
        try:
            if self._workspace is not None:
                self._core.submit(self._stop(self._workspace)).result(timeout=SHUTDOWN_TIMEOUT)
        finally:
            self._core.stop()

    async def _stop(self, workspace: Workspace) -> None:
        if self._endpoint is not None:
            await self._endpoint.close()
        await self._server.shut_down()
        await workspace.stop()


def run_without_screen(started_in: str, *, demo: bool) -> None:
    """Go on as the process that this one has replaced, whose terminal had gone.

    `started_in` is the directory in which Spinney was started. Raises `SpinneyError` if another
    Spinney has taken over.
    """
    take_without_screen()
    paths = resolve_directories()
    with hold_lock(paths.lock) as lock:
        engine = Engine(paths, lock, demo=demo)
        try:
            engine.connect()
            engine.run_headless(lambda: True)
        finally:
            engine.stop()
        if engine.is_restarting:
            lock.hand_over()
            replace_process(started_in, has_screen=True)


def create_workspace(directories: Directories, *, demo: bool) -> Workspace:
    """Create a workspace with all agents, not started. `request_shutdown` sends SIGTERM."""
    configure_logging(directories.log, os.environ.get("SPINNEY_LOG", "info"))
    catalog, problems = load_catalog(directories.models, directories.agents)
    for problem in problems:
        _log.warning(problem)
    agents = create_backends(directories.data, catalog, demo=demo)
    workspace = Workspace(directories, agents, catalog, demo=demo)
    workspace.request_shutdown = lambda: os.kill(os.getpid(), signal.SIGTERM)
    workspace.restarted_from = take_previous_version()
    workspace.problems += problems
    return workspace


async def open_local_endpoint(workspace: Workspace, lock: InstanceLock) -> LocalEndpoint:
    """Open the endpoint for this user's other terminals and write its address to the lock file."""
    endpoint = LocalEndpoint(workspace)
    try:
        lock.write_instance(*endpoint.open())
    except SpinneyError as error:
        workspace.problems.append(f"Other terminals cannot attach. {error.message}")
    return endpoint


async def wait_idle(
    workspace: Workspace,
    clients: Callable[[], int],
    *,
    timeout: float = IDLE_TIMEOUT,
    interval: float = _CHECK_INTERVAL,
) -> None:
    """Wait until it was idle for `timeout` seconds, checking every `interval` seconds."""
    loop = asyncio.get_running_loop()
    idle_since = loop.time()
    while loop.time() - idle_since < timeout:
        await asyncio.sleep(interval)
        if clients() or is_busy(workspace):
            idle_since = loop.time()


def is_busy(workspace: Workspace) -> bool:
    """Whether a session or worktree is active, something waits for its time, or the public server
    is running."""
    state = workspace.store.state
    server = workspace.http_server
    return (
        any(session.is_active for session in state.sessions.values())
        or bool(state.timed_sessions())
        or any(worktree.status in ("creating", "removing") for worktree in state.worktrees.values())
        or (server is not None and bool(server.status()["running"]))
    )
