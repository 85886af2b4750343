"""Parses the event stream of OpenCode's server."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from model.backends.framing import LineSplitter, TooLong
from model.backends.process import Unreadable

_DATA: Final = b"data:"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """An event of the server, with its type and properties."""

    kind: str
    properties: Mapping[str, Any]
    raw: bytes = field(default=b"", compare=False, repr=False)

    @property
    def session_id(self) -> str:
        """The id of its conversation; empty if it has none."""
        return str(self.properties.get("sessionID") or "")

    @property
    def status(self) -> str:
        """`busy`, `idle` or `retry`; empty for events without a status."""
        status = self.properties.get("status") if self.kind == "session.status" else None
        return str(status.get("type")) if isinstance(status, Mapping) else ""


class EventFeed:
    """Incremental parser of a `text/event-stream` connection with one data line per event."""

    def __init__(self) -> None:
        self._lines = LineSplitter()

    def feed(self, chunk: bytes) -> Iterator[ServerEvent | Unreadable]:
        """Yield the events that `chunk` completes."""
        for line in self._lines.feed(chunk):
            if isinstance(line, TooLong):
                reason = f"an event of {line.size / 1024 / 1024:.0f} MB"
                yield Unreadable(reason, raw=f"({reason})".encode())
            elif line.startswith(_DATA):
                yield _parse(line[len(_DATA) :])


def _parse(data: bytes) -> ServerEvent | Unreadable:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return Unreadable("not JSON", raw=data)
    payload = value.get("payload") if isinstance(value, dict) else None
    if not isinstance(payload, dict) or not isinstance(payload.get("type"), str):
        return Unreadable("not an event", raw=data)
    properties = payload.get("properties")
    return ServerEvent(payload["type"], properties if isinstance(properties, dict) else {}, data)
