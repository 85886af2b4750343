"""All limits of the server, in one place so that tests can lower them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds, sizes in bytes."""

    keep_alive: float = 15
    """For an idle HTTP connection; also limits an incomplete request head."""
    body_time: float = 20
    """For a whole request body to arrive."""
    lingering: float = 2
    """For the rest of a body that is no longer needed."""
    handshake: float = 10
    """From connecting to the first complete request head."""
    body_size: int = 16 * 1024 * 1024
    """Fits the longest message whatever its JSON escapes: at most twelve bytes per character."""
    upload_size: int = 20 * 1024 * 1024
    """Of a file that is uploaded for a message."""
    upload_time: float = 180
    """For a whole file to arrive, from a phone on a slow network."""
    frame_size: int = 16 * 1024 * 1024
    """A larger WebSocket message closes the connection with 1009."""
    sockets: int = 4000
    pending: int = 50
    """Connections of one address that have sent no request after a second."""
    ping: float = 20
    silence: float = 45
    """A WebSocket that received nothing for this long is closed."""
    buffer: int = 256 * 1024
    """Bytes that may be buffered in a socket before it counts as slow."""
    stuck: float = 30
    """A socket over its buffer limit that accepts nothing for this long is aborted."""
    commands: int = 256
    """Concurrent commands of one WebSocket; more stay unread in its socket."""
    shutdown: float = 0.5
    certificate_check: float = 60
    """Between two checks for a renewed certificate."""
