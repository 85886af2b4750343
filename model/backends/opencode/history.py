"""What OpenCode keeps of a conversation, as the events that told it: for when those were missed."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from model.backends.opencode.event_stream import Event

LIMIT: Final = 50
"""Messages that are read again."""


def events(told: object, knows: Callable[[str], bool]) -> Iterator[Event]:
    """The messages of the turn that is open, of which `knows` knows a message by its id."""
    listed = told if isinstance(told, list) else []
    messages = [each for each in listed if isinstance(each, Mapping)]
    infos = [_mapping(message.get("info")) for message in messages]
    first = _first_of_turn(infos, knows)
    for message, info in zip(messages[first:], infos[first:], strict=True):
        yield Event("message.updated", {"info": info})
        parts = message.get("parts")
        for part in parts if isinstance(parts, list) else ():
            yield Event("message.part.updated", {"part": _mapping(part)})


def _first_of_turn(infos: list[Mapping[str, Any]], knows: Callable[[str], bool]) -> int:
    known = [place for place, info in enumerate(infos) if knows(str(info.get("id")))]
    if known:
        return known[0]
    asked = [place for place, info in enumerate(infos) if info.get("role") == "user"]
    return asked[-1] if asked else len(infos)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
