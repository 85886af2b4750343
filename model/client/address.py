"""Addresses of Spinney as people type them, with or without a token."""

import getpass
import re
import socket
from urllib.parse import parse_qs, urlsplit, urlunsplit

from model.base.errors import NobodyThereError, SpinneyError

_CONNECT_TIMEOUT = 10.0
"""Seconds; the machine may be far away."""


def parse_address(text: str) -> tuple[str, str]:
    """Split `http://host:port/#token=…` into base URL and token; the token is empty if there is
    none.

    Accepts `host:port` too. Raises `SpinneyError`.
    """
    url = text.strip()
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", url):
        url = f"http://{url}"
    try:
        parts = urlsplit(url)
        query = parse_qs(parts.fragment) or parse_qs(parts.query)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise SpinneyError(
            f"Not a Spinney address: {without_token(text)}."
            " Use one like http://127.0.0.1:3456, as `spinney serve` prints it."
        )
    token = next(iter(query.get("token", ())), "")
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", "")), token


def without_token(text: str) -> str:
    """Remove the token, so that the address can be shown."""
    return re.split(r"[#?]", text, maxsplit=1)[0]


def check_reachable(base_url: str) -> None:
    """Raise `SpinneyError` if nothing accepts a connection at `base_url`."""
    parts = urlsplit(base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), _CONNECT_TIMEOUT).close()
    except OSError:
        raise NobodyThereError(
            f"Nothing answers at {base_url}. Is Spinney running there?", "timeout"
        ) from None


def prompt_token(base_url: str) -> str:
    """Prompt for the token without echo; empty if none is required."""
    try:
        return getpass.getpass(f"Token for {base_url} (empty if none is required): ").strip()
    except EOFError:
        raise KeyboardInterrupt from None
