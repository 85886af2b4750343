"""The HTTP server, and the program itself."""

from typing import Any

from model.api.command import command, local_command
from model.domain.resources import Resource


class ConnectionCode(Resource):
    """The result of `get_connection_qr`."""

    url: str
    """Opens the page signed in: it contains the token."""
    rows: list[str]
    """The rows of the QR code, without a margin: a `1` is dark."""


@command
async def get_http_server_status() -> dict[str, Any]:
    """Get the server's state: `{running, base_url, port, localhost_only, token_required}`."""


@command
async def get_connection_qr() -> ConnectionCode:
    """Get a QR code of the address that opens the page signed in on another device.

    Fails with `conflict` if other devices cannot connect.
    """


@command
async def start_http_server(
    port: int | None = None, localhost_only: bool | None = None, token_required: bool | None = None
) -> dict[str, Any]:
    """Start the server for other clients; what is not given comes from the preferences."""


@local_command
async def stop_http_server() -> dict[str, Any]:
    """Stop the server."""


@local_command
async def get_http_server_token() -> str:
    """Get the server's token; generates one if there is none."""


@local_command
async def stop_spinney() -> dict[str, int]:
    """Shut Spinney down; `interrupted` in `{pid, interrupted}` is the number of runs that this
    interrupts.
    """


@command
async def regenerate_http_token() -> dict[str, Any]:
    """Generate a new token; connections that used the old one are closed."""
