"""The endpoint for this user's other terminals, independent of the public server.

It listens on the loopback interface only. Its port and token are in the lock file of the data
directory; the preferences of the public server do not apply.
"""

import asyncio
import importlib
import logging
import secrets
import socket
from typing import TYPE_CHECKING

from server.listening import open_listener

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace
    from server.app import Server

_log = logging.getLogger(__name__)


class LocalEndpoint:
    """Listens, and imports the server on the first connection, because it is large."""

    def __init__(self, workspace: "Workspace") -> None:
        self._workspace = workspace
        self._server: Server | None = None
        self._listener_socket: socket.socket | None = None
        self._starting: asyncio.Task[None] | None = None

    def open(self) -> tuple[int, str]:
        """Listen; returns the port and the token for clients. Raises `SpinneyError`."""
        self._listener_socket = open_listener("127.0.0.1", 0)
        token = secrets.token_urlsafe(32)
        asyncio.get_running_loop().add_reader(self._listener_socket, self._on_connection, token)
        return self._listener_socket.getsockname()[1], token

    @property
    def clients(self) -> int:
        """The number of connected terminals."""
        return int(self._server.status().get("clients", 0)) if self._server is not None else 0

    async def close(self) -> None:
        """Stop listening and close all connections. Does nothing when closed."""
        if self._starting is not None:
            await asyncio.gather(self._starting, return_exceptions=True)
        elif self._listener_socket is not None:
            asyncio.get_running_loop().remove_reader(self._listener_socket)
            self._listener_socket.close()
        self._listener_socket = None
        if self._server is not None:
            await self._server.stop()

    def _on_connection(self, token: str) -> None:
        assert self._listener_socket is not None
        asyncio.get_running_loop().remove_reader(self._listener_socket)
        self._starting = asyncio.create_task(self._start_server(self._listener_socket, token))

    async def _start_server(self, listener_socket: socket.socket, token: str) -> None:
        # The first connection waits in the socket's backlog meanwhile.
        local_server = await asyncio.to_thread(importlib.import_module, "server.local_server")
        self._server = local_server.LocalServer(self._workspace, listener_socket, token)
        try:
            await self._server.start(0, localhost_only=True, token_required=True)
        except Exception:
            listener_socket.close()
            _log.exception("the local endpoint could not start")
