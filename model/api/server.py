"""Commands about the server that lets other clients in."""

from typing import Any

from model.api.command import command, local_command


@command
async def get_http_server_status() -> dict[str, Any]:
    """`{running, base_url, port, localhost_only, token_required}`."""


@command
async def start_http_server(
    port: int | None = None, localhost_only: bool | None = None, token_required: bool | None = None
) -> dict[str, Any]:
    """Let other clients in; what is not given comes from the preferences."""


@local_command
async def stop_http_server() -> dict[str, Any]:
    """Let nobody in any more."""


@local_command
async def get_http_server_token() -> str:
    """The token, for the screen of this process alone."""


@local_command
async def stop_spinney() -> dict[str, int]:
    """End this Spinney in good order: `{pid, interrupted}`, with the number of runs cut short."""


@command
async def regenerate_http_token() -> dict[str, Any]:
    """Make a new token; connections that used the old one are closed."""
