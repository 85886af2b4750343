"""The way in for this user's other terminals, whether or not anybody else is let in.

It listens on this machine alone, at a port and with a token that only the lock of the data
directory tells, and does not follow the preferences of the public server.
"""

import asyncio
import importlib
import logging
import secrets
import socket
from typing import TYPE_CHECKING

from server.listening import listening_socket

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace
    from server.app import Server

_log = logging.getLogger(__name__)


class OwnDoor:
    """Listens; what answers is imported when somebody knocks for the first time: it is large."""

    def __init__(self, workspace: "Workspace") -> None:
        self._workspace = workspace
        self._server: Server | None = None
        self._listening: socket.socket | None = None
        self._opening: asyncio.Task[None] | None = None

    def open(self) -> tuple[int, str]:
        """Listen; the port and the token to be told. Raises `SpinneyError`."""
        self._listening = listening_socket("127.0.0.1", 0)
        token = secrets.token_urlsafe(32)
        asyncio.get_running_loop().add_reader(self._listening, self._knocked, token)
        return self._listening.getsockname()[1], token

    @property
    def clients(self) -> int:
        """How many terminals are in."""
        return int(self._server.status().get("clients", 0)) if self._server is not None else 0

    async def close(self) -> None:
        """Let nobody in any more. Closing twice is no error."""
        if self._opening is not None:
            await asyncio.gather(self._opening, return_exceptions=True)
        elif self._listening is not None:
            asyncio.get_running_loop().remove_reader(self._listening)
            self._listening.close()
        self._listening = None
        if self._server is not None:
            await self._server.stop()

    def _knocked(self, token: str) -> None:
        assert self._listening is not None
        asyncio.get_running_loop().remove_reader(self._listening)
        self._opening = asyncio.create_task(self._answer(self._listening, token))

    async def _answer(self, listening: socket.socket, token: str) -> None:
        # Whoever knocked waits meanwhile in the socket's backlog.
        own_server = await asyncio.to_thread(importlib.import_module, "server.local_server")
        self._server = own_server.OwnServer(self._workspace, listening, token)
        try:
            await self._server.start(0, localhost_only=True, token_required=True)
        except Exception:
            listening.close()
            _log.exception("other terminals cannot be let in")
