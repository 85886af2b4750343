"""The server of the Spinney on this machine, as its command lines need it: with the token."""

from contextlib import closing
from dataclasses import dataclass
from typing import Any

from model.base.errors import SpinneyError
from model.base.paths import resolve_directories
from model.cli.quick_call import Connection
from model.client.endpoint import find_running


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that other devices or programs connect to."""

    status: dict[str, Any]
    addresses: list[dict[str, str]]
    """See `list_server_addresses`."""
    token: str
    """Empty if none is required."""

    def sign_in_link(self, url: str) -> str:
        """The address that opens the page signed in."""
        return f"{url}/#token={self.token}" if self.token else f"{url}/"


def connect_local() -> "closing[Connection]":
    """Connect as one of this user's own terminals, which may also read the token.

    Raises `SpinneyError`.
    """
    running = find_running(resolve_directories())
    return closing(Connection(running.base_url, running.token, lambda: running.timeout_error))


def read_server() -> RunningServer:
    """Return the running server. Raises `SpinneyError` if it is off."""
    names = ("get_http_server_status", "list_server_addresses", "get_http_server_token")
    with connect_local() as connection:
        status, addresses, token = connection.call_all([(name, {}) for name in names])
    if not status["running"]:
        raise SpinneyError(
            "The server is off. Turn it on in the terminal (ctrl+p, Server), or with: "
            "spinney call start_http_server",
            "conflict",
        )
    return RunningServer(status, addresses, token if status["token_required"] else "")
