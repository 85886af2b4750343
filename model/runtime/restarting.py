"""Restarts Spinney into the version that is installed now, with all that it holds.

The process replaces itself: its id, its terminal and the service that started it stay. Everything
accepted is in the store by then, and what is streaming is interrupted as by `spinney stop`.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from model import __version__
from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.events.program import ProgramUpdated, TaskCompleted
from model.domain.program import ProgramStatus, RestartAnswer
from model.service.installation import Installation
from model.state import State
from model.store.store import Store

CHECK_INTERVAL: Final = 60.0
"""Seconds between two looks at the installed files."""
_TRIAL_TIMEOUT: Final = 60.0
"""Seconds in which the installed version must be imported."""
_IDLE_DELAY: Final = 1.0
"""Seconds for which nothing must run: the next message of a queue starts within them."""
_SHUTDOWN_DELAY: Final = 0.1
"""Seconds in which clients receive the answer."""
_TRIAL: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "import server.serve, server.engine, server.app, tui.shell.app, model.runtime.workspace"
)


class Restarter:
    """Looks for other installed files, and restarts when it is asked to, or when nothing runs."""

    def __init__(self, store: Store, installation: Installation | None = None) -> None:
        self._store = store
        self._installation = installation or Installation()
        self._stamp = ""
        """Of the files that run."""
        self._tried = ""
        """Of those that could be imported."""
        self.request_shutdown: Callable[[], None] | None = None
        """Ends the process cleanly so that its entry point starts it again; set by that one if it
        can.
        """
        self.is_requested = False
        """Whether the entry point has to start the program again after the shutdown."""
        self._waiting: asyncio.Task[None] | None = None

    @property
    def status(self) -> ProgramStatus:
        """The present status."""
        return self._store.state.program

    async def run(self, interval: float = CHECK_INTERVAL) -> None:
        """Look for other installed files until canceled."""
        self._stamp = await asyncio.to_thread(self._installation.read_stamp)
        while True:
            await asyncio.sleep(interval)
            await self.check_installation()

    async def check_installation(self) -> None:
        """Publish it if other files are installed than those that run."""
        stamp = await asyncio.to_thread(self._installation.read_stamp)
        if not stamp or not self._stamp:
            return  # They are being replaced.
        version = await asyncio.to_thread(self._installation.read_version)
        installed = version if stamp != self._stamp else None
        if installed != self.status.installed_version:
            self._update(installed_version=installed)

    def note_release(self, version: str | None) -> None:
        """Publish that a newer version can be installed."""
        if version != self.status.release:
            self._update(release=version)

    async def restart(self, when: str | None) -> RestartAnswer:
        """Restart `now`, or when nothing runs any more (`idle`).

        Raises `SpinneyError`: `conflict` naming what runs if it is not said when, and another if
        the installed version does not start; everything goes on then.
        """
        if self.request_shutdown is None:
            raise SpinneyError(
                "This Spinney cannot restart itself. Quit it, and start it again.", "conflict"
            )
        running = list_running(self._store.state)
        if running and when is None:
            raise SpinneyError(
                f"A restart would interrupt: {', '.join(running)}. Restart when they are done "
                "(when=idle), or now (when=now).",
                "conflict",
            )
        await self._try_installed()
        running = list_running(self._store.state)
        if running and when != "now":
            self._wait()
            return RestartAnswer(restarting=False, running=running)
        self._begin()
        return RestartAnswer(restarting=True, running=running)

    def cancel(self) -> None:
        """Do not restart when nothing runs. Raises `SpinneyError` if it is too late."""
        if self.is_requested:
            raise SpinneyError("Spinney is restarting already.", "conflict")
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
            self._update(restart=None)

    async def close(self) -> None:
        """Stop waiting."""
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.gather(self._waiting, return_exceptions=True)

    def _wait(self) -> None:
        if self._waiting is None:
            self._update(restart="idle")
            self._waiting = asyncio.create_task(self._restart_when_idle())

    async def _restart_when_idle(self) -> None:
        changed = asyncio.Event()
        stop_listening = self._store.bus.listen(changed.set)
        try:
            while True:
                while list_running(self._store.state):
                    changed.clear()
                    await changed.wait()
                await asyncio.sleep(_IDLE_DELAY)
                if not list_running(self._store.state):
                    break
            await self._try_installed()  # It may have changed since.
        except SpinneyError as error:
            self._waiting = None
            self._update(restart=None)
            self._store.record(TaskCompleted(task="restart", ok=False, detail=error.message))
            return
        finally:
            stop_listening()
        self._begin()

    def _begin(self) -> None:
        assert self.request_shutdown is not None
        if not self.is_requested:
            self.is_requested = True
            self._update(restart="now")
            self._store.bus.seal()
            asyncio.get_running_loop().call_later(_SHUTDOWN_DELAY, self.request_shutdown)

    async def _try_installed(self) -> None:
        """Raise `SpinneyError` if the installed files cannot be imported."""
        stamp = await asyncio.to_thread(self._installation.read_stamp)
        if stamp and stamp == self._tried:
            return
        problem = await asyncio.to_thread(self._find_problem)
        if problem:
            raise SpinneyError(
                f"The installed version does not start: {problem}. This one, {__version__}, keeps "
                f"running. Install Spinney again, for example with: "
                f"{self._installation.update_command}",
                "conflict",
            )
        self._tried = stamp

    def _find_problem(self) -> str:
        command = [sys.executable, "-c", _TRIAL, str(self._installation.root)]
        try:
            ran = subprocess.run(
                command, capture_output=True, timeout=_TRIAL_TIMEOUT, cwd="/", errors="replace"
            )
        except subprocess.TimeoutExpired:
            return f"it was not loaded within {_TRIAL_TIMEOUT:.0f} s"
        except OSError as error:
            return f"{sys.executable} cannot be started ({error.strerror})"
        last = ran.stderr.strip().rpartition("\n")[2]
        return clean_line(last)[:300] or "it failed" if ran.returncode else ""

    def _update(self, **changes: Any) -> None:
        status = self.status.model_copy(update=changes)
        self._store.record(ProgramUpdated(program=status))


def describe_program(restarted_from: str | None) -> ProgramStatus:
    """Return the status of a program that starts now."""
    return ProgramStatus(
        started_at=time.time(),
        restarted_from=restarted_from,
        update_command=Installation().update_command,
    )


def list_running(state: State) -> list[str]:
    """The names of the sessions and worktrees that a restart would interrupt."""
    worktrees = state.worktrees.values()
    busy = [each.name for each in worktrees if each.status in ("creating", "removing")]
    return [*(session.name for session in state.interruptible_sessions()), *busy]
