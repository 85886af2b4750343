"""Which events a WebSocket wants, as its address says: `?session=ID&only=NAME,NAME`."""

from collections.abc import Callable, Iterable
from typing import Final

from model.base.errors import SpinneyError
from model.base.suggestions import did_you_mean
from model.base.text import clean_line
from model.domain.events.all import EVENTS
from model.domain.events.base import Event

_MAX_VALUES: Final = 100

EventFilter = Callable[[Event], bool]


def parse_event_filter(sessions: Iterable[str], only: Iterable[str]) -> EventFilter | None:
    """Return whether an event is wanted; `None` if all are.

    Args:
        sessions: Ids of sessions, in lists with commas; other events are not wanted then.
        only: Names of events, in such lists.

    Raises `SpinneyError` for an event that does not exist, and for more than 100 values.
    """
    session_ids, names = _split("session", sessions), _split("only", only)
    for name in names - EVENTS.keys():
        shown = clean_line(name)[:100]
        hint = did_you_mean(shown, EVENTS)
        raise SpinneyError(f"Invalid field 'only': there is no event '{shown}'.{hint}")
    if not session_ids and not names:
        return None

    def accepts(event: Event) -> bool:
        return (not names or event.name in names) and (
            not session_ids or event.related_session_id in session_ids
        )

    return accepts


def _split(field: str, lists: Iterable[str]) -> set[str]:
    values = {value for text in lists for value in text.split(",") if value}
    if len(values) > _MAX_VALUES:
        raise SpinneyError(f"Invalid field '{field}': must have at most {_MAX_VALUES} values")
    return values
