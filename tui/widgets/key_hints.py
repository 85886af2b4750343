"""The footer: the keys that matter where one is, made from the table of actions."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from textual.content import Content

from tui.draw.status_icons import counts
from tui.keys.keymap import BY_ID, FOOTER, keys_of
from tui.keys.names import shown, spoken
from tui.widgets.line import EMPTY, Line, clickable

if TYPE_CHECKING:
    from model.domain.resources import Session
    from model.state import State


class KeyHints(Line):
    """Keys and a word each, as many as fit; a click does the same. Help stays at the right."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._hints: list[Content] = []
        self._last = EMPTY

    def follow(
        self,
        overrides: Mapping[str, str],
        actions: Iterable[str] = FOOTER,
        *,
        first: Iterable[tuple[str, str]] = (),
        last: Iterable[str] = ("help",),
        without: frozenset[str] = frozenset(),
    ) -> None:
        """Name the keys of actions, those that are wanted most first.

        `first`: keys of the focused pane, and their words. `last`: the actions that stand at the
        right whatever room there is. `without`: actions of no use now.
        """
        self._hints = [_hint(key, words) for key, words in first]
        self._hints += [_of_action(id, overrides) for id in actions if id not in without]
        self._last = Content("  ").join([_of_action(id, overrides) for id in last])
        self.on_resize()

    def on_resize(self) -> None:
        """Show the hints that fit."""
        right = self._last
        room = self.content_size.width - right.cell_length - 2
        shown_hints: list[Content] = []
        for hint in self._hints:
            room -= hint.cell_length + 2
            if room < 0:
                break
            shown_hints.append(hint)
        self.show(Content("  ").join(shown_hints), right)


def _of_action(action_id: str, overrides: Mapping[str, str]) -> Content:
    hint = _hint(shown(keys_of(action_id, overrides)), BY_ID[action_id].hint)
    return clickable(hint, f"screen.do('{action_id}')")


def _hint(key: str, words: str) -> Content:
    return Content.assemble((spoken(key), "bold $accent"), (f" {words}", "$text-muted"))


def useless(state: "State | None", session: "Session | None") -> frozenset[str]:
    """The actions in the footer that would do nothing now; `session`: the one that is open."""
    without = set()
    if session is None or not session.is_active:
        without.add("stop")
    if session is None:
        without.add("cycle_mode")
    is_waiting = session is not None and session.status == "waiting"
    if state is None or counts(state)[0] <= is_waiting:
        without.add("next_waiting")
    has_projects = state is not None and bool(state.projects)
    without |= {"add_project"} if has_projects else {"new_worktree", "new_session"}
    if state is not None and not state.worktrees:
        without |= {"open_diff", "new_session", "canvas"}
    return frozenset(without)
