"""Actions on hunks in the diff screen: accept, reject, take back, send."""

from functools import partial
from typing import TYPE_CHECKING

from model.api.code_reviews import decide_hunk, send_verdicts, undo_verdict
from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from tui.diff.screen import Diff
from tui.screens.choose_session import session_for
from tui.screens.dialog import AskText

if TYPE_CHECKING:
    from model.domain.code_reviews import HunkVerdict, Verdict


async def accept(screen: Diff) -> None:
    """Accept the hunk under the cursor, or in the list all hunks of the file."""
    hunks = await _choose_hunks(screen)
    if hunks:
        await _decide(screen, hunks, "accepted", "")


async def reject(screen: Diff) -> None:
    """Reject the hunk under the cursor, or in the list all hunks of the file, with a reason."""
    hunks = await _choose_hunks(screen)
    if not hunks:
        return
    what = f"{len(hunks)} hunks" if len(hunks) > 1 else "a hunk"
    key = screen.desk.key_of("diff_undo_verdict")
    reason = await screen.desk.ask(
        AskText(
            f"Reject {what} of {clean_line(screen.path)}",
            sentence=f"It is reverted in the worktree and kept; {key} brings it back.",
            placeholder="Why? The session gets the reason.",
            empty="no reason",
            verb="reject",
        )
    )
    if reason is not None:
        await _decide(screen, hunks, "rejected", reason)


async def undo(screen: Diff) -> None:
    """Take the newest verdict back, also one that is still being carried out."""
    await _take_back(screen, None)


async def send(screen: Diff) -> None:
    """Send the rejected hunks with their reasons to a session."""
    if not screen.review.unsent:
        key = screen.desk.key_of("diff_reject")
        screen.desk.say(f"There are no rejected hunks to send. {key} on a hunk rejects it.")
        return
    number = screen.review.unsent
    session = await session_for(screen.desk, screen.worktree)
    if session is None:
        return
    await screen.desk.client.call(
        send_verdicts, worktree_id=screen.worktree.id, session_id=session.id
    )
    screen.desk.say(f"Sent {count(number, 'rejected hunk')} to '{clean_line(session.name)}'.")
    await screen.review.read()


async def _choose_hunks(screen: Diff) -> list[str]:
    """Return the names of the hunks to decide about, the last one of the file first."""
    await screen.wait_until_read()  # the key may come before the diff
    if screen.side == "staged":
        key = screen.desk.key_of("diff_unstage")
        screen.desk.say(f"Staged hunks are accepted. {key} unstages one, then it can be rejected.")
        return []
    diff = screen.file_diff
    if diff is None or not diff.hunks or diff.path != screen.path:
        stage, discard = screen.desk.key_of("diff_stage"), screen.desk.key_of("diff_discard")
        screen.desk.say(
            f"This change has no lines to decide about. {stage} stages the file, {discard} "
            "discards its changes."
        )
        return []
    if "" in (hunks := [screen.hunk] if screen.hunk is not None else diff.hunks[::-1]):
        screen.desk.say("This hunk is only partly shown. Stage or discard the whole file.")
        return []
    # From the end: staging a hunk changes the names of those after it.
    return [hunk for hunk in hunks if hunk]


async def _decide(screen: Diff, hunks: list[str], verdict: "Verdict", reason: str) -> None:
    diff, side, decided = screen.file_diff, screen.side, None
    is_stepping = side == "branch" and not screen.is_in_files
    try:
        for hunk in hunks:
            decided = await screen.desk.client.call(
                decide_hunk,
                worktree_id=screen.worktree.id,
                path=diff.path if diff is not None else screen.path,
                hunk=hunk,
                verdict=verdict,
                reason=reason,
                seen=diff.digest if diff is not None and len(hunks) == 1 else None,
                side=side,
            )
    except SpinneyError as error:
        screen.desk.say(error.message, bad=True)
        is_stepping = False
    finally:
        await screen.read_all()
    if decided is not None:
        _say_decided(screen, decided, len(hunks))
    if is_stepping:  # a committed hunk stays where it is
        screen.next_hunk(+1)


def _say_decided(screen: Diff, decided: "HunkVerdict", number: int) -> None:
    screen.undoing = partial(_take_back, screen, decided.id) if number == 1 else None
    if decided.verdict == "rejected":
        key, send_key = map(screen.desk.key_of, ("diff_undo_verdict", "diff_send_verdicts"))
        what = "the hunk" if number == 1 else f"{number} hunks"
        screen.desk.say(f"Rejected {what}. {key} takes it back, {send_key} sends the reasons.")


async def _take_back(screen: Diff, verdict_id: str | None) -> None:
    screen.undoing = None
    try:
        undone = await screen.desk.client.call(
            undo_verdict, worktree_id=screen.worktree.id, verdict_id=verdict_id
        )
    except SpinneyError as error:
        screen.desk.say(error.message, bad=True)
        return
    finally:
        await screen.read_all()
    screen.files.go_to(undone.path)
    screen.desk.say(f"The hunk of '{clean_line(undone.path)}' is no longer {undone.verdict}.")
