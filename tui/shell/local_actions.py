"""Actions that need no client and work from the first frame on."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from model.base.plural import count
from tui.shell.interrupt import leave_projects, must_repeat
from tui.shell.selection import Selection

if TYPE_CHECKING:
    from textual.widget import Widget


def commands(screen: Selection) -> None:
    """Open the command palette."""
    screen.application.action_command_palette()


def help(screen: Selection) -> None:
    """Show the help page; `k` on it opens the key editor."""
    from tui.screens.help import help_page

    def then(key: str | None) -> None:
        if key == "k":
            screen.perform("edit_keys")

    page = help_page(screen.key_overrides, screen.size.width, screen.app.focused)
    screen.app.push_screen(page, then)


def quit(screen: Selection) -> None:
    """Quit; ask for confirmation if a run is active."""
    screen.application.leave()


def leave_running(screen: Selection) -> None:
    """Close the screen and keep the agents running."""
    screen.application.leave_running()


def to_shell(screen: Selection) -> None:
    """Suspend to the shell."""
    screen.application.action_to_shell()


def toggle_tree(screen: Selection) -> None:
    """Show or hide the projects: beside the chat, or over it on a narrow screen."""
    if not screen.has_class("narrow"):
        screen.toggle_class("tree-hidden")
        if screen.has_class("tree-hidden") and screen.focused is screen.projects:
            screen.focus_chat()
        return
    screen.toggle_class("tree-open")
    if screen.has_class("tree-open"):
        screen.projects.focus()
    else:
        screen.focus_chat()


def toggle_side(screen: Selection) -> None:
    """Show or hide the side pane."""
    screen.toggle_side()


def next_pane(screen: Selection) -> None:
    """Cycle the focus: request, projects, conversation, queue, message box."""
    hidden = "tree-hidden"
    if screen.has_class("narrow"):
        hidden = "" if screen.has_class("tree-open") else "narrow"
    tree = None if hidden and screen.has_class(hidden) else screen.projects
    chat = screen.chat
    if not chat.is_complete:
        return
    order = (chat.request, tree, chat.welcome, chat.transcript, chat.queue, chat.composer)
    panes: list[Widget] = [pane for pane in order if pane is not None and pane.display]
    position = panes.index(screen.focused) + 1 if screen.focused in panes else 0
    if panes:  # empty while the screen closes
        panes[position % len(panes)].focus()


def go_to_session(screen: Selection) -> None:
    """Open the command palette on the names of sessions."""
    from tui.screens.palette import Palette
    from tui.shell.palette_entries import session_entries

    if screen.is_connected:
        find = partial(session_entries, screen)
        screen.app.push_screen(Palette(find, find, only_sessions=True))


def open_number(screen: Selection, number: int) -> None:
    """Open the session with this number in the tree."""
    ids = screen.projects.session_ids
    if number <= len(ids):
        screen.open_session(ids[number - 1])
    else:
        screen.say(f"There {'is' if len(ids) == 1 else 'are'} only {count(len(ids), 'session')}.")


def remove_here(screen: Selection) -> None:
    """Remove the item under the tree's cursor, after confirmation."""
    place = screen.projects.place
    if place is None:
        return
    screen.point_to(place)
    if place.kind == "worktree" and screen.state.worktrees[place.id].status == "creating":
        screen.perform("cancel_git")
        return
    removals = {"session": "archive_session", "worktree": "remove_worktree"}
    screen.perform(removals.get(place.kind, "remove_project"))


def step_back(screen: Selection) -> bool:
    """Do what escape does before it stops a run; return whether there was anything to do."""
    if leave_projects(screen):
        return True
    if screen.chat.is_complete and screen.chat.request.request is not None:
        if screen.chat.reviewing and screen.session is not None and not screen.session.is_active:
            screen.chat.reviewing = ""
            screen.follow_session()
            return True
        if screen.chat.request.step_back():
            return True
    return must_repeat(screen, screen.key_of("stop"))


def unfold_paste(screen: Selection) -> None:
    """Expand a collapsed paste in the message box."""
    if screen.chat.is_complete and (problem := screen.chat.composer.unfold()):
        screen.say(problem)


LOCAL: Mapping[str, Callable[[Selection], None]] = {
    function.__name__: function
    for function in (
        commands,
        help,
        quit,
        leave_running,
        to_shell,
        toggle_tree,
        toggle_side,
        next_pane,
        go_to_session,
        remove_here,
        unfold_paste,
    )
}
