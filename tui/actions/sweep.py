"""Actions of the sweep: archive or delete many worktrees, each with a recovery point."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from model.api.landing import sweep_worktrees
from model.base.amounts import format_size
from model.base.plural import count
from model.base.text import clean_line
from tui.actions.recovery import describe_recovery
from tui.desk import Desk
from tui.landing.delete_worktrees import DeleteWorktrees
from tui.landing.sweep_list import describe_losses, loses_anything, total_size
from tui.screens.choose import Choice, Choose
from tui.screens.dialog import Confirm

if TYPE_CHECKING:
    from model.domain.landing import AfterLanding, LandingRow, SweepRow, Swept
    from tui.landing.sweep_screen import SweepActionFunction, SweepScreen

_MAX_NAMED: Final = 8
"""Worktrees that a confirmation names."""
_DONE: "Final[Mapping[AfterLanding, str]]" = {"archive": "archived", "delete": "deleted"}


async def show_sweep(desk: Desk) -> None:
    """Show all worktrees with their sizes: of the project, or of all projects without one."""
    from tui.landing.sweep_screen import SweepScreen

    project = desk.project
    project_id = project.id if project is not None and not project.is_folder else None
    desk.show(SweepScreen(desk, project_id, ON_SWEEP))


async def archive(screen: "SweepScreen") -> None:
    """Archive the marked worktrees."""
    await screen.read_losses()
    rows = [row for row in screen.chosen if not row.archived]
    if not rows:
        screen.desk.say("These are archived already.")
        return
    lines = [f"Archive {_describe(rows)}? The files stay on the disk, so no space gets free."]
    if running := _names(row for row in rows if row.is_running):
        lines.append(f"Sessions are at work in {running}; they are stopped.")
    if await screen.desk.ask(Confirm("Archive worktrees", "\n".join(lines), "archive")):
        force = any(map(loses_anything, rows))
        await _sweep(screen, rows, "archive", force=force)


async def delete(screen: "SweepScreen") -> None:
    """Delete the marked worktrees, after saying what is lost and what comes back."""
    await screen.read_losses()
    desk, rows = screen.desk, screen.chosen
    if not rows:
        return
    lossy = [row for row in rows if loses_anything(row)]
    question = deletion_question(desk, rows)
    agree = "delete anyway" if lossy else "delete"
    dialog = DeleteWorktrees(question, agree)
    if await desk.ask(dialog):
        remote = dialog.with_remote
        await _sweep(screen, rows, "delete", force=bool(lossy), delete_remote_branch=remote)


def deletion_question(desk: Desk, rows: "Sequence[SweepRow]") -> str:
    """The confirmation's text: what is deleted, what of it is nowhere else, what comes back."""
    size = format_size(total_size(rows))
    lines = [f"Delete {_describe(rows)}, with directories, branches and sessions? Frees {size}."]
    lossy = [row for row in rows if loses_anything(row)]
    for row in lossy[:_MAX_NAMED]:
        lines.append(f"  {clean_line(row.name)}: {describe_losses(row)}")
    if len(lossy) > _MAX_NAMED:
        lines.append(f"  and {len(lossy) - _MAX_NAMED} more with work that is nowhere else")
    if not lossy:
        lines.append("Nothing in them is uncommitted or nowhere else.")
    lines.append(describe_recovery(desk, "each of them" if len(rows) > 1 else "it"))
    lines.append("Not kept: files ignored by git, and the contents of repositories inside.")
    return "\n".join(lines)


async def _sweep(
    screen: "SweepScreen",
    rows: "Sequence[SweepRow]",
    action: "AfterLanding",
    *,
    force: bool,
    delete_remote_branch: bool = False,
) -> None:
    desk = screen.desk
    desk.say(f"{count(len(rows), 'worktree')} …")
    swept: list[Swept] = await desk.client.call(
        sweep_worktrees,
        worktree_ids=[row.worktree_id for row in rows],
        action=action,
        force=force,
        delete_remote_branch=delete_remote_branch,
    )
    say_swept(desk, swept, action)
    if screen.is_attached:
        screen.show_results(swept)


def say_swept(desk: Desk, swept: "Sequence[Swept]", action: "AfterLanding") -> None:
    """Say how many went, and why others did not."""
    done = [one for one in swept if one.ok]
    if done:
        key = desk.key_of("show_archive")
        back = "it back" if len(done) == 1 else "them back"
        desk.say(f"{count(len(done), 'worktree')} {_DONE[action]}. {key} brings {back}.")
    if refused := [clean_line(one.message) for one in swept if not one.ok]:
        desk.say("\n".join(refused[:_MAX_NAMED]), bad=True)


async def archive_or_delete(desk: Desk, rows: "Sequence[LandingRow]") -> None:
    """Archive or delete worktrees that are merged, as the user chooses."""
    name = f"'{clean_line(rows[0].name)}'" if len(rows) == 1 else count(len(rows), "worktree")
    choices = [
        Choice("archive", "Archive", "the files stay"),
        Choice("delete", "Delete", "directory and branch; the archive brings it back"),
    ]
    chosen = await desk.ask(Choose(f"What becomes of {name}?", choices, "archive"))
    if chosen is None:
        return
    action: AfterLanding = "delete" if chosen == "delete" else "archive"
    ids = [row.worktree_id for row in rows]
    swept = await desk.client.call(sweep_worktrees, worktree_ids=ids, action=action)
    say_swept(desk, swept, action)


def _describe(rows: "Sequence[SweepRow]") -> str:
    return f"'{clean_line(rows[0].name)}'" if len(rows) == 1 else count(len(rows), "worktree")


def _names(rows: "Iterable[SweepRow]") -> str:
    names = [clean_line(row.name) for row in rows]
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more


ON_SWEEP: "Mapping[str, SweepActionFunction]" = {
    "sweep_archive": archive,
    "sweep_delete": delete,
}
"""Actions of the sweep screen, by their ids."""
