"""Ports for servers that stop and listen again at the same one."""

import random
import socket
from contextlib import suppress

_CHANCE = random.SystemRandom()  # workers may share the seed of the other one


def own_port() -> int:
    """A free port of this machine, below those that the system gives to whoever asks for any.

    One of those may be somebody else's end of a connection a moment after it was closed.
    """
    while True:
        port = _CHANCE.randrange(10_000, 32_000)
        with socket.socket() as tried, suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port
