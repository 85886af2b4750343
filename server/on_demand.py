"""The public server of a terminal, imported when it is first started, because it is large.

The preference `http_server_enabled` and the server follow each other.
"""

import asyncio
import importlib
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from model.base.errors import SpinneyError, as_user_error
from model.commands.server import start_http_server, status_when_stopped, stop_http_server
from model.domain.events.program import TaskCompleted
from model.preferences.apply import apply_changes

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace
    from model.service.certificates import CertificateFiles

_log = logging.getLogger(__name__)


class ServerOnDemand:
    """Imports and creates the `Server` on first use."""

    def __init__(self, workspace: "Workspace") -> None:
        self._workspace = workspace
        self._server: Any = None
        self._is_enabled = False
        """The value of the preference when it was last checked."""
        self._tasks: set[asyncio.Task[str]] = set()
        self._unsubscribe: Callable[[], None] = lambda: None
        self._lock = asyncio.Lock()

    async def start_up(self) -> None:
        """Start the server if it is set to start automatically, and follow the preference.

        One that ran before Spinney restarted itself starts as well: its clients come back.
        """
        preferences = self._workspace.store.state.preferences
        self._is_enabled = preferences.http_server_enabled
        was_running = self._workspace.restarted_from is not None and self._is_enabled
        if not (preferences.http_server_auto_start or was_running):
            await self._save_disabled()
        elif problem := await self._apply_preference(enabled=True):
            self._workspace.problems.append(problem)
        self._unsubscribe = self._workspace.bus.listen(self._check_preference)

    def status(self) -> dict[str, Any]:
        """See `HttpServer.status`."""
        if self._server is None:
            return status_when_stopped(self._workspace.store.state.preferences)
        return dict(self._server.status())

    async def start(
        self,
        port: int,
        *,
        localhost_only: bool,
        token_required: bool,
        host: str = "",
        tls: "CertificateFiles | None" = None,
    ) -> None:
        """See `HttpServer.start`."""
        if self._server is None:
            server = await asyncio.to_thread(importlib.import_module, "server.app")
            self._server = server.Server(self._workspace)
        await self._server.start(
            port, localhost_only=localhost_only, token_required=token_required, host=host, tls=tls
        )
        await self._save_enabled(is_enabled=True)

    async def stop(self) -> None:
        """See `HttpServer.stop`."""
        await self._save_enabled(is_enabled=False)
        await self._stop()

    async def shut_down(self) -> None:
        """Stop the server because Spinney exits; the preference stays as it is."""
        self._unsubscribe()
        self._unsubscribe = lambda: None
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._stop()

    async def _stop(self) -> None:
        if self._server is not None:
            await self._server.stop()

    async def _save_enabled(self, *, is_enabled: bool) -> None:
        """Save the server's state in the preference."""
        self._is_enabled = is_enabled
        preferences = self._workspace.store.state.preferences
        if preferences.http_server_enabled is not is_enabled:
            changes = {"http_server_enabled": is_enabled}
            await self._workspace.change_preferences(apply_changes(preferences, changes))

    def _check_preference(self) -> None:
        enabled = self._workspace.store.state.preferences.http_server_enabled
        if enabled is not self._is_enabled:
            self._is_enabled = enabled
            task = asyncio.create_task(self._apply_preference(enabled=enabled))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _apply_preference(self, *, enabled: bool) -> str:
        """Start or stop the server; if it cannot start, turn the preference off and say why."""
        async with self._lock:
            if self.status()["running"] is enabled:
                return ""
            try:
                await (start_http_server if enabled else stop_http_server)(self._workspace)
            except Exception as error:
                detail = f"The server did not start. {as_user_error(error, 'the server').message}"
                event = TaskCompleted(task="http_server", ok=False, detail=detail)
                self._workspace.store.record(event)
                await self._save_disabled()
                return detail
            return ""

    async def _save_disabled(self) -> None:
        try:
            await self._save_enabled(is_enabled=False)
        except SpinneyError as error:
            _log.warning("could not turn http_server_enabled off: %s", error.message)
