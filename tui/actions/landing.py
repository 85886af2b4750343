"""The landing desk, and the actions that it offers for its worktrees."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from model.api.landing import list_landings, send_landing_message
from model.api.scripts import run_worktree_script
from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from tui.actions import git, sweep, trains
from tui.actions.bases import move_onto_new_base
from tui.actions.changes import open_diff
from tui.actions.land import land_worktree
from tui.actions.landed import push_base, take_back
from tui.actions.problems import send_problem
from tui.actions.pull_requests import pull_request
from tui.actions.scripts import follow_script
from tui.desk import ActionFunction, Desk
from tui.screens.go_ahead import GoAhead
from tui.store.places import Place

if TYPE_CHECKING:
    from model.domain.landing import LandingRow
    from model.domain.worktrees import Worktree
    from tui.landing.screen import LandingActionFunction, LandingScreen


async def show_landing(desk: Desk) -> None:
    """Show the worktrees of the project with what is next for each."""
    project = desk.project
    if project is None or project.is_folder:
        desk.say("Select a project first.")
        return
    from tui.landing.screen import LandingScreen

    desk.show(LandingScreen(desk, project, ON_LANDING))


def _worktree(screen: "LandingScreen") -> "Worktree | None":
    """The worktree under the cursor, which the actions of the main screen then apply to."""
    row = screen.row
    worktree = screen.desk.state.worktrees.get(row.worktree_id) if row is not None else None
    if worktree is None:
        screen.desk.say("There is no worktree here.")
        return None
    screen.desk.open_place(Place("worktree", worktree.id))
    return worktree


def _on_worktree(action: ActionFunction) -> "LandingActionFunction":
    async def act(screen: "LandingScreen") -> None:
        if _worktree(screen) is not None:
            await action(screen.desk)

    return act


def _on_desk(action: ActionFunction) -> "LandingActionFunction":
    async def act(screen: "LandingScreen") -> None:
        await action(screen.desk)

    return act


async def do_next(screen: "LandingScreen") -> None:
    """Do what is next for the worktree under the cursor, or for all that are marked."""
    rows = screen.chosen
    steps = {row.next for row in rows}
    if len(rows) > 1 and len(steps) > 1:
        screen.desk.say(
            "The marked worktrees have different next steps. Mark those with the same one."
        )
        return
    for row in rows[:1]:
        if row.next == "archive":
            await sweep.archive_or_delete(screen.desk, rows)
        elif row.next == "check":
            await check(screen)
        elif row.next == "land" or (row.next == "merge" and len(rows) > 1):
            await land(screen)
        elif row.next in ("resolve", "fix"):
            await _repair(screen, rows)
        elif len(rows) > 1:
            screen.desk.say(f"'{row.next}' works on one worktree at a time.")
        else:
            await _SINGLE[row.next](screen)


async def _repair(screen: "LandingScreen", rows: "list[LandingRow]") -> None:
    """Send the problem to the session, unless it is in the worktree's changes or at the service."""
    row = rows[0]
    if len(rows) == 1 and (row.uncommitted or row.review.rejected):
        await _on_worktree(open_diff)(screen)
    elif len(rows) == 1 and not _has_local_problem(row) and row.pull_request is not None:
        await _on_worktree(pull_request)(screen)
    else:
        await send(screen)


def _has_local_problem(row: "LandingRow") -> bool:
    in_conflict = any(conflict.with_kind == "branch" for conflict in row.conflicts)
    return in_conflict or (row.check.status == "failed" and not row.check.is_stale)


async def land(screen: "LandingScreen") -> None:
    """Land the worktree; several that are marked land as a train."""
    rows = screen.chosen
    if len(rows) > 1 and screen.known is not None:
        ids = [row.worktree_id for row in rows]
        await trains.put_together(screen.desk, screen.project, screen.known, ids)
    elif (worktree := _worktree(screen)) is not None:
        await land_worktree(screen.desk, worktree)
    _read_again(screen)


async def check(screen: "LandingScreen") -> None:
    """Run the check and follow its output; of several worktrees only start it."""
    rows = screen.chosen
    if len(rows) == 1:
        if (worktree := _worktree(screen)) is not None:
            await follow_script(screen.desk, worktree, "check")
        _read_again(screen)
        return
    problems = []
    for row in rows:
        try:
            await screen.desk.client.call(
                run_worktree_script, worktree_id=row.worktree_id, script="check"
            )
        except SpinneyError as error:
            problems.append(f"{clean_line(row.name)}: {error.message}")
    _say_done(screen.desk, "The check runs in", len(rows) - len(problems), problems)
    _read_again(screen)


