"""Actions of a train: put one together, follow it, land what is ready."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.content import Content

from model.api import landing as commands
from model.base.plural import count
from model.base.text import clean_line, make_visible
from tui.actions.landed import report_landing
from tui.actions.problems import send_problem
from tui.desk import Desk
from tui.landing.train_words import count_ready
from tui.screens.choose import Choose
from tui.screens.dialog import Confirm, Report
from tui.screens.landing_choices import AFTERWARDS, read_after

if TYPE_CHECKING:
    from model.domain.landing import LandingDesk, Train
    from model.domain.projects import Project
    from model.domain.worktrees import Worktree

_CAN_RIDE: Final = frozenset({"land", "merge", "check", "review", "update", "fix", "wait"})
"""The next steps of worktrees that may take part in a train."""


async def show_train(desk: Desk) -> None:
    """Show the project's train, or put one together."""
    project = desk.project
    if project is None or project.is_folder:
        desk.say("Select a project first.")
        return
    train = await desk.client.call(commands.get_train, project_id=project.id)
    if train is not None and train.status != "landed":
        await follow_train(desk, train)
        return
    known = await desk.client.call(commands.get_landing_desk, project_id=project.id)
    await put_together(desk, project, known)


async def put_together(
    desk: Desk, project: "Project", known: "LandingDesk", marked: Sequence[str] = ()
) -> None:
    """Ask which worktrees take part, start the train and follow it.

    `marked`: the ids of those that do at first, if not the suggested ones.
    """
    from tui.landing.new_train import NewTrain

    taken = list(marked) or known.suggested_train
    by_id = {row.worktree_id: row for row in known.rows}
    first = [by_id[key] for key in known.suggested_train if key in by_id]
    rest = [row for row in known.rows if row not in first]
    rows = [row for row in (*first, *rest) if row.next in _CAN_RIDE or row.worktree_id in taken]
    if not rows:
        desk.say("No worktree has anything that can land yet. The landing desk says what is next.")
        return
    has_check = any(row.check.has_script for row in rows)
    base = clean_line(rows[0].base)
    method = project.landing_method or desk.state.preferences.landing_method
    before = await desk.client.call(commands.get_train, project_id=project.id)
    keep_going = before is not None and before.keep_going
    plan = await desk.ask(
        NewTrain(rows, taken, method, keep_going=keep_going, has_check=has_check, base=base)
    )
    if plan is None:
        return
    train = await desk.client.call(
        commands.start_train,
        project_id=project.id,
        worktree_ids=list(plan.worktree_ids),
        method=plan.method,
        with_check=plan.with_check,
        keep_going=plan.keep_going,
    )
    await follow_train(desk, train)


async def start_train_of(desk: Desk, worktree: "Worktree") -> None:
    """Check what the base would become with a worktree, and offer to land that."""
    train = await desk.client.call(
        commands.start_train, project_id=worktree.project_id, worktree_ids=[worktree.id]
    )
    await follow_train(desk, train)


async def follow_train(desk: Desk, train: "Train") -> None:
    """Show a train until the user closes it, and do what is chosen there."""
    from tui.landing.train_dialog import TrainProgress

    at: int | None = None
    while True:
        dialog = TrainProgress(desk, train, at)
        chosen = await desk.ask(dialog)
        if chosen is None:
            return
        key, at = chosen
        train = dialog.train
        match key:
            case "enter":
                await _show_output(desk, train, at)
            case "f":
                await _send(desk, train, at)
            case "x":
                train = await desk.client.call(commands.stop_train, train_id=train.id)
            case "r":
                train = await _run_again(desk, train)
            case "l":
                if await _land(desk, train):
                    return
            case _ if await _discard(desk, train):
                return


async def _show_output(desk: Desk, train: "Train", at: int) -> None:
    car = train.cars[at]
    output = await desk.client.call(
        commands.get_train_output, train_id=train.id, worktree_id=car.worktree_id
    )
    text = make_visible(output.message).rstrip() or "The check printed nothing."
    await desk.ask(Report(f"Check after {clean_line(car.branch)}", Content(text)))


async def _send(desk: Desk, train: "Train", at: int) -> None:
    worktree = desk.state.worktrees.get(train.cars[at].worktree_id)
    if worktree is None:
        desk.say("The worktree was removed.")
        return
    await send_problem(desk, worktree)


async def _run_again(desk: Desk, train: "Train") -> "Train":
    """Start a train of the same worktrees, as far as they still exist."""
    ids = [car.worktree_id for car in train.cars if car.worktree_id in desk.state.worktrees]
    return await desk.client.call(
        commands.start_train,
        project_id=train.project_id,
        worktree_ids=ids,
        method=train.method,
        with_check=train.with_check,
        keep_going=train.keep_going,
    )


async def _land(desk: Desk, train: "Train") -> bool:
    """Land what is ready, after the question what becomes of the worktrees; whether it landed."""
    number = count(count_ready(train), "worktree")
    title = f"Land {number} in {clean_line(train.base)} ({train.method})"
    present = desk.state.preferences.after_landing
    chosen = await desk.ask(Choose(title, AFTERWARDS, present))
    if chosen is None:
        return False
    after, deletes_remote = read_after(chosen)
    landing = await desk.client.call(
        commands.land_train,
        train_id=train.id,
        after=after,
        delete_remote_branch=deletes_remote,
    )
    await report_landing(desk, landing, {car.worktree_id: car.branch for car in train.cars})
    return True


async def _discard(desk: Desk, train: "Train") -> bool:
    sentence = "Discard the train? Its branches and the base stay as they are."
    if not await desk.ask(Confirm("Discard the train", sentence, "discard", harmless=True)):
        return False
    await desk.client.call(commands.discard_train, train_id=train.id)
    return True
