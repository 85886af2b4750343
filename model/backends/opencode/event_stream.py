"""Parses the event stream of OpenCode's server."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from model.backends.framing import LineSplitter, OversizedLine
from model.backends.json_values import as_object
from model.backends.process import InvalidLine

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
        return str(as_object(status).get("type") or "")


class EventFeed:
    """Incremental parser of a `text/event-stream` connection with one data line per event."""

    def __init__(self) -> None:
        self._lines = LineSplitter()

    def feed(self, chunk: bytes) -> Iterator[ServerEvent | InvalidLine]:
        """Yield the events that `chunk` completes."""
        for line in self._lines.feed(chunk):
            if isinstance(line, OversizedLine):
                reason = f"an event of {line.size / 1024 / 1024:.0f} MB"
                yield InvalidLine(reason, raw=f"({reason})".encode())
            elif line.startswith(_DATA):
                yield _parse(line[len(_DATA) :])


def _parse(data: bytes) -> ServerEvent | InvalidLine:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return InvalidLine("not JSON", raw=data)
    payload = as_object(as_object(value).get("payload"))
    if not isinstance(payload.get("type"), str):
        return InvalidLine("not an event", raw=data)
    return ServerEvent(payload["type"], as_object(payload.get("properties")), data)
