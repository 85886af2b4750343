"""The server behind the own door: the public one without its preferences and its address file."""

import socket
from typing import TYPE_CHECKING

from server.app import Server, Wishes

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


class OwnServer(Server):
    """Serves whoever knows the token of the lock, at a socket that listens already."""

    own = True

    def __init__(self, workspace: "Workspace", listening: socket.socket, token: str) -> None:
        self._own_token = token
        self._listening = listening
        super().__init__(workspace)

    def _token(self) -> str:
        return self._own_token

    def _wishes(self) -> Wishes:
        return Wishes(0, True, True, self._own_token)

    async def _socket(self, localhost_only: bool, port: int) -> socket.socket:
        return self._listening

    async def _write_address(self) -> None:
        """The lock tells it."""

    async def _take_address_away(self) -> None:
        """It goes with the lock."""
