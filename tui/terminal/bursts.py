"""Printable keys that came together are one event: a text box takes them in one insertion.

By the key, each would have the text laid out anew: a paste without brackets took half a minute.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

from textual import events
from textual.widget import Widget

from tui.terminal.input_parser import is_burst, key_name


@runtime_checkable
class TakesBursts(Protocol):
    """A widget whose handler of keys takes an event of several characters as well."""

    takes_bursts: bool
    """Whether it does so now; elsewhere each character may be a command."""


def divided(event: events.Key, target: Widget) -> Iterable[events.Key]:
    """The key, or the single keys of a burst where each may mean something to `target`."""
    return _keys(event) if is_burst(event) and not _takes(target) else (event,)


def _takes(widget: Widget) -> bool:
    from textual.widgets import Input, TextArea

    if isinstance(widget, Input | TextArea):
        return True
    takers = (node for node in widget.ancestors_with_self if isinstance(node, TakesBursts))
    return next((taker.takes_bursts for taker in takers), False)


def _keys(event: events.Key) -> Iterator[events.Key]:
    for character in event.character or "":
        yield events.Key(key_name(character), character)
