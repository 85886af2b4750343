"""Parts of long output that agents and tools produced."""

from model.domain.resource import Resource


class ToolOutput(Resource):
    """A part of a tool's output."""

    content: str
    offset: int
    """Where it starts, in bytes."""
    next_offset: int | None
    """Where the next part starts; null at the end."""
    size: int
    """Bytes kept of the whole output."""


class RawLog(Resource):
    """A part of a session's raw log: whole lines, unless one is longer than the part."""

    text: str
    start: int
    """Where it starts, counted in all bytes ever written."""
    end: int
    """Where it ends and the next part starts."""
    is_first: bool
    """Whether nothing older is kept."""
    size: int
    """Bytes kept in all."""
    path: str
    """The newest file, on the machine that Spinney runs on; empty if there is none."""
    recording: bool
    """Whether the log is being written now."""
