"""A port is taken, or said in a sentence why it cannot be."""

import asyncio
import errno
import socket

from model.base.errors import SpinneyError

_TRIES = 25
_PAUSE = 0.02
"""Seconds between two tries."""


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one. Raises `SpinneyError`."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(1024)
        listening.setblocking(False)
    except (OSError, OverflowError) as error:
        listening.close()
        raise _not_listening(port, error) from error
    return listening


async def listening_again(host: str, port: int) -> socket.socket:
    """As `listening_socket`, at a port that may have been let go just now.

    A program that Spinney starts holds all that Spinney had open for a moment: until then a port
    that was closed here is in use.
    """
    for _ in range(_TRIES):
        try:
            return listening_socket(host, port)
        except SpinneyError as error:
            if error.error_type != "conflict":
                raise
        await asyncio.sleep(_PAUSE)
    return listening_socket(host, port)


def _not_listening(port: int, error: OSError | OverflowError) -> SpinneyError:
    match getattr(error, "errno", None):
        case errno.EADDRINUSE:
            return SpinneyError(
                f"Port {port} is in use by another program. Stop that program, or choose another "
                "port: in the settings (http_server_port), or with “spinney serve --port N”.",
                "conflict",
            )
        case errno.EACCES:
            return SpinneyError(
                f"Port {port} may not be used by this user. Choose one above 1023: in the settings "
                "(http_server_port), or with “spinney serve --port N”.",
                "forbidden",
            )
        case _:
            return SpinneyError(f"The server cannot listen on port {port}: {error}")
