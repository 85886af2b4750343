"""Recorders for the traffic between Spinney and an agent's program: the raw log of a session."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Protocol

Direction = Literal["\u2192", "\u2190", "\u00b7"]
"""To the program, from the program, about the program."""

Raw = bytes | str | Mapping[str, Any]
"""A line as it was read, a text, or an object to be written as JSON."""


class Record(Protocol):
    """Records messages; cheap, and without effect while recording is off."""

    def __call__(self, direction: Direction, said: Raw, kind: str = "") -> None:
        """Record a message; `kind` labels one that is not a line of the program's protocol."""
        ...

    def hide(self, values: Mapping[str, Any]) -> None:
        """Mask the values whose names look like secrets in everything recorded."""
        ...


class Unrecorded:
    """Discards everything: for programs that belong to no session."""

    def __call__(self, direction: Direction, said: Raw, kind: str = "") -> None:
        """Discard the message."""

    def hide(self, values: Mapping[str, Any]) -> None:
        """Do nothing: nothing is written."""


class SharedRecord:
    """Forwards to all sessions that share a program the messages that concern none of them."""

    def __init__(self, records: Callable[[], Iterable[Record]]) -> None:
        self._records = records

    def __call__(self, direction: Direction, said: Raw, kind: str = "") -> None:
        """Pass the message to each recorder."""
        for record in self._records():
            record(direction, said, kind)

    def hide(self, values: Mapping[str, Any]) -> None:
        """Mask the values in each recorder."""
        for record in self._records():
            record.hide(values)


UNRECORDED: Record = Unrecorded()
