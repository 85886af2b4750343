"""The server of the local endpoint: the public one without preferences and address file."""

import socket
from typing import TYPE_CHECKING

from server.app import Server
from server.settings import ServerSettings

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


class LocalServer(Server):
    """Serves clients that have the token of the lock file, on a socket that is already open."""

    is_local = True

    def __init__(self, workspace: "Workspace", listener_socket: socket.socket, token: str) -> None:
        self._local_token = token
        self._listener_socket = listener_socket
        super().__init__(workspace)

    def _token(self) -> str:
        return self._local_token

    def _read_settings(self) -> ServerSettings:
        return ServerSettings(0, token=self._local_token)

    async def _open_socket(self, settings: ServerSettings) -> socket.socket:
        return self._listener_socket

    async def _write_address_file(self) -> None:
        """Do nothing: the lock file has the address."""

    async def _remove_address_file(self) -> None:
        """Do nothing: the address is removed with the lock file."""
