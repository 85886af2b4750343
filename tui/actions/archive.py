"""Actions that archive, remove and delete worktrees, and restore what is archived."""

from typing import TYPE_CHECKING

from model.api import recovery as recovery_commands
from model.api import sessions as session_commands
from model.api import worktrees as commands
from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from tui.actions.recovery import (
    confirm_deletion,
    delete_point,
    describe_recovery,
    restore_point,
)
from tui.actions.worktrees import pointed_worktree
from tui.desk import Desk
from tui.screens.archive import Archive, FromArchive
from tui.screens.dialog import Confirm
from tui.store.places import Place, is_shown

if TYPE_CHECKING:
    from model.api.worktrees import RemovalLosses
    from model.domain.recovery import RecoveryPoint
    from model.domain.sessions import Session
    from model.domain.worktrees import Worktree

_PAGE_SIZE = 200
"""Recovery points that are read at a time."""
_MAX_NAMED_FILES = 5
"""Most files that a confirmation names."""
_STOP_LIMIT = 10.0
"""Seconds for sessions to stop; the model detaches one that does not respond after two."""


async def archive_worktree(desk: Desk) -> None:
    """Archive the worktree."""
    worktree = pointed_worktree(desk)
    if worktree is None or not await _stop_after_confirmation(
        desk, worktree, "Archive the worktree"
    ):
        return
    await desk.client.call(commands.archive_worktree, worktree_id=worktree.id)
    desk.say(f"'{worktree.name}' was archived. Its files are kept.")


async def archive_here(desk: Desk) -> None:
    """Archive the worktree, and open the next session that needs attention or is below it."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    ids = desk.projects.session_ids
    own = {session.id for session in desk.state.sessions_of(worktree.id)}
    position = next((number for number, key in enumerate(ids) if key in own), 0)
    rest = [*ids[position:], *reversed(ids[:position])]
    following = next((key for key in rest if key not in own), None)
    if not await _stop_after_confirmation(desk, worktree, "Archive the worktree"):
        return
    await desk.client.call(commands.archive_worktree, worktree_id=worktree.id)
    desk.say(
        f"'{clean_line(worktree.name)}' was archived. Its files are kept; "
        f"{desk.key_of('show_archive')} brings it back."
    )
    if following is not None:
        desk.open_session(following)


async def remove_worktree(desk: Desk) -> None:
    """Archive or delete the worktree, by preference, after confirmation."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    if desk.state.preferences.removal_behavior == "delete":
        await _delete(desk, worktree)
        return
    sessions = desk.state.sessions_of(worktree.id)
    names = [f"its session '{clean_line(session.name)}'" for session in sessions]
    more = names[0] if len(names) == 1 else f"its {count(len(names), 'session')}"
    what = f"'{clean_line(worktree.name)}'{f' with {more}' if names else ''}"
    sentence = f"Archive the worktree {what}?\nIts files are kept."
    if not await desk.ask(Confirm("Remove the worktree", sentence, "remove")):
        return
    if await _stop_after_confirmation(desk, worktree, "Remove the worktree"):
        await desk.client.call(commands.remove_worktree, worktree_id=worktree.id)
        desk.say(f"'{worktree.name}' was archived. Its files are kept.")


async def delete_worktree(desk: Desk) -> None:
    """Permanently delete the worktree, whatever the preference says."""
    worktree = pointed_worktree(desk)
    if worktree is not None:
        await _delete(desk, worktree)


async def _delete(desk: Desk, worktree: "Worktree") -> bool:
    """Confirm with a list of what is deleted, then delete; return whether it was deleted."""
    title = "Remove the worktree from Spinney" if worktree.adopted else "Delete the worktree"
    losses = await desk.client.call(commands.get_removal_losses, worktree_id=worktree.id)
    if losses.inside_at_work:
        at_work = " ".join(map(clean_line, losses.inside_at_work))
        name = clean_line(worktree.name)
        desk.say(f"'{name}' was not deleted. {at_work} Stop it first.", bad=True)
        return False
    lost = losses.files or losses.commits or losses.besides
    sentence = _deletion_question(desk, worktree, losses)
    agree = "remove" if worktree.adopted else "delete anyway" if lost else "delete"
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
        # New changes since, or a failed teardown; nothing was deleted.
        if error.error_type not in ("conflict", "forbidden"):
            raise
        again = Confirm(title, error.message, "delete anyway")
        if not await desk.ask(again):
            return False
        await remove(force=True)
    name = clean_line(worktree.name)
    if _deletes_files(worktree):
        desk.say(f"'{name}' was deleted. {desk.key_of('show_archive')} brings it back.")
    else:
        back = f" {desk.key_of('show_archive')} brings it back." if losses.sessions else ""
        desk.say(f"'{name}' was removed from Spinney.{back}")
    return True


