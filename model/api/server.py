"""The HTTP server, and the program itself."""

from typing import Any

from model.api.command import command, local_command


@command
async def get_http_server_status() -> dict[str, Any]:
    """Get the server's state: `{running, base_url, port, localhost_only, token_required}`."""


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
