"""Free ports for servers that stop and then listen again on the same port."""

import random
import socket
from contextlib import suppress

_RANDOM = random.SystemRandom()  # xdist workers may share the seed of `random`


def find_free_port() -> int:
    """Return a free local port below the system's range of ephemeral ports.

    A port of that range can become an end of another program's connection once it is closed.
    """
    while True:
        port = _RANDOM.randrange(10_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
