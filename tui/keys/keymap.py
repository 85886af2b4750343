"""The key map: the table of all actions.

It is the source of the bindings, the footer, the help, the command palette and the `keybindings`
preference. It avoids keys that many terminals cannot distinguish (`ctrl+m`, `ctrl+i`, `ctrl+[`,
`ctrl+h`) or reserve (`ctrl+s`). `ctrl+z` suspends, as everywhere. `ctrl+b`, which tmux reserves, is
only an alternative key; `ctrl+space`, which input methods reserve, has an alternative. Letters are
bound only on screens where nothing is typed or filtered: elsewhere they are for typing.
"""

from collections.abc import Container, Mapping

from textual.binding import Binding

from tui.keys.action import Action, Scope
from tui.keys.hosting_actions import HOSTING_ACTIONS
from tui.keys.landing_actions import LANDING_ACTIONS
from tui.keys.main_actions import MAIN_ACTIONS
from tui.keys.screen_actions import SCREEN_ACTIONS

ACTIONS: tuple[Action, ...] = (
    *MAIN_ACTIONS, *LANDING_ACTIONS, *SCREEN_ACTIONS, *HOSTING_ACTIONS
)  # fmt: skip

FOOTER = (
    "stop", "next_waiting", "add_project", "commands", "new_worktree", "new_session", "cycle_mode",
    "open_diff", "canvas", "toggle_tree", "next_pane", "quit",
)  # fmt: skip
"""The actions in the footer, most important first."""

PAGE_ACTIONS = ("write", "open_worktree_page", "clone_project", "check")
"""Actions that only the browser page has."""

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}


def make_bindings(scope: Scope = "everywhere", only: Container[str] | None = None) -> list[Binding]:
    """The bindings of the main screen, of a pane or another screen; each has its action's id.

    `only`: the actions to include, if not all.
    """
    return [
        Binding(action.keys, f"screen.do('{action.id}')", action.title, show=False, id=action.id)
        for action in ACTIONS
        if action.keys and action.scope == scope and (only is None or action.id in only)
    ]
