"""The footer: the most important keys in the current context, from the table of actions."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from textual.content import Content

from tui.draw.status_icons import count_waiting_and_running
from tui.keys.keymap import BY_ID, FOOTER
from tui.keys.names import format_key, spell_out
from tui.keys.overrides import get_keys
from tui.widgets.line import EMPTY, Line, clickable

if TYPE_CHECKING:
    from model.domain.sessions import Session
    from model.state import State


class KeyHints(Line):
    """Clickable keys with labels, as many as fit; help stays at the right."""

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
        unavailable: frozenset[str] = frozenset(),
    ) -> None:
        """Show the keys of actions, most important first.

        `first`: keys of the focused pane, with labels. `last`: actions that are always shown at the
        right. `unavailable`: actions that are currently unavailable.
        """
        self._hints = [_hint(key, label) for key, label in first]
        self._hints += [_action_hint(id, overrides) for id in actions if id not in unavailable]
        self._last = Content("  ").join([_action_hint(id, overrides) for id in last])
        self.on_resize()

    def on_resize(self) -> None:
        """Show the hints that fit."""
        right = self._last
        available = self.content_size.width - right.cell_length - 2
        shown_hints: list[Content] = []
        for hint in self._hints:
            available -= hint.cell_length + 2
            if available < 0:
                break
            shown_hints.append(hint)
        self.show(Content("  ").join(shown_hints), right)


def _action_hint(action_id: str, overrides: Mapping[str, str]) -> Content:
    hint = _hint(format_key(get_keys(action_id, overrides)), BY_ID[action_id].hint)
    return clickable(hint, f"screen.do('{action_id}')")


def _hint(key: str, label: str) -> Content:
    return Content.assemble((spell_out(key), "bold $accent"), (f" {label}", "$text-muted"))


def find_unavailable(state: "State | None", session: "Session | None") -> frozenset[str]:
    """The footer's actions that are currently unavailable; `session` is the open one."""
    useless_actions = set()
    if session is None or not session.is_active:
        useless_actions.add("stop")
    if session is None:
        useless_actions.add("cycle_mode")
    is_waiting = session is not None and session.status == "waiting"
    if state is None or count_waiting_and_running(state)[0] <= is_waiting:
        useless_actions.add("next_waiting")
    has_projects = state is not None and bool(state.projects)
    useless_actions |= {"add_project"} if has_projects else {"new_worktree", "new_session"}
    if state is not None and not state.worktrees:
        useless_actions |= {"open_diff", "new_session", "canvas"}
    return frozenset(useless_actions)
