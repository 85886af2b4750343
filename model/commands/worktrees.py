"""Commands about worktrees: making, renaming, putting away, bringing back, removing."""

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import AfterValidator

from model.base.text import clean_line
from model.commands.registry import PATH, command
from model.domain.events import Event, WorktreeUpdated
from model.domain.resources import Label, Resource, Worktree
from model.state import State
from model.worktrees import adopting, archiving, creation, project_in, renaming, worktree_in
from model.worktrees.adopting import OutsideWorktree
from model.worktrees.naming import IssueContext, PullRequestContext

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_LABEL_LENGTH: Final = 50


class RemovalLosses(Resource):
    """What a worktree has that nobody else has, and that deleting it would lose."""

    files: list[str]
    """Not committed; paths in the worktree."""
    commits: int
    """On no other branch and on no remote."""
    sessions: int
    """How many conversations would go, archived ones included."""
    running: list[str]
    """The names of sessions that are at work: while they are, nothing is deleted."""


def _checked_label(label: Label) -> Label:
    """What a client may set; labels that are stored already need not be so."""
    name = clean_line(label.name)
    if not 0 < len(name) <= _LABEL_LENGTH:
        raise ValueError(f"name must have from 1 to {_LABEL_LENGTH} characters")
    if not re.fullmatch(r"#(?:[0-9a-fA-F]{3}){1,2}", label.color):
        raise ValueError("color must be a hex colour code: #rgb or #rrggbb")
    return label.model_copy(update={"name": name})


@command
async def list_worktrees(
    workspace: "Workspace", project_id: str, include_archived: bool = False
) -> list[Worktree]:
    """The project's worktrees, lowest `order` first."""
    project_in(workspace.store.state, project_id)
    return workspace.store.state.worktrees_of(project_id, archived=include_archived)


@command
async def get_worktree(workspace: "Workspace", worktree_id: str) -> Worktree:
    """One worktree."""
    return worktree_in(workspace.store.state, worktree_id)


@command
async def create_worktree(
    workspace: "Workspace",
    project_id: str,
    base_branch: str | None = None,
    custom_name: str | None = None,
    issue_context: IssueContext | None = None,
    pr_context: PullRequestContext | None = None,
) -> Worktree:
    """Make a worktree on a new branch, or (`prContext`) on the head of a pull request.

    Answers at once with the worktree as it will be; `worktree:created` or
    `worktree:create_error` follows, then the repository's `setup`. What the issue or the pull
    request says, with its comments as far as the hosting service tells them, goes to the agent
    with the first message of each session.
    """
    worktree = await creation.announce(
        workspace.store,
        workspace.directories,
        project_id,
        base_branch,
        custom_name,
        issue=issue_context,
        pull_request=pr_context,
    )
    workspace.run_in_background(_make(workspace, worktree, issue_context, pr_context))
    return worktree


@command
async def open_base_worktree(workspace: "Workspace", project_id: str) -> Worktree:
    """The project's own directory as a place for sessions (`session_type` `base`)."""
    return await archiving.open_base(workspace.store, project_id)


@command
async def recreate_worktree(workspace: "Workspace", worktree_id: str) -> Worktree:
    """Check a worktree's branch out again whose directory was removed by hand."""
    was = worktree_in(workspace.store.state, worktree_id).status
    worktree = await archiving.recreate(workspace.store, worktree_id)
    if was == "missing":
        workspace.run_in_background(workspace.scripts.set_up(worktree_id))
    return worktree


@command
async def list_outside_worktrees(workspace: "Workspace", project_id: str) -> list[OutsideWorktree]:
    """The worktrees of the project's repository that were made outside Spinney, by git's list."""
    return await adopting.outside(workspace.store.state, project_id)


@command
async def adopt_worktree(
    workspace: "Workspace", project_id: str, path: Annotated[str, PATH]
) -> Worktree:
    """Take up a worktree that was made outside Spinney, as `list_outside_worktrees` gives it.

    Its folder and branch stay as they are for ever: Spinney neither moves, renames nor deletes
    them. Removing it takes it out of Spinney, with its sessions.
    """
    return await adopting.adopt(workspace.store, project_id, path)


