"""Land a worktree, or take one of the ways out where it is refused."""

from typing import TYPE_CHECKING

from model.api import landing as commands
from model.api.worktrees import open_base_worktree
from tui.actions.bases import move_onto_new_base
from tui.actions.changes import open_diff
from tui.actions.git import commit
from tui.actions.landed import report_landing
from tui.actions.problems import send_problem
from tui.actions.scripts import follow_script
from tui.actions.trains import start_train_of
from tui.actions.worktrees import pointed_worktree
from tui.desk import Desk
from tui.store.places import Place

if TYPE_CHECKING:
    from model.domain.hosting import MergeMethod
    from model.domain.landing import Landing, LandingPreview
    from model.domain.worktrees import Worktree
    from tui.landing.land_dialog import LandWish


async def land(desk: Desk) -> None:
    """Land the selected worktree."""
    worktree = pointed_worktree(desk)
    if worktree is not None:
        await land_worktree(desk, worktree)


async def land_worktree(desk: Desk, worktree: "Worktree") -> None:
    """Show what landing a worktree would do, and land it on enter."""
    from tui.landing.land_dialog import Land, LandDraft, LandWork

    call, worktree_id = desk.client.call, worktree.id

    async def preview(method: "MergeMethod | None") -> "LandingPreview":
        return await call(commands.preview_landing, worktree_id=worktree_id, method=method)

    async def bring_in(wish: "LandWish") -> "Landing":
        return await call(
            commands.land_worktree,
            worktree_id=worktree_id,
            base_commit=wish.base_commit,
            method=wish.method,
            message=wish.message,
            after=wish.after,
            delete_remote_branch=wish.delete_remote_branch,
            ignore_check=wish.ignore_check,
            stash_base=wish.stash_base,
        )

    async def write() -> str:
        return (await call(commands.write_landing_text, worktree_id=worktree_id)).message

    draft = desk.drafts.get(LandDraft, worktree_id)
    result = await desk.ask(Land(worktree.name, draft, LandWork(preview, bring_in, write)))
    if isinstance(result, str):
        await _take_way_out(desk, worktree, result)
    elif result is not None:
        desk.drafts.drop(LandDraft, worktree_id)
        await report_landing(desk, result, {worktree_id: worktree.name})


async def _take_way_out(desk: Desk, worktree: "Worktree", key: str) -> None:
    """Do what was chosen where landing is refused."""
    match key:
        case "c":
            await follow_script(desk, worktree, "check")
        case "f":
            await send_problem(desk, worktree)
        case "t":
            await start_train_of(desk, worktree)
        case "u":
            await move_onto_new_base(desk, worktree)
        case "o":
            await _open_base_changes(desk, worktree)
        case "m" | "d":
            desk.open_place(Place("worktree", worktree.id))
            await (commit(desk) if key == "m" else open_diff(desk))


async def _open_base_changes(desk: Desk, worktree: "Worktree") -> None:
    """Show the changes in the checkout of the base, which is another worktree or the project's."""
    state = desk.state
    base = worktree.base_branch or state.projects[worktree.project_id].default_branch
    found = next((w for w in state.worktrees_of(worktree.project_id) if w.branch == base), None)
    if found is None:
        found = await desk.client.call(open_base_worktree, project_id=worktree.project_id)
        await desk.mirror.wait_for(lambda state: found.id in state.worktrees)
    desk.open_place(Place("worktree", found.id))
    await open_diff(desk)
