"""Where a Spinney is told to be: the address as it prints it, with or without its token."""

import getpass
import re
import socket
from urllib.parse import parse_qs, urlsplit, urlunsplit

from model.base.errors import NobodyThereError, SpinneyError

_PATIENCE = 10.0
"""Seconds for a machine far away to take a connection."""


def parse_address(text: str) -> tuple[str, str]:
    """Base URL and token (empty: none was given) of `http://host:port/#token=…`.

    A mere `host:port` is taken, too. Raises `SpinneyError`.
    """
    whole = text.strip()
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", whole):
        whole = f"http://{whole}"
    try:
        parts = urlsplit(whole)
        given = parse_qs(parts.fragment) or parse_qs(parts.query)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise SpinneyError(
            f"Not the address of a Spinney: {without_token(text)}."
            " It looks like http://127.0.0.1:3456 and is what `spinney serve` prints."
        )
    token = next(iter(given.get("token", ())), "")
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", "")), token


def without_token(text: str) -> str:
    """The address as it may be shown."""
    return re.split(r"[#?]", text, maxsplit=1)[0]


def check_reachable(base_url: str) -> None:
    """Raise `SpinneyError` where nobody takes a connection."""
    parts = urlsplit(base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), _PATIENCE).close()
    except OSError:
        raise NobodyThereError(
            f"Nothing answers at {base_url}. Is Spinney running there?", "timeout"
        ) from None


def asked_token(base_url: str) -> str:
    """The token that a person types, unseen; empty if none is needed."""
    try:
        return getpass.getpass(f"Token of {base_url} (empty if it needs none): ").strip()
    except EOFError:
        raise KeyboardInterrupt from None
