"""A terminal's public server, imported when somebody starts it: most never do, and it is large.

The preference `http_server_enabled` and the server are one switch: each follows the other.
"""

import asyncio
import importlib
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from model.base.errors import SpinneyError, as_user_error
from model.commands.server import start_http_server, status_when_stopped, stop_http_server
from model.domain.events import TaskCompleted
from model.preferences.apply import apply_changes

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_log = logging.getLogger(__name__)


class ServerOnDemand:
    """Stands where the `Server` will be."""

    def __init__(self, workspace: "Workspace") -> None:
        self._workspace = workspace
        self._server: Any = None
        self._is_wanted = False
        """What the preference said when it was last looked at."""
        self._changing: set[asyncio.Task[str]] = set()
        self._unlisten: Callable[[], None] = lambda: None
        self._in_turn = asyncio.Lock()

    async def begin(self) -> None:
        """Start with Spinney where that is wanted, and follow the preference from now on."""
        preferences = self._workspace.store.state.preferences
        self._is_wanted = preferences.http_server_enabled
        if not preferences.http_server_auto_start:
            await self._note_off()
        elif problem := await self._follow(wanted=True):
            self._workspace.problems.append(problem)
        self._unlisten = self._workspace.bus.listen(self._look)

    def status(self) -> dict[str, Any]:
        """As `Server.status`."""
        if self._server is None:
            return status_when_stopped(self._workspace.store.state.preferences)
        return dict(self._server.status())

    async def start(self, port: int, *, localhost_only: bool, token_required: bool) -> None:
        """As `Server.start`."""
        if self._server is None:
            server = await asyncio.to_thread(importlib.import_module, "server.app")
            self._server = server.Server(self._workspace)
        await self._server.start(port, localhost_only=localhost_only, token_required=token_required)
        await self._note(is_wanted=True)

    async def stop(self) -> None:
        """As `Server.stop`."""
        await self._note(is_wanted=False)
        await self._stop()

    async def end(self) -> None:
        """Stop with Spinney, which is nobody's wish about the server."""
        self._unlisten()
        self._unlisten = lambda: None
        for task in tuple(self._changing):
            task.cancel()
        await asyncio.gather(*self._changing, return_exceptions=True)
        await self._stop()

    async def _stop(self) -> None:
        if self._server is not None:
            await self._server.stop()

    async def _note(self, *, is_wanted: bool) -> None:
        """Let the preference say what is."""
        self._is_wanted = is_wanted
        preferences = self._workspace.store.state.preferences
        if preferences.http_server_enabled is not is_wanted:
            changes = {"http_server_enabled": is_wanted}
            await self._workspace.change_preferences(apply_changes(preferences, changes))

    def _look(self) -> None:
        wanted = self._workspace.store.state.preferences.http_server_enabled
        if wanted is not self._is_wanted:
            self._is_wanted = wanted
            task = asyncio.create_task(self._follow(wanted=wanted))
            self._changing.add(task)
            task.add_done_callback(self._changing.discard)

    async def _follow(self, *, wanted: bool) -> str:
        """Start or stop as the preference says; why it did not start, upon which it is off."""
        async with self._in_turn:
            if self.status()["running"] is wanted:
                return ""
            try:
                await (start_http_server if wanted else stop_http_server)(self._workspace)
            except Exception as error:
                detail = f"The server did not start: {as_user_error(error, 'the server').message}"
                told = TaskCompleted(task="http_server", ok=False, detail=detail)
                self._workspace.store.record(told)
                await self._note_off()
                return detail
            return ""

    async def _note_off(self) -> None:
        try:
            await self._note(is_wanted=False)
        except SpinneyError as error:
            _log.warning("http_server_enabled stays on: %s", error.message)
