"""Notifies the user when what is open is archived or deleted while they are typing."""

from typing import TYPE_CHECKING

from model.base.text import clean_line
from tui.shell.selection import Selection
from tui.store.places import Place, get_project

if TYPE_CHECKING:
    from model.domain.sessions import Session
    from model.domain.worktrees import Worktree
    from model.state import State
    from tui.store.mirror import Change


def report_draft(screen: Selection, place: Place, change: "Change") -> None:
    """Say how to get the message box's text key; called while it is still in the box.

    The text does not move to another session's box, where it could be sent to the wrong agent.
    """
    chat = screen.chat
    if chat.key != place.id or not (text := chat.composer.draft.text_to_send()).strip():
        return
    current, last = _find(place, change.state), _find(place, change.before)
    name = clean_line(last.name) if last is not None else "The session"
    if current is not None:
        key = screen.key_of("show_archive")
        screen.say(f"'{name}' was archived with your draft. {key} restores both.")
        return
    project = get_project(place, change.before)
    if project is not None:
        chat.drafts.add_sent(project.id, text)  # as for text removed without sending
        fate = "was deleted" if place.kind == "session" else "is gone"
        screen.say(f"'{name}' {fate}. ↑ restores your draft.")


def _find(place: Place, state: "State") -> "Session | Worktree | None":
    found = state.sessions if place.kind == "session" else state.worktrees
    return found.get(place.id)
