"""The command palette's entries for actions and for the keys of a dialog."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from textual.content import Content
from textual.style import Style

from tui.keys.action import Action
from tui.keys.names import format_key
from tui.keys.overrides import get_keys
from tui.keys.word_match import WordMatch
from tui.screens.palette import Entry
from tui.widgets.key_line import read_keys

if TYPE_CHECKING:
    from textual.screen import Screen


_DESCRIBED: Final = 0.1
"""The score of an action whose description matches: lower than that of any matching title."""


class ActingScreen(Protocol):
    """A screen with actions of the key map."""

    @property
    def key_overrides(self) -> Mapping[str, str]:
        """The user's own keys."""

    def action_do(self, action_id: str) -> None:
        """Run an action."""


def action_entries(
    actions: Iterable[Action], screen: ActingScreen, query: str, style: Style
) -> Iterator[Entry]:
    """Yield the actions whose titles match, with their keys; all for an empty query.

    Those whose title and description together have the words come after all others.
    """
    matcher = WordMatch(query, style)
    for action in actions:
        score = matcher.match(action.title)
        if not score and matcher.is_in(f"{action.title} {action.help}"):
            score = _DESCRIBED
        if score > 0 or not query:
            key = format_key(get_keys(action.id, screen.key_overrides))
            label = Content.assemble(
                matcher.highlight(action.title), (f"  {key}" if key else "", "$text-muted")
            )
            yield Entry(label, partial(screen.action_do, action.id), action.help, score)


def dialog_entries(
    dialog: "Screen[Any]", press: Callable[[str], None], query: str, style: Style
) -> Iterator[Entry]:
    """Yield the matching keys of a dialog's footer, in order; `press` simulates one."""
    matcher = WordMatch(query, style)
    for key, label in read_keys(dialog):
        title = label[:1].upper() + label[1:]
        score = matcher.match(title)
        if score > 0 or not query:
            shown_label = Content.assemble(matcher.highlight(title), (f"  {key}", "$text-muted"))
            yield Entry(shown_label, partial(press, key), score=score)
