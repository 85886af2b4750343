"""The closed set of events, by wire name, and the parser of their frames."""

from typing import Any

from model.domain.events import (  # noqa: F401 - defines their classes
    landing,
    messages,
    notices,
    program,
    projects,
    sessions,
    worktrees,
)
from model.domain.events.base import Event
from model.domain.events.projects import ProjectEvent


def _event_classes(kind: type[Event]) -> list[type[Event]]:
    kinds = [kind] if "name" in kind.__dict__ else []
    return kinds + [each for child in kind.__subclasses__() for each in _event_classes(child)]


EVENTS: dict[str, type[Event]] = {kind.name: kind for kind in _event_classes(Event)}
"""Every event by its wire name."""


def parse_event(frame: dict[str, Any]) -> Event | None:
    """Parse a numbered frame; `None` for an event that this version does not know."""
    kind = EVENTS.get(frame.get("event", ""))
    body = frame.get("data") if "data" in frame else frame.get("payload")
    if kind is None or not isinstance(body, dict):
        return None
    if issubclass(kind, ProjectEvent):
        body = {"project": body}
    return kind.model_validate(body)
