"""What goes between Spinney and an agent's program, as it is: for the raw log of a session."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Protocol

Direction = Literal["\u2192", "\u2190", "\u00b7"]
"""To the program, from the program, about the program."""

Raw = bytes | str | Mapping[str, Any]
"""A line as it was read, words, or an object that is written as JSON."""


class Record(Protocol):
    """Takes what is said; cheap, and without effect while nobody records."""

    def __call__(self, direction: Direction, said: Raw, kind: str = "") -> None:
        """Take a line; `kind` says what it is where it is no line of the program's protocol."""
        ...

    def hide(self, values: Mapping[str, Any]) -> None:
        """Know those of these values that are named like secrets, and never write them down."""
        ...


class Unrecorded:
    """For what belongs to no session."""

    def __call__(self, direction: Direction, said: Raw, kind: str = "") -> None:
        """Forget it."""

    def hide(self, values: Mapping[str, Any]) -> None:
        """Nothing is written."""


class SharedRecord:
    """For a program that serves many sessions: what concerns none of them goes to all."""

    def __init__(self, records: Callable[[], Iterable[Record]]) -> None:
        self._records = records

    def __call__(self, direction: Direction, said: Raw, kind: str = "") -> None:
        """Hand it to each session."""
        for record in self._records():
            record(direction, said, kind)

    def hide(self, values: Mapping[str, Any]) -> None:
        """Have each session know them."""
        for record in self._records():
            record.hide(values)


UNRECORDED: Record = Unrecorded()
