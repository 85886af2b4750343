"""Commands about worktrees: making, renaming, putting away, bringing back, removing."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator

from model.api.command import PATH, command
from model.base.text import clean_line
from model.domain.resources import Label, Resource, Worktree
from model.domain.worktrees import IssueContext, OutsideWorktree, PullRequestContext

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
async def list_worktrees(project_id: str, include_archived: bool = False) -> list[Worktree]:
    """The project's worktrees, lowest `order` first."""


@command
async def get_worktree(worktree_id: str) -> Worktree:
    """One worktree."""


@command
async def create_worktree(
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


@command
async def open_base_worktree(project_id: str) -> Worktree:
    """The project's own directory as a place for sessions (`session_type` `base`)."""


@command
async def recreate_worktree(worktree_id: str) -> Worktree:
    """Check a worktree's branch out again whose directory was removed by hand."""


@command
async def list_outside_worktrees(project_id: str) -> list[OutsideWorktree]:
    """The worktrees of the project's repository that were made outside Spinney, by git's list."""


@command
async def adopt_worktree(project_id: str, path: Annotated[str, PATH]) -> Worktree:
    """Take up a worktree that was made outside Spinney, as `list_outside_worktrees` gives it.

    Its folder and branch stay as they are for ever: Spinney neither moves, renames nor deletes
    them. Removing it takes it out of Spinney, with its sessions.
    """


@command
async def rename_worktree(worktree_id: str, new_name: str) -> Worktree:
    """Rename a worktree and its branch; of one that was adopted only what Spinney calls it.

    Its folder moves along unless something works in it, or an agent has a conversation there.
    """


@command
async def reorder_worktrees(project_id: str, worktree_ids: list[str]) -> None:
    """Put the project's worktrees in this order; those not named follow."""


@command
async def archive_worktree(worktree_id: str) -> None:
    """Put a worktree away; its files stay. Refused while one of its sessions works."""


@command
async def delete_worktree(worktree_id: str) -> None:
    """Move a worktree to the archive; its files stay."""


@command
async def unarchive_worktree(worktree_id: str) -> Worktree:
    """Bring an archived worktree back."""


@command
async def get_removal_losses(worktree_id: str) -> RemovalLosses:
    """What would be lost if a worktree were deleted for good, and which sessions are at work."""


@command
async def remove_worktree(worktree_id: str, force: bool = False, for_good: bool = False) -> None:
    """Remove a worktree as `removal_behavior` says: archive it, or delete it for good.

    `forGood` deletes it whatever that preference says. Deleting is refused while work would be
    lost, or when `teardown` fails or is not trusted, unless `force` is given. Of a worktree that
    was adopted, folder and branch stay.
    """


@command
async def mark_worktree_opened(worktree_id: str) -> None:
    """Note that a person looks at a worktree now; `last_opened_at` tells."""


@command
async def update_worktree_label(
    worktree_id: str, label: Annotated[Label, AfterValidator(_checked_label)] | None
) -> None:
    """Set or (`null`) clear a worktree's label: a name of 1 to 50 characters, and a hex colour."""
