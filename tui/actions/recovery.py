"""Actions on the recovery points in the archive: restore what they keep, delete a point."""

from typing import TYPE_CHECKING, Final

from model.api import recovery as commands
from model.base.plural import count
from model.base.text import clean_line
from tui.desk import Desk
from tui.screens.choose import Choice
from tui.screens.dialog import Confirm
from tui.screens.pick import Pick
from tui.store.places import Place, is_shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model.domain.recovery import RecoveryPoint
    from model.domain.sessions import Session

_WHOLE: Final = "\0"
"""The choice to restore everything; no file has this name."""


async def restore_point(desk: Desk, point: "RecoveryPoint") -> bool:
    """Restore sessions or a deleted worktree, or ask what to restore of another point.

    Returns whether something was restored.
    """
    if point.sessions_only:
        await restore_sessions(desk, point)
        return True
    if point.kind == "delete":
        await _restore_worktree(desk, point)
        return True

    async def load() -> "Sequence[Choice]":
        files = await desk.client.call(commands.list_recovery_files, recovery_id=point.recovery_id)
        present = [file for file in files if file.status != "deleted"]
        whole = Choice(_WHOLE, "Everything, as a new worktree")
        return [whole, *(Choice(file.path, file.path, file.status) for file in present)]

    chosen = await desk.ask(Pick(f"Restore from {clean_line(point.name)}", load))
    if chosen is None:
        return False
    if chosen.value == _WHOLE:
        await _restore_worktree(desk, point)
    else:
        await desk.client.call(
            commands.restore_files, recovery_id=point.recovery_id, paths=[chosen.value]
        )
        desk.say(f"'{clean_line(chosen.value)}' was restored in '{clean_line(point.name)}'.")
    return True


async def restore_sessions(desk: Desk, point: "RecoveryPoint") -> None:
    """Restore the sessions of a point, and open the first or the project that they are in."""
    sessions = await desk.client.call(commands.restore_sessions, recovery_id=point.recovery_id)
    ids = {session.id for session in sessions}
    await desk.mirror.wait_for(lambda state: ids <= state.sessions.keys())
    if point.kind == "remove project":
        worktree = desk.state.worktrees[sessions[0].worktree_id]
        desk.open_place(Place("project", worktree.project_id))
    else:
        desk.open_place(Place("session", sessions[0].id))
    desk.say(f"'{clean_line(point.name)}' was restored.")


def describe_period(desk: Desk) -> str:
    """Return for how long something deleted can be restored, such as " for 30 days"."""
    days = desk.state.preferences.recovery_keep_days
    return f" for {count(int(days), 'day')}" if days else ""


def describe_recovery(desk: Desk, what: str = "it") -> str:
    """Return the sentence that says where something deleted can be restored, and for how long."""
    return f"The archive ({desk.key_of('show_archive')}) brings {what} back{describe_period(desk)}."


def confirm_deletion(desk: Desk, session: "Session") -> Confirm:
    """Return the dialog that asks whether to delete a session."""
    sentence = f"Delete '{clean_line(session.name)}'"
    if number := session.message_count + len(desk.state.queued.get(session.id, ())):
        sentence += f" and its {count(number, 'message')}?\n{describe_recovery(desk)}"
    else:
        sentence += "? It has no messages."
    return Confirm("Delete the session", sentence, "delete")


async def delete_point(desk: Desk, point: "RecoveryPoint") -> None:
    """Delete a recovery point after confirmation."""
    sentence = (
        f"Delete the recovery point of '{clean_line(point.name)}' "
        f"({clean_line(point.reason).lower()})?\nWhat it keeps cannot be restored then."
    )
    if await desk.ask(Confirm("Delete the recovery point", sentence, "delete")):
        await desk.client.call(commands.delete_recovery_point, recovery_id=point.recovery_id)


async def _restore_worktree(desk: Desk, point: "RecoveryPoint") -> None:
    worktree = await desk.client.call(commands.restore_worktree, recovery_id=point.recovery_id)
    place = Place("worktree", worktree.id)
    await desk.mirror.wait_for(lambda state: is_shown(place, state))
    desk.open_place(place)
    desk.say(f"'{clean_line(worktree.name)}' was restored.")
