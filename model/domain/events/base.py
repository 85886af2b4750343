"""The base classes of events, and their two frame formats.

A plain client gets exactly the interface's frames (section 6). A client that requested numbered
frames also gets `seq`, the fields in `numbered_only`, and all events that are `numbered`: what a
mirror needs to rebuild the state of the store by folding events.
"""

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

_NOTHING: frozenset[str] = frozenset()


class Event(BaseModel):
    """Base class of events. Frozen; carries the changed data, so that state is a fold of events."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: ClassVar[str]
    envelope: ClassVar[Literal["data", "payload"]] = "payload"
    numbered: ClassVar[bool] = False
    """Whether it is sent only to clients with numbered frames."""
    numbered_only: ClassVar[frozenset[str]] = _NOTHING
    """Fields that are omitted from plain frames."""
    omitted_when_none: ClassVar[frozenset[str]] = _NOTHING

    @property
    def related_session_id(self) -> str | None:
        """The id of the session that the event belongs to, for subscribers."""
        # Not getattr: for a missing field, pydantic takes 2 µs for each published event.
        session_id: str | None = self.__dict__.get("session_id")
        return session_id

    def body(self, *, numbered: bool) -> str:
        """The JSON of `data` or `payload`."""
        excluded = {field for field in self.omitted_when_none if getattr(self, field) is None}
        if not numbered:
            excluded |= self.numbered_only
        return self.model_dump_json(exclude=excluded or None)

    def frame(self, seq: int | None = None) -> str:
        """The complete frame as JSON; in the numbered format if `seq` is given."""
        body = self.body(numbered=seq is not None)
        number = "" if seq is None else f'"seq":{seq},'
        if self.envelope == "data":
            return f'{{{number}"event":"{self.name}","data":{body}}}'
        return f'{{{number}"type":"event","event":"{self.name}","payload":{body}}}'


class ChatEvent(Event):
    """Base class of the events of chats, whose envelope is `data`."""

    envelope: ClassVar[Literal["data", "payload"]] = "data"
