"""The HTTP server as the model sees it."""

from pathlib import Path
from typing import Any, Protocol

from model.preferences.schema import Preferences
from model.service.certificates import CertificateFiles


class HttpServer(Protocol):
    """The server as the model sees it; the entry point provides the implementation."""

    def status(self) -> dict[str, Any]:
        """Return the result of `get_http_server_status`, which is without the token."""
        ...

    async def start(
        self,
        port: int,
        *,
        localhost_only: bool,
        token_required: bool,
        host: str = "",
        tls: CertificateFiles | None = None,
    ) -> None:
        """Start listening; port 0 picks a free one.

        `host` is the address for other devices, all if empty. Raises `SpinneyError` saying what
        to do instead, for example if the port is in use.
        """
        ...

    async def stop(self) -> None:
        """Close the listener and all connections."""
        ...


def preferred_certificate(preferences: Preferences) -> CertificateFiles | None:
    """Return the certificate that the preferences name, or `None` for HTTP without TLS."""
    certificate, key = preferences.http_server_certificate, preferences.http_server_key
    if not certificate and not key:
        return None
    return CertificateFiles(_path(certificate), _path(key))


def _path(text: str) -> Path | None:
    return Path(text).expanduser() if text else None
