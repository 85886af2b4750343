"""Free ports for servers that stop and then listen again on the same port."""

import random
import socket
from contextlib import suppress

_RANDOM = random.SystemRandom()  # xdist workers may share the seed of `random`


def find_free_port(usual: int = 0) -> int:
    """Return `usual` if nothing listens on it, or a free port below the range of ephemeral ports.

    A port of that range can become an end of another program's connection once it is closed.
    """
    if usual:
        with socket.socket() as probe, suppress(OSError):
            # As servers do: connections that have just ended do not count.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", usual))
            return usual
    while True:
        port = _RANDOM.randrange(10_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
