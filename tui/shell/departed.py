"""Notifies the user when the open session is archived or deleted while they are typing."""

from typing import TYPE_CHECKING

from model.base.text import clean_line
from tui.shell.selection import Selection
from tui.store.places import Place, get_project

if TYPE_CHECKING:
    from tui.store.mirror import Change


def report_draft(screen: Selection, place: Place, change: "Change") -> None:
    """Say how to get the message box's text key; called while it is still in the box.

    The text does not move to another session's box, where it could be sent to the wrong agent.
    """
    chat = screen.chat
    if chat.session_id != place.id or not (text := chat.composer.draft.text_to_send()).strip():
        return
    current = change.state.sessions.get(place.id)
    session = current or change.before.sessions.get(place.id)
    name = clean_line(session.name) if session is not None else "The session"
    if current is not None:
        key = screen.key_of("show_archive")
        screen.say(f"'{name}' was archived with your draft. {key} restores both.")
        return
    project = get_project(place, change.before)
    if project is not None:
        chat.drafts.add_sent(project.id, text)  # as for text removed without sending
        screen.say(f"'{name}' was deleted. ↑ restores your draft.")
