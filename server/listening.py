"""A port is taken, or said in a sentence why it cannot be."""

import errno
import socket

from model.errors import SpinneyError


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


def _not_listening(port: int, error: OSError | OverflowError) -> SpinneyError:
    match getattr(error, "errno", None):
        case errno.EADDRINUSE:
            return SpinneyError(
                f"Port {port} is in use by another program. Stop that program, or choose another "
                "port in the settings (http_server_port).",
                "conflict",
            )
        case errno.EACCES:
            return SpinneyError(
                f"Port {port} may not be used by this user. Choose one above 1023 in the settings "
                "(http_server_port).",
                "forbidden",
            )
        case _:
            return SpinneyError(f"The server cannot listen on port {port}: {error}")
