"""Long output of agents, read in pieces."""

from model.domain.resources import Resource


class ToolOutput(Resource):
    """A piece of a tool's result."""

    content: str
    offset: int
    """Where it begins, in bytes."""
    next_offset: int | None
    """Where the next piece begins; null at the end."""
    size: int
    """Bytes that are kept of the whole result."""


class RawLog(Resource):
    """A piece of a session's raw log: whole lines, but where one is longer than the piece."""

    text: str
    start: int
    """Where it begins, in bytes of all that was ever written."""
    end: int
    """Where it ends: what comes next begins there."""
    is_first: bool
    """Whether nothing older is kept."""
    size: int
    """Bytes that are kept in all."""
    path: str
    """The newest file, on the machine where Spinney runs; empty while there is none."""
    recording: bool
    """Whether what is said now is written down."""
