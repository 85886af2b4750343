"""Open a listening socket, or explain why the port is unavailable."""

import asyncio
import errno
import socket

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.service.addresses import is_address

_ATTEMPTS = 25
_RETRY_DELAY = 0.02
"""Seconds between two attempts."""


def open_listener(host: str, port: int) -> socket.socket:
    """Open a listening socket; port 0 picks a free one. Raises `SpinneyError`."""
    if not is_address(host):
        raise SpinneyError(f"'{clean_line(host)}' is not an IP address of this machine.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
        listener.setblocking(False)
    except (OSError, OverflowError) as error:
        listener.close()
        raise _as_user_error(host, port, error) from error
    return listener


async def open_listener_with_retries(host: str, port: int) -> socket.socket:
    """Like `open_listener`, but retry while the port is in use: it may have just been closed.

    A child process inherits all open sockets for a moment after Spinney starts it, so a port that
    was closed here can still be in use.
    """
    for _ in range(_ATTEMPTS):
        try:
            return open_listener(host, port)
        except SpinneyError as error:
            if error.error_type != "conflict":
                raise
        await asyncio.sleep(_RETRY_DELAY)
    return open_listener(host, port)


def _as_user_error(host: str, port: int, error: OSError | OverflowError) -> SpinneyError:
    match getattr(error, "errno", None):
        case errno.EADDRINUSE:
            return SpinneyError(
                f"Port {port} is in use by another program. Stop that program, or choose another "
                "port in the preferences or with 'spinney serve --port N'.",
                "conflict",
            )
        case errno.EACCES:
            return SpinneyError(
                f"You do not have permission to use port {port}. Choose one above 1023 in the "
                "preferences or with 'spinney serve --port N'.",
                "forbidden",
            )
        case errno.EADDRNOTAVAIL:
            return SpinneyError(
                f"This machine has no address {host} now. Choose one that it has; that of a VPN "
                "exists while the VPN is connected."
            )
        case _:
            return SpinneyError(f"The server cannot listen on port {port}: {error}")