async def send(screen: "LandingScreen") -> None:
    """Send what keeps the worktree from landing to its session; after a question for several."""
    rows, desk = screen.chosen, screen.desk
    if len(rows) == 1:
        if (worktree := _worktree(screen)) is not None:
            await send_problem(desk, worktree)
        return
    sentence = f"Send what keeps {count(len(rows), 'worktree')} from landing to their sessions?"
    if not await desk.ask(GoAhead("Send the problems", sentence, "send")):
        return
    problems = []
    for row in rows:
        try:
            await desk.client.call(send_landing_message, worktree_id=row.worktree_id)
        except SpinneyError as error:
            problems.append(f"{clean_line(row.name)}: {error.message}")
    _say_done(desk, "Sent to the sessions of", len(rows) - len(problems), problems)


def _say_done(desk: Desk, done: str, number: int, problems: list[str]) -> None:
    if problems:
        desk.say("\n".join(problems), bad=True)
    if number:
        desk.say(f"{done} {count(number, 'worktree')}.")


async def train(screen: "LandingScreen") -> None:
    """Show the train, or put one together from the marked or the suggested worktrees."""
    found, desk = screen.train, screen.desk
    if found is not None and found.status != "landed" and not screen.rows.marked:
        await trains.follow_train(desk, found)
    elif screen.known is not None:
        marked = [row.worktree_id for row in screen.chosen] if screen.rows.marked else []
        await trains.put_together(desk, screen.project, screen.known, marked)
    _read_again(screen)


async def undo(screen: "LandingScreen") -> None:
    """Take the newest landing back after a question."""
    landing_id = screen.known.can_undo if screen.known is not None else None
    if landing_id is None:
        screen.desk.say("There is no landing that can be taken back.")
        return
    found = await screen.desk.client.call(list_landings, project_id=screen.project.id, limit=1)
    landing = next((one for one in found if one.id == landing_id), None)
    sentence = "Take the newest landing back?"
    if landing is not None:
        names = [screen.names.get(key, "a deleted worktree") for key in landing.worktree_ids]
        base = clean_line(landing.base)
        sentence = (
            f"Take the landing of {', '.join(map(clean_line, names))} back? "
            f"{base} returns to {landing.before[:7]}."
        )
    if await screen.desk.ask(GoAhead("Take a landing back", sentence, "take it back")):
        await take_back(screen.desk, landing_id)
        _read_again(screen)


async def push(screen: "LandingScreen") -> None:
    """Push the project's base branch."""
    base = screen.row.base if screen.row is not None else screen.project.default_branch
    await push_base(screen.desk, screen.project.id, base)


async def update(screen: "LandingScreen") -> None:
    """Bring what is new in the base into the worktree."""
    row, worktree = screen.row, _worktree(screen)
    if row is not None and worktree is not None and row.new_base:
        await move_onto_new_base(screen.desk, worktree)
        _read_again(screen)
    elif row is not None and worktree is not None:
        await git.update_worktree(screen.desk, worktree)
        _read_again(screen)


async def open_session(screen: "LandingScreen") -> None:
    """Go to the worktree's session: the one that waits, or is at work, or was used last."""
    row = screen.row
    if row is None:
        return
    sessions = screen.desk.state.sessions_of(row.worktree_id)
    order = {"waiting": 2, "running": 1}
    found = max(sessions, key=lambda s: (order.get(s.status, 0), s.updated_at), default=None)
    screen.dismiss(None)
    if found is not None:
        screen.desk.open_session(found.id)
    else:
        screen.desk.open_place(Place("worktree", row.worktree_id))


async def wait(screen: "LandingScreen") -> None:
    """Show what it waits for: the check, the session, or the pull request."""
    row = screen.row
    if row is not None and row.check.status == "running":
        await check(screen)
        return
    sessions = screen.desk.state.sessions_of(row.worktree_id) if row is not None else []
    is_active = any(session.is_active for session in sessions)
    if row is not None and row.pull_request is not None and not is_active:
        await _on_worktree(pull_request)(screen)
    else:
        await open_session(screen)


def _read_again(screen: "LandingScreen") -> None:
    if screen.is_attached:
        screen.load()


_SINGLE: "Mapping[str, LandingActionFunction]" = {
    "answer": open_session,
    "wait": wait,
    "commit": _on_worktree(git.commit),
    "review": _on_worktree(open_diff),
    "update": update,
    "merge": _on_worktree(pull_request),
}
"""What is done for a step that concerns one worktree."""

ON_LANDING: "Mapping[str, LandingActionFunction]" = {
    "landing_next": do_next,
    "landing_land": land,
    "landing_check": check,
    "landing_send": send,
    "landing_train": train,
    "landing_undo": undo,
    "landing_push": push,
    "landing_update": update,
    "landing_open": open_session,
    "landing_diff": _on_worktree(open_diff),
    "landing_commit": _on_worktree(git.commit),
    "landing_pull_request": _on_worktree(pull_request),
    "landing_sweep": _on_desk(sweep.show_sweep),
}
"""Actions of the landing desk, by their ids."""
