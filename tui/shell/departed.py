"""What is said when the open session goes under a typing hand, archived or deleted by anybody."""

from typing import TYPE_CHECKING

from model.base.text import clean_line
from tui.shell.selection import Selection
from tui.store.places import Place, project_of

if TYPE_CHECKING:
    from tui.store.mirror import Change


def keep_words(screen: Selection, place: Place, change: "Change") -> None:
    """Say where the words of the message box are from now on; called while they stand there.

    In another box they would be sent to somebody for whom they were not written.
    """
    chat = screen.chat
    if chat.session_id != place.id or not (text := chat.composer.draft.full()).strip():
        return
    known = change.state.sessions.get(place.id)
    session = known or change.before.sessions.get(place.id)
    name = clean_line(session.name) if session is not None else "The session"
    if known is not None:
        back = screen.key_of("show_archive")
        screen.say(f"“{name}” was archived with what you were writing; {back} brings both back.")
        return
    project = project_of(place, change.before)
    if project is not None:
        chat.drafts.sent(project.id, text)  # as what is removed without being sent
        screen.say(f"“{name}” was deleted. ↑ brings back what you were writing.")