def _deletion_question(desk: Desk, worktree: "Worktree", losses: "RemovalLosses") -> str:
    """Return the confirmation's text: what is deleted, what comes back, and what does not."""
    name = clean_line(worktree.name)
    if worktree.session_type == "base":
        lines = [f"Remove the project's own directory '{name}' from the list? Its files are kept."]
    elif worktree.adopted:
        lines = [
            f"Remove '{name}' from Spinney? It was created outside Spinney, so its directory and "
            "branch are kept."
        ]
    else:
        lines = [f"Delete '{name}' with its directory and branch?"]
    if losses.running:
        names = ", ".join(map(clean_line, losses.running))
        lines.append(f"These sessions are running and will be stopped: {names}.")
    if losses.files:
        more = ", …" if len(losses.files) > _MAX_NAMED_FILES else ""
        names = ", ".join(map(clean_line, losses.files[:_MAX_NAMED_FILES]))
        lines.append(f"It has {count(len(losses.files), 'uncommitted file')} ({names}{more}).")
    if losses.commits:
        lines.append(
            f"It has {count(losses.commits, 'commit')} that no other branch or remote has."
        )
    if losses.besides:
        more = ", …" if len(losses.besides) > _MAX_NAMED_FILES else ""
        named = ", ".join(map(clean_line, losses.besides[:_MAX_NAMED_FILES]))
        lines.append(f"It has {named}{more}.")
    sessions = count(losses.sessions, "session")
    if not _deletes_files(worktree):
        if losses.sessions:
            lines.append(f"Its {sessions} will be deleted. {describe_recovery(desk)}")
        return "\n".join(lines)
    if not losses.files and not losses.commits and not losses.besides:
        lines.append("All changes are committed, and all commits are on another branch or remote.")
    lines.append(
        describe_recovery(desk, f"all of it, with {sessions}," if losses.sessions else "it")
    )
    lines.append(f"Not kept: {_describe_rest(desk)}.")
    return "\n".join(lines)


def _describe_rest(desk: Desk) -> str:
    """Return what a recovery point does not have of a deleted worktree."""
    ignored = "files ignored by git (such as .env)"
    if desk.state.preferences.recovery_include_ignored:
        ignored = "ignored files over 50 MB"
    return f"{ignored}, and the contents of repositories inside it"


def _deletes_files(worktree: "Worktree") -> bool:
    """Whether its folder and branch are deleted with it."""
    return worktree.session_type != "base" and not worktree.adopted


async def _stop_after_confirmation(desk: Desk, worktree: "Worktree", title: str) -> bool:
    """Stop running sessions after confirmation; return whether none is running now."""
    running = [clean_line(session.name) for session in _running(desk, worktree)]
    if not running:
        return True
    sentence = f"Running in this worktree: {', '.join(running)}. Stop and continue?"
    if not await desk.ask(Confirm(title, sentence, "stop and continue")):
        return False
    await _stop_sessions(desk, worktree)
    return True


async def _stop_sessions(desk: Desk, worktree: "Worktree") -> None:
    for session in _running(desk, worktree):
        await desk.client.call(session_commands.stop_generation, session_id=session.id)
    await desk.mirror.wait_for(lambda _: not _running(desk, worktree), timeout=_STOP_LIMIT)


def _running(desk: Desk, worktree: "Worktree") -> list["Session"]:
    sessions = desk.state.sessions.values()
    return [
        session for session in sessions if session.worktree_id == worktree.id and session.is_active
    ]


async def show_archive(desk: Desk) -> None:
    """Show the archive and the recovery points, to restore or delete them."""
    points = await _list_points(desk)
    while True:
        has_more = bool(points) and len(points) % _PAGE_SIZE == 0
        archive = Archive(desk.state, points, desk.perform, has_more=has_more)
        wanted = await desk.ask(archive)
        if not isinstance(wanted, FromArchive):
            return
        if wanted.is_more:
            points += await _list_points(desk, len(points))
            continue
        if wanted.point is not None:
            if wanted.deletes:
                await delete_point(desk, wanted.point)
            elif await restore_point(desk, wanted.point):
                return
        elif wanted.deletes:
            await _delete_archived(desk, wanted.place)
        else:
            await restore(desk, wanted.place)
            desk.open_place(wanted.place)
            return
        points = await _list_points(desk)


async def _list_points(desk: Desk, offset: int = 0) -> list["RecoveryPoint"]:
    """Return a page of recovery points; none, and why is shown, if they cannot be read."""
    try:
        return await desk.client.call(
            recovery_commands.list_recovery_points, limit=_PAGE_SIZE, offset=offset
        )
    except SpinneyError as error:
        desk.say(error.message, bad=True)
        return []


async def restore(desk: Desk, place: Place) -> None:
    """Restore an archived worktree, or a session together with its worktree."""
    state = desk.state
    session = state.sessions.get(place.id)
    worktree = state.worktrees.get(session.worktree_id if session is not None else place.id)
    if worktree is not None and worktree.archived_at is not None:
        await desk.client.call(commands.unarchive_worktree, worktree_id=worktree.id)
    if session is not None and session.archived_at is not None:
        await desk.client.call(session_commands.unarchive_session, session_id=session.id)
    await desk.mirror.wait_for(lambda state: is_shown(place, state))


async def _delete_archived(desk: Desk, place: Place) -> None:
    if place.kind == "worktree":
        worktree = desk.state.worktrees.get(place.id)
        if worktree is not None and await _delete(desk, worktree):
            await desk.mirror.wait_for(lambda state: place.id not in state.worktrees)
        return
    session = desk.state.sessions.get(place.id)
    if session is None:
        return
    if await desk.ask(confirm_deletion(desk, session)):
        await desk.client.call(session_commands.delete_session, session_id=session.id)
        await desk.mirror.wait_for(lambda state: session.id not in state.sessions)
