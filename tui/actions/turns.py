"""Actions on the turns of the open session: their diffs, undo, redo, fork, edit and send again."""

from typing import TYPE_CHECKING

from model.api import turns as api
from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from tui.desk import Desk
from tui.screens.turns import Turns
from tui.screens.undo import Decision, RedoTurn, UndoTurn

_PAGE_SIZE = 200

if TYPE_CHECKING:
    from collections.abc import Callable

    from model.api.turns import TurnSummary, UndoChoice, UndoPreview
    from model.domain.turns import UndoScope
    from tui.screens.turns import What


async def show_turns(desk: Desk) -> None:
    """List the turns of the open session."""
    turns = await _read_turns(desk, lambda _: True)
    at = 0
    while turns:
        chosen = await desk.ask(Turns(turns[::-1], at))
        if chosen is None:
            return
        what, at = chosen
        if what != "more":
            await _act(desk, turns, turns[len(turns) - 1 - at], what)
            return
        turns = await _read_page(desk, turns) + turns


async def _act(desk: Desk, turns: "list[TurnSummary]", turn: "TurnSummary", what: "What") -> None:
    match what:
        case "diff":
            _show_diff(desk, turn)
        case "undo":
            await _undo(desk, turns, turn)
        case "edit":
            await _undo(desk, turns, turn, edits=True)
        case "redo":
            await _redo(desk, turn)
        case "fork":
            await _fork(desk, turn)


async def undo_turn(desk: Desk) -> None:
    """Undo the newest turn that is not undone."""
    turns = await _read_turns(desk, lambda turn: turn.undone is None)
    last = next((turn for turn in reversed(turns) if turn.undone is None), None)
    if last is not None:
        await _undo(desk, turns, last)
    elif turns:
        desk.say("All turns of this session are undone.")


async def redo_turn(desk: Desk) -> None:
    """Take back the newest undo."""
    turns = await _read_turns(desk, lambda _: False)
    newest = max(turns, key=lambda turn: turn.undone_at or 0.0, default=None)
    if newest is not None and newest.undone is not None:
        await _redo(desk, newest)
    elif turns:
        desk.say("No turn of this session is undone.")


async def fork_session(desk: Desk) -> None:
    """Continue the open conversation in a second session."""
    await _fork(desk)


async def _read_turns(
    desk: Desk, is_wanted: "Callable[[TurnSummary], bool]"
) -> "list[TurnSummary]":
    """Read the turns of the open session, from the newest back to the page with one wanted."""
    session = desk.session
    if session is None:
        desk.say("Open a session first.")
        return []
    turns: list[TurnSummary] = []
    while page := await _read_page(desk, turns):
        turns = page + turns
        if page[0].number == 1 or any(map(is_wanted, page)):
            break
    if not turns:
        desk.say("This session has no turns yet.")
    return turns


async def _read_page(desk: Desk, known: "list[TurnSummary]") -> "list[TurnSummary]":
    """Read the turns before those that are known."""
    if desk.session is None:
        return []
    before = known[0].number if known else None
    turns = await desk.client.call(
        api.list_turns, session_id=desk.session.id, limit=_PAGE_SIZE, before=before
    )
    # A server of an older version returns all of them.
    return [turn for turn in turns if before is None or turn.number < before]


def _show_diff(desk: Desk, turn: "TurnSummary") -> None:
    from tui.diff.turn_screen import TurnDiff

    if turn.problem or desk.worktree is None:
        desk.say(f"There is no diff of this turn. {clean_line(turn.problem)}")
        return
    desk.show(TurnDiff(desk, desk.worktree, turn))


async def _undo(
    desk: Desk, turns: "list[TurnSummary]", turn: "TurnSummary", *, edits: bool = False
) -> None:
    if turn.ended_at is None:
        desk.say("The turn has not ended yet. Stop it, or answer what it waits for.")
        return
    decision = await _ask(desk, turns, turn, edits=edits)
    if decision is None:
        return
    scope, choices = decision
    result = await desk.client.call(
        api.undo_turn, turn_id=turn.turn_id, what=scope, choices=choices
    )
    if scope != "files" and result.message and desk.session is not None:
        desk.outbox.return_text(desk.session.id, result.message)
        desk.focus_chat()
    elif scope != "files":
        desk.follow_session()
    undone = count(len(result.turns), "turn")
    left = ", ".join(map(clean_line, result.submodules))
    note = f" Not undone in submodules: {left}." if left else ""
    desk.say(f"Undone: {undone}.{note} {desk.key_of('redo_turn') or '/redo'} brings it back.")


async def _ask(
    desk: Desk, turns: "list[TurnSummary]", turn: "TurnSummary", *, edits: bool
) -> Decision | None:
    """Show what an undo would do, and ask what of it to do."""
    later = [each for each in turns if each.number > turn.number and each.undone is None]
    previews: dict[UndoScope, UndoPreview] = {}
    empty = api.UndoPreview(turn_ids=[turn.turn_id], files=[])
    if turn.undone is None:
        try:
            only = await desk.client.call(api.preview_undo, turn_id=turn.turn_id)
            previews["files"] = previews["both"] = only
            if later:
                previews["both"] = await desk.client.call(
                    api.preview_undo, turn_id=turn.turn_id, through=later[-1].turn_id
                )
        except SpinneyError as error:
            desk.say(error.message, bad=True)
    if turn.message_id:
        previews["conversation"] = empty
    else:
        previews.pop("both", None)
    if edits:
        previews.pop("files", None)
    if not previews:
        return None
    title = f"{'Edit and send again' if edits else 'Undo'}: turn {turn.number}"
    return await desk.ask(UndoTurn(title, turn.prompt, previews, later=len(later)))


async def _redo(desk: Desk, turn: "TurnSummary") -> None:
    if turn.undone is None:
        desk.say("This turn is not undone.")
        return
    preview = await desk.client.call(api.preview_redo, turn_id=turn.turn_id)
    choices: dict[str, UndoChoice] = {}
    if any(file.action == "conflict" for file in preview.files):
        decision = await desk.ask(RedoTurn(f"Redo: turn {turn.number}", turn.prompt, preview))
        if decision is None:
            return
        _, choices = decision
    result = await desk.client.call(api.redo_turn, turn_id=turn.turn_id, choices=choices)
    desk.follow_session()
    desk.say(f"Brought back: {count(len(result.turns), 'turn')}.")


async def _fork(desk: Desk, turn: "TurnSummary | None" = None) -> None:
    session = desk.session
    if session is None:
        desk.say("Open a session first.")
        return
    turn_id = turn.turn_id if turn is not None else None
    created = await desk.client.call(api.fork_session, session_id=session.id, turn_id=turn_id)
    await desk.mirror.wait_for(lambda state: created.id in state.sessions)
    desk.open_session(created.id)
