"""What the bars around the main screen say: where one is, who needs one, which keys work."""

from textual.screen import ModalScreen

from tui.composer.widget import Composer
from tui.shell.selection import Selection
from tui.store.places import project_of, worktree_of
from tui.tree.widget import ProjectTree
from tui.widgets.key_hints import KeyHints, useless
from tui.widgets.queue import Queue
from tui.widgets.request_panel import RequestPanel
from tui.widgets.top_bar import TopBar


def follow(screen: Selection) -> None:
    """Name the place, the counts, the connection and the server; and the keys."""
    if not screen.is_connected:
        return
    place, state = screen.place or screen.projects.place, screen.state
    known = (project_of(place, state), worktree_of(place, state), screen.session)
    path = [item.name for item in known if item is not None]
    scripts = screen.worktree.running_scripts if screen.worktree is not None else ()
    screen.query_one("#top", TopBar).follow(
        state,
        tuple(path),
        screen.mirror.lost,
        screen.server_address,
        scripts=f"▶ {', '.join(scripts)} {screen.key_of('show_scripts')}" if scripts else "",
    )
    name_keys(screen)


def is_in_sight(screen: Selection) -> bool:
    """Whether the conversation is seen: nothing, or no more than a dialog, stands before it."""
    return screen.is_current or isinstance(screen.app.screen, ModalScreen)


def name_keys(screen: Selection) -> None:
    """Name the keys of where the focus is."""
    first: tuple[tuple[str, str], ...] = ()
    match screen.focused:
        case Composer():
            first = (("enter", "send"), ("^j", "line"))
        case ProjectTree():
            remove = (screen.key_of("remove_here"), "remove")
            back = (screen.key_of("stop"), "back")
            stop = ((screen.key_of("stop_here"), "stop"),) if _anything_runs(screen) else ()
            first = (("enter", "open"), ("letters", "filter"), *stop, remove, back)
        case RequestPanel():
            first = (("↑ ↓", "move"), ("enter", "choose"))
        case Queue():
            first = (("enter", "edit"), ("del", "remove"), ("↑ ↓", "choose"))
    without = useless(screen.state if screen.is_connected else None, screen.session)
    if screen.focused is screen.projects:
        without |= {"stop"}
    elif _asks_for_a_plan(screen):
        without |= {"stop"}
        first += ((screen.key_of("stop"), "twice: set aside"),)
    screen.query_one("#keys", KeyHints).follow(screen.key_overrides, first=first, without=without)


def _asks_for_a_plan(screen: Selection) -> bool:
    """Whether escape leaves a plan waiting, and stops nothing."""
    return screen.session is not None and screen.session.waiting_for == "plan"


def _anything_runs(screen: Selection) -> bool:
    if not screen.is_connected:
        return False
    worktrees = screen.state.worktrees.values()
    return bool(screen.state.at_work()) or any(
        worktree.running_scripts or worktree.status == "creating" for worktree in worktrees
    )
