"""The stream of events of OpenCode's server: bytes as they come, to events."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from model.backends.framing import LineSplitter, TooLong
from model.backends.process import Unreadable

_DATA: Final = b"data:"


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its kind and what it tells."""

    kind: str
    told: Mapping[str, Any]
    raw: bytes = field(default=b"", compare=False, repr=False)

    @property
    def session_id(self) -> str:
        """The conversation that it is about; empty where it is about none."""
        return str(self.told.get("sessionID") or "")

    @property
    def status(self) -> str:
        """`busy`, `idle` or `retry`; empty for events that tell nothing of it."""
        status = self.told.get("status") if self.kind == "session.status" else None
        return str(status.get("type")) if isinstance(status, Mapping) else ""


class EventFeed:
    """One connection's events, in the form of `text/event-stream`, each on one line of data."""

    def __init__(self) -> None:
        self._lines = LineSplitter()

    def feed(self, chunk: bytes) -> Iterator[Event | Unreadable]:
        """The events that `chunk` completes."""
        for line in self._lines.feed(chunk):
            if isinstance(line, TooLong):
                reason = f"an event of {line.size / 1024 / 1024:.0f} MB"
                yield Unreadable(reason, raw=f"({reason})".encode())
            elif line.startswith(_DATA):
                yield _parsed(line[len(_DATA) :])


def _parsed(data: bytes) -> Event | Unreadable:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return Unreadable("not JSON", raw=data)
    payload = value.get("payload") if isinstance(value, dict) else None
    if not isinstance(payload, dict) or not isinstance(payload.get("type"), str):
        return Unreadable("no event", raw=data)
    told = payload.get("properties")
    return Event(payload["type"], told if isinstance(told, dict) else {}, data)
