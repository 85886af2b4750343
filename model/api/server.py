"""The HTTP server, and the program itself."""

from typing import Any, Literal

from model.api.command import command, local_command
from model.domain.program import ProgramStatus, RestartAnswer
from model.domain.resource import Resource


class ConnectionCode(Resource):
    """The result of `get_connection_qr`."""

    url: str
    """Opens the page signed in: it contains the token."""
    rows: list[str]
    """The rows of the QR code, without a margin: a `1` is dark."""


class ServerAddress(Resource):
    """An address of the running server."""

    url: str
    """The address without the token."""
    kind: Literal["machine", "network", "vpn", "name"]
    """Who can reach it: programs on this machine, its network, a VPN; `name`: of the certificate.
    """
    label: str
    """The same for people, with the name of the VPN or of the network interface."""


@command
async def get_http_server_status() -> dict[str, Any]:
    """Get the server's state: `{running, base_url, port, localhost_only, token_required}`.

    While it runs, also its `host` (the address it listens on), whether it uses `tls`, the
    `certificate_names` and `certificate_expires_at` (seconds since the epoch, or `null`), the
    number of `clients`, and as `warning` a sentence if the token crosses a network unencrypted.
    """


@command
async def list_server_addresses() -> list[ServerAddress]:
    """List the addresses at which the running server can be reached, the best for other devices
    first; empty while it is stopped.
    """


@command
async def get_connection_qr(url: str | None = None) -> ConnectionCode:
    """Get a QR code of the address that opens the page signed in on another device.

    `url` is one of `list_server_addresses`, by default the first. Fails with `conflict` if other
    devices cannot connect.
    """


@command
async def start_http_server(
    port: int | None = None,
    localhost_only: bool | None = None,
    token_required: bool | None = None,
    host: str | None = None,
) -> dict[str, Any]:
    """Start the server for other clients; what is not given comes from the preferences.

    `host` is the address of this machine that other devices connect to, such as that of a VPN.
    """


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
async def get_program_status() -> ProgramStatus:
    """Get the version of the running program, and whether another one is installed by now."""


@command
async def restart_spinney(when: Literal["now", "idle"] | None = None) -> RestartAnswer:
    """Restart Spinney into the installed version; sessions, queues and open plans and questions
    are kept, and clients reconnect.

    `now` interrupts running turns, `idle` waits until nothing runs. By default it fails with
    `conflict`, naming what runs. Fails if the installed version does not start.
    """


@command
async def cancel_restart() -> ProgramStatus:
    """Cancel a restart that waits until nothing runs."""


@command
async def regenerate_http_token() -> dict[str, Any]:
    """Generate a new token; connections that used the old one are closed."""
