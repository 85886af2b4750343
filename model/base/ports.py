"""Whether a TCP port of this machine is in use, found out without connecting to it."""

import errno
import socket
import sys
from typing import Final

# On Linux the wildcard address of both families is refused while anything listens on the port. The
# BSDs, and so macOS, allow it beside a listener on a specific address.
_ADDRESSES: Final = ("::",) if sys.platform == "linux" else ("::", "127.0.0.1", "::1")


def is_port_in_use(port: int) -> bool:
    """Whether a program listens on a port, on any address. Does not block: takes about 15 µs.

    The port is bound for a moment instead of connected to, of which a server would take note.
    `SO_REUSEADDR` lets a server that starts just then bind it, too.
    """
    return any(_is_taken(address, port) for address in _ADDRESSES)


def _is_taken(address: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in address and socket.has_ipv6 else socket.AF_INET
    host = "" if address == "::" else address
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            probe.bind((host, port))
    except OSError as error:
        if error.errno == errno.EAFNOSUPPORT and address == "::":
            return _is_taken("127.0.0.1", port)  # IPv6 is switched off in the kernel
        return error.errno == errno.EADDRINUSE
    return False
