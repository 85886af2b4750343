"""Converts OpenCode's stored messages back to events, for when the original events were missed."""

from collections.abc import Callable, Iterator
from typing import Final

from model.backends.json_values import Json, as_object, as_objects
from model.backends.opencode.event_stream import ServerEvent

LIMIT: Final = 50
"""Messages that are read again."""


def turn_events(response: object, is_known: Callable[[str], bool]) -> Iterator[ServerEvent]:
    """The events of the open turn's messages; `is_known` recognizes its messages by id."""
    messages = as_objects(response)
    infos = [as_object(message.get("info")) for message in messages]
    first = _first_of_turn(infos, is_known)
    for message, info in zip(messages[first:], infos[first:], strict=True):
        yield ServerEvent("message.updated", {"info": info})
        parts = message.get("parts")
        for part in parts if isinstance(parts, list) else ():
            yield ServerEvent("message.part.updated", {"part": as_object(part)})


def _first_of_turn(infos: list[Json], is_known: Callable[[str], bool]) -> int:
    known = [index for index, info in enumerate(infos) if is_known(str(info.get("id")))]
    if known:
        return known[0]
    prompts = [index for index, info in enumerate(infos) if info.get("role") == "user"]
    return prompts[-1] if prompts else len(infos)
