"""The HTTP server as the model sees it."""

from typing import Any, Protocol


class HttpServer(Protocol):
    """The server as the model sees it; the entry point provides the implementation."""

    def status(self) -> dict[str, Any]:
        """Return `{running, base_url, port, localhost_only, token_required}`, without the token."""
        ...

    async def start(self, port: int, *, localhost_only: bool, token_required: bool) -> None:
        """Start listening. Raises `SpinneyError`, for example if the port is in use."""
        ...

    async def stop(self) -> None:
        """Close the listener and all connections."""
        ...
