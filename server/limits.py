"""Every limit of the server in one place, so that tests can shorten them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds, sizes in bytes."""

    keep_alive: float = 15
    """An idle HTTP connection; also bounds an unfinished request head."""
    body_time: float = 20
    """For a whole request body to arrive."""
    lingering: float = 2
    """For the rest of a body that is not wanted any more."""
    handshake: float = 10
    """From a connection to its first whole request head."""
    body_size: int = 16 * 1024 * 1024
    """The longest message fits, whatever its JSON escapes: twelve bytes for a character at most."""
    frame_size: int = 16 * 1024 * 1024
    """A larger WebSocket message closes with 1009."""
    sockets: int = 4000
    strangers: int = 50
    """Connections of one address that have shown no request after a second."""
    ping: float = 20
    silence: float = 45
    """A WebSocket that was not heard from for so long is closed."""
    buffer: int = 256 * 1024
    """What may wait in a socket before it is left behind."""
    stuck: float = 30
    """A socket over its buffer that takes nothing for so long is aborted."""
    commands: int = 256
    """Of one WebSocket at once; more wait in its socket."""
    shutdown: float = 0.5
