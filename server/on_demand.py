"""A terminal's public server, imported when somebody starts it: most never do, and it is large."""

import asyncio
import importlib
from typing import TYPE_CHECKING, Any

from model.commands.server import stopped_status

if TYPE_CHECKING:
    from model.workspace import Workspace


class ServerOnDemand:
    """Stands where the `Server` will be."""

    def __init__(self, workspace: "Workspace") -> None:
        self._workspace = workspace
        self._server: Any = None

    def status(self) -> dict[str, Any]:
        """As `Server.status`."""
        if self._server is None:
            return stopped_status(self._workspace.store.state.preferences)
        return dict(self._server.status())

    async def start(self, port: int, *, localhost_only: bool, token_required: bool) -> None:
        """As `Server.start`."""
        if self._server is None:
            server = await asyncio.to_thread(importlib.import_module, "server.app")
            self._server = server.Server(self._workspace)
        await self._server.start(port, localhost_only=localhost_only, token_required=token_required)

    async def stop(self) -> None:
        """As `Server.stop`."""
        if self._server is not None:
            await self._server.stop()
