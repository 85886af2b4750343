"""Bursts: printable keys received together as one event, which a text box inserts at once.

Key by key, each would lay out the text again: a paste without brackets took half a minute.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

from textual import events
from textual.widget import Widget

from tui.terminal.input_parser import is_burst, key_name


@runtime_checkable
class TakesBursts(Protocol):
    """A widget whose key handler accepts events with several characters."""

    takes_bursts: bool
    """Whether it currently does; if not, each character may be a command."""


def split_burst(event: events.Key, target: Widget) -> Iterable[events.Key]:
    """The key, or the single keys of a burst if `target` does not accept bursts."""
    return _single_keys(event) if is_burst(event) and not _accepts_bursts(target) else (event,)


def _accepts_bursts(widget: Widget) -> bool:
    from textual.widgets import Input, TextArea

    if isinstance(widget, Input | TextArea):
        return True
    accepting = (node for node in widget.ancestors_with_self if isinstance(node, TakesBursts))
    return next((node.takes_bursts for node in accepting), False)


def _single_keys(event: events.Key) -> Iterator[events.Key]:
    for character in event.character or "":
        yield events.Key(key_name(character), character)
