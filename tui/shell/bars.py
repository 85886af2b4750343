"""Updates the bars around the main screen: location, counts, connection, key hints."""

from pathlib import Path
from typing import Final

from textual.screen import ModalScreen

from tui.shell.selection import Selection
from tui.store.places import get_project, get_worktree
from tui.tree.detail import PlaceDetail, describe_place
from tui.tree.rows import repeats_name
from tui.widgets.key_hints import KeyHints, find_unavailable
from tui.widgets.top_bar import TopBar

_PANE_KEYS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "shell": (("enter", "run"), ("^j", "line")),
    "composer": (("enter", "send"), ("^j", "line")),
    "transcript": (
        ("j k", "scroll"), ("space b", "page"), ("{ }", "message"), ("/", "find"),
        ("enter", "select"), ("letters", "write"),
    ),
    "request": (("↑ ↓", "move"), ("enter", "choose")),
    "queue": (("enter", "edit"), ("del", "remove"), ("↑ ↓", "choose")),
}  # fmt: skip
"""The keys of the chat's panes, by the pane's id."""


def show_detail(screen: Selection) -> None:
    """Show the details of the row under the tree's cursor."""
    tree = screen.projects
    lines = describe_place(tree.place, screen.state, str(Path.home()))
    screen.query_one("#detail", PlaceDetail).show(lines, tree.filter_lines)


def follow(screen: Selection) -> None:
    """Update location, counts, connection and server in the top bar, and the key hints."""
    if not screen.is_connected:
        return
    show_detail(screen)
    place, state = screen.place or screen.projects.place, screen.state
    worktree, session = get_worktree(place, state), screen.session
    if worktree is not None and len(state.sessions_of(worktree.id)) > 1:
        session = None  # its name is in the tabs
    elif worktree is not None and session and repeats_name(session.name, worktree.name):
        session = None
    items = (get_project(place, state), worktree, session)
    path = dict.fromkeys(item.name for item in items if item is not None)
    scripts = screen.worktree.running_scripts if screen.worktree is not None else ()
    screen.query_one("#top", TopBar).follow(
        state,
        tuple(path),
        screen.mirror.lost,
        screen.server_address,
        scripts=f"▶ {', '.join(scripts)} {screen.key_of('show_scripts')}" if scripts else "",
    )
    update_key_hints(screen)


def is_conversation_visible(screen: Selection) -> bool:
    """Whether the conversation is visible: covered by nothing, or only by a dialog."""
    # Not `is_current`: a screen below one with a translucent background counts as current, too.
    screens = reversed(screen.app.screen_stack)
    return next((each for each in screens if not isinstance(each, ModalScreen)), None) is screen


def update_key_hints(screen: Selection) -> None:
    """Show the keys of the focused pane."""
    focused = screen.focused
    first: tuple[tuple[str, str], ...] = ()
    if focused is screen.projects:
        remove = (screen.key_of("remove_here"), "remove")
        back = (screen.key_of("stop"), "back")
        stop = ((screen.key_of("stop_here"), "stop"),) if _anything_runs(screen) else ()
        first = (("enter", "open"), ("letters", "filter"), *stop, remove, back)
    elif focused is not None:
        first = _PANE_KEYS.get("shell" if focused.has_class("shell") else focused.id or "", ())
    without = find_unavailable(screen.state if screen.is_connected else None, screen.session)
    if focused is screen.projects:
        without |= {"stop"}
    elif _is_plan_pending(screen):
        without |= {"stop"}
        first += ((screen.key_of("stop"), "twice: set aside"),)
    screen.query_one("#keys", KeyHints).follow(
        screen.key_overrides, first=first, unavailable=without
    )


def _is_plan_pending(screen: Selection) -> bool:
    """Whether a plan is waiting, which escape sets aside instead of stopping a run."""
    return screen.session is not None and screen.session.waiting_for == "plan"


def _anything_runs(screen: Selection) -> bool:
    if not screen.is_connected:
        return False
    worktrees = screen.state.worktrees.values()
    return bool(screen.state.interruptible_sessions()) or any(
        worktree.running_scripts or worktree.status == "creating" for worktree in worktrees
    )
