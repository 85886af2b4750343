"""Actions that put worktrees away, remove them, and bring back what was put away."""

from typing import TYPE_CHECKING

from model.api import sessions as session_commands
from model.api import worktrees as commands
from model.base.errors import SpinneyError
from model.base.text import clean_line
from tui.actions.worktrees import pointed_worktree
from tui.desk import Desk
from tui.screens.archive import Archive, FromArchive
from tui.screens.dialog import Confirm
from tui.store.places import Place, is_shown

if TYPE_CHECKING:
    from model.api.worktrees import RemovalLosses
    from model.domain.resources import Session, Worktree

_NAMED = 5
"""How many files a question names."""
_STOP_LIMIT = 10.0
"""Seconds for sessions to stop; one that does not obey is let go after two."""


async def archive_worktree(desk: Desk) -> None:
    """Put the worktree away."""
    worktree = pointed_worktree(desk)
    if worktree is None or not await _settled(desk, worktree, "Archive the worktree"):
        return
    await desk.client.call(commands.archive_worktree, worktree_id=worktree.id)
    desk.say(f"“{worktree.name}” is archived; its files stay.")


async def remove_worktree(desk: Desk) -> None:
    """Remove the worktree; what would be lost is named before anything is."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    if desk.state.preferences.removal_behavior == "delete":
        await _delete(desk, worktree)
        return
    sentence = f"Remove the worktree “{worktree.name}”?\nIt goes to the archive; its files stay."
    if not await desk.ask(Confirm("Remove the worktree", sentence, "remove")):
        return
    if await _settled(desk, worktree, "Remove the worktree"):
        await desk.client.call(commands.remove_worktree, worktree_id=worktree.id)
        desk.say(f"“{worktree.name}” is archived; its files stay.")


async def delete_worktree(desk: Desk) -> None:
    """Delete the worktree for good, whatever the preference says."""
    worktree = pointed_worktree(desk)
    if worktree is not None:
        await _delete(desk, worktree)


async def _delete(desk: Desk, worktree: "Worktree") -> bool:
    """Ask with everything that would go, then delete; whether it is gone."""
    title = "Take the worktree out" if worktree.adopted else "Delete the worktree"
    losses = await desk.client.call(commands.get_removal_losses, worktree_id=worktree.id)
    lost = losses.files or losses.commits
    sentence = _what_goes(worktree, losses)
    agree = "take out" if worktree.adopted else "delete anyway" if lost else "delete"
    if losses.running:
        agree = f"stop and {agree.removesuffix(' anyway')}"
    dialog = Confirm(title, sentence, agree)
    if not await desk.ask(dialog):
        return False
    await _stop_sessions(desk, worktree)

    async def remove(*, force: bool) -> None:
        await desk.client.call(
            commands.remove_worktree, worktree_id=worktree.id, for_good=True, force=force
        )

    try:
        await remove(force=bool(lost))
    except SpinneyError as error:
        # What came meanwhile, or a teardown that failed; nothing was deleted.
        if error.error_type not in ("conflict", "forbidden"):
            raise
        again = Confirm(title, error.message, "delete anyway")
        if not await desk.ask(again):
            return False
        await remove(force=True)
    ended = "not shown any more" if worktree.adopted else "deleted"
    desk.say(f"“{worktree.name}” is {ended}.")
    return True


def _what_goes(worktree: "Worktree", losses: "RemovalLosses") -> str:
    """The question, with all that would go: what nobody else has comes first."""
    name = clean_line(worktree.name)
    if worktree.session_type == "base":
        lines = [f"Show the project's own directory “{name}” no more? Its files stay."]
    elif worktree.adopted:
        lines = [
            f"Take “{name}” out of Spinney? It was made outside: its folder and its branch stay."
        ]
    else:
        lines = [f"Delete “{name}” for good: its directory and its branch?"]
    if losses.running:
        lines.append(f"At work, and stopped first: {', '.join(map(clean_line, losses.running))}.")
    if losses.files:
        more = ", …" if len(losses.files) > _NAMED else ""
        names = ", ".join(map(clean_line, losses.files[:_NAMED]))
        lines.append(f"Lost: {_count(len(losses.files), 'uncommitted file')} ({names}{more}).")
    if losses.commits:
        lines.append(
            f"Lost: {_count(losses.commits, 'commit')} on no other branch and on no remote."
        )
    if losses.sessions:
        lines.append(f"{_count(losses.sessions, 'session')} with all messages.")
    goes = worktree.session_type != "base" and not worktree.adopted
    if goes and not losses.files and not losses.commits:
        lines.append("What is in it is committed, and on another branch or a remote, too.")
    if goes:
        lines.append("Files that git ignores (such as .env) are not looked at, and go with it.")
    return "\n".join(lines)


async def _settled(desk: Desk, worktree: "Worktree", title: str) -> bool:
    """Whether nothing works in the worktree, or a person let it be stopped."""
    running = [clean_line(session.name) for session in _running(desk, worktree)]
    if not running:
        return True
    sentence = f"At work in it: {', '.join(running)}. Stop that and go on?"
    if not await desk.ask(Confirm(title, sentence, "stop and go on")):
        return False
    await _stop_sessions(desk, worktree)
    return True


async def _stop_sessions(desk: Desk, worktree: "Worktree") -> None:
    for session in _running(desk, worktree):
        await desk.client.call(session_commands.stop_generation, session_id=session.id)
    await desk.mirror.until(lambda _: not _running(desk, worktree), within=_STOP_LIMIT)


def _running(desk: Desk, worktree: "Worktree") -> list["Session"]:
    sessions = desk.state.sessions.values()
    return [
        session for session in sessions if session.worktree_id == worktree.id and session.is_active
    ]


async def show_archive(desk: Desk) -> None:
    """Look at what was put away; bring it back or delete it, one after the other."""
    while True:
        wanted = await desk.ask(Archive(desk.state))
        if not isinstance(wanted, FromArchive):
            return
        if wanted.deletes:
            await _delete_archived(desk, wanted.place)
        else:
            await restore(desk, wanted.place)
            desk.open_place(wanted.place)
            return


async def restore(desk: Desk, place: Place) -> None:
    """Bring an archived worktree or session back, with the worktree that holds it."""
    state = desk.state
    session = state.sessions.get(place.id)
    worktree = state.worktrees.get(session.worktree_id if session is not None else place.id)
    if worktree is not None and worktree.archived_at is not None:
        await desk.client.call(commands.unarchive_worktree, worktree_id=worktree.id)
    if session is not None and session.archived_at is not None:
        await desk.client.call(session_commands.unarchive_session, session_id=session.id)
    await desk.mirror.until(lambda state: is_shown(place, state))


async def _delete_archived(desk: Desk, place: Place) -> None:
    if place.kind == "worktree":
        worktree = desk.state.worktrees.get(place.id)
        if worktree is not None and await _delete(desk, worktree):
            await desk.mirror.until(lambda state: place.id not in state.worktrees)
        return
    session = desk.state.sessions.get(place.id)
    if session is None:
        return
    words = _count(session.message_count, "message")
    sentence = f"Delete “{clean_line(session.name)}” and its {words} for good?"
    dialog = Confirm("Delete the session", sentence, "delete")
    if await desk.ask(dialog):
        await desk.client.call(session_commands.delete_session, session_id=session.id)
        await desk.mirror.until(lambda state: session.id not in state.sessions)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