@command
async def rename_worktree(workspace: "Workspace", worktree_id: str, new_name: str) -> Worktree:
    """Rename a worktree and its branch; of one that was adopted only what Spinney calls it.

    Its folder moves along unless something works in it, or an agent has a conversation there.
    """
    in_use = workspace.scripts.runs_in(worktree_id)
    return await renaming.rename(workspace.store, worktree_id, new_name, in_use=in_use)


@command
async def reorder_worktrees(
    workspace: "Workspace", project_id: str, worktree_ids: list[str]
) -> None:
    """Put the project's worktrees in this order; those not named follow."""
    await archiving.reorder(workspace.store, project_id, worktree_ids)


@command
async def archive_worktree(workspace: "Workspace", worktree_id: str) -> None:
    """Put a worktree away; its files stay. Refused while one of its sessions works."""
    await archiving.archive(workspace.store, worktree_id)
    await workspace.scripts.stop(worktree_id)


@command
async def delete_worktree(workspace: "Workspace", worktree_id: str) -> None:
    """Move a worktree to the archive; its files stay."""
    await archive_worktree.function(workspace, worktree_id)


@command
async def unarchive_worktree(workspace: "Workspace", worktree_id: str) -> Worktree:
    """Bring an archived worktree back."""
    return await archiving.unarchive(workspace.store, worktree_id)


@command
async def get_removal_losses(workspace: "Workspace", worktree_id: str) -> RemovalLosses:
    """What would be lost if a worktree were deleted for good, and which sessions are at work."""
    found = await workspace.removals.losses(worktree_id)
    state = workspace.store.state
    sessions = state.sessions_of(worktree_id, archived=True)
    return RemovalLosses(
        files=found.files,
        commits=found.commits,
        sessions=len(sessions),
        running=[s.name for s in sessions if s.is_active],
    )


@command
async def remove_worktree(
    workspace: "Workspace", worktree_id: str, force: bool = False, for_good: bool = False
) -> None:
    """Remove a worktree as `removal_behavior` says: archive it, or delete it for good.

    `forGood` deletes it whatever that preference says. Deleting is refused while work would be
    lost, or when `teardown` fails or is not trusted, unless `force` is given. Of a worktree that
    was adopted, folder and branch stay.
    """
    archives = workspace.store.state.preferences.removal_behavior == "archive"
    if archives and not for_good:
        await archive_worktree.function(workspace, worktree_id)
        return
    await workspace.removals.remove(worktree_id, force=force)


@command
async def mark_worktree_opened(workspace: "Workspace", worktree_id: str) -> None:
    """Note that a person looks at a worktree now; `last_opened_at` tells."""
    worktree = worktree_in(workspace.store.state, worktree_id)
    opened = worktree.model_copy(update={"last_opened_at": time.time()})
    workspace.store.record(WorktreeUpdated(worktree=opened))


@command
async def update_worktree_label(
    workspace: "Workspace",
    worktree_id: str,
    label: Annotated[Label, AfterValidator(_checked_label)] | None,
) -> None:
    """Set or (`null`) clear a worktree's label: a name of 1 to 50 characters, and a hex colour."""

    def changed(state: State) -> list[Event]:
        worktree = worktree_in(state, worktree_id)
        labelled = worktree.model_copy(update={"label": label})
        return [] if labelled == worktree else [WorktreeUpdated(worktree=labelled)]

    await workspace.store.accept(changed)


async def _make(
    workspace: "Workspace",
    worktree: Worktree,
    issue: IssueContext | None,
    pull_request: PullRequestContext | None,
) -> None:
    root = Path(project_in(workspace.store.state, worktree.project_id).path)
    keeping = workspace.contexts.keep(worktree.id, root, issue, pull_request)
    workspace.run_in_background(keeping)
    with workspace.scripts.expecting_setup(worktree.id):
        if await creation.create(workspace.store, workspace.slow_work, worktree, pull_request):
            await workspace.scripts.set_up(worktree.id)
