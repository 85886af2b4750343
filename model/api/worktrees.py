"""Worktrees."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from model.api.command import PATH, command
from model.base.text import clean_line
from model.domain.resource import Resource
from model.domain.worktrees import (
    IncludedFiles,
    IssueContext,
    Label,
    OutsideWorktree,
    PullRequestContext,
    Worktree,
)

_MAX_LABEL_LENGTH: Final = 50


class RemovalLosses(Resource):
    """What deleting a worktree would destroy."""

    files: list[str]
    """Uncommitted files; paths in the worktree."""
    commits: int
    """The number of commits that are on no other branch and on no remote, nor merged."""
    besides: list[str] = Field(default_factory=list)
    """What else would be lost or stands against it, each as a phrase: worktrees and repositories
    inside it with work of their own, what cannot be read, a lock."""
    sessions: int
    """The number of sessions that would be deleted, archived ones included."""
    running: list[str]
    """The names of sessions that are at work; until they are done, nothing is deleted."""
    inside_at_work: list[str] = Field(default_factory=list)
    """What is at work in worktrees inside it, each as a sentence; nothing is deleted either."""


def _validate_label(label: Label) -> Label:
    """Check a label that a client sets; stored labels may differ."""
    name = clean_line(label.name)
    if not 0 < len(name) <= _MAX_LABEL_LENGTH:
        raise ValueError(f"name must have from 1 to {_MAX_LABEL_LENGTH} characters")
    if not re.fullmatch(r"#(?:[0-9a-fA-F]{3}){1,2}", label.color):
        raise ValueError("color must be a hex color code: #rgb or #rrggbb")
    return label.model_copy(update={"name": name})


@command
async def list_worktrees(project_id: str, include_archived: bool = False) -> list[Worktree]:
    """List the worktrees of a project, lowest `order` first."""


@command
async def get_worktree(worktree_id: str) -> Worktree:
    """Get one worktree."""


@command
async def create_worktree(
    project_id: str,
    base_branch: str | None = None,
    custom_name: str | None = None,
    issue_context: IssueContext | None = None,
    pr_context: PullRequestContext | None = None,
    branch: str | None = None,
) -> Worktree:
    """Create a worktree on a new branch, or (`prContext`) on the head of a pull request.

    With `branch` it is created on that existing branch, a local one or one of a remote, which must
    not be checked out anywhere; it stays when the worktree is deleted.

    Returns immediately with the worktree as it will be; `worktree:created` or
    `worktree:create_error` follows, then the repository's `setup` runs. The text of the issue or
    pull request, with its comments as far as the hosting service returns them, is passed to the
    agent with the first message of each session.
    """


@command
async def open_base_worktree(project_id: str) -> Worktree:
    """Open the project's own directory as a worktree (`session_type` `base`)."""


@command
async def recreate_worktree(worktree_id: str) -> Worktree:
    """Check out the branch of a worktree again whose directory was deleted by hand."""


@command
async def list_outside_worktrees(
    project_id: str, include_ignored: bool = False
) -> list[OutsideWorktree]:
    """List the worktrees of the project's repository that were created outside Spinney."""


@command
async def ignore_outside_worktree(
    project_id: str, path: Annotated[str, PATH], ignored: bool = True
) -> None:
    """Offer a worktree that was created outside Spinney no more, or (`ignored` false) again.

    `Project.outside_worktrees` counts those that are offered.
    """


@command
async def get_included_files(project_id: str) -> IncludedFiles:
    """List the ignored files of the project's directory that each new worktree gets.

    They are those that match `.worktreeinclude`, which has the syntax of `.gitignore`.
    """


@command
async def adopt_worktree(project_id: str, path: Annotated[str, PATH]) -> Worktree:
    """Add a worktree that was created outside Spinney, from `list_outside_worktrees`.

    Spinney never moves, renames or deletes its directory and branch. Removing it removes only its
    sessions and its entry in Spinney.
    """


@command
async def rename_worktree(worktree_id: str, new_name: str) -> Worktree:
    """Rename a worktree and its branch; of an adopted worktree, only the name in Spinney.

    Its directory is renamed too, unless it is in use or an agent has a conversation there.
    """


@command
async def set_worktree_base(
    worktree_id: str, base_branch: str, move_commits: bool = False
) -> Worktree:
    """Change the branch that a worktree is compared with and lands in.

    With `moveCommits` the commits that its present base lacks are copied on top of the new one, a
    recovery point is made first, and nothing may be uncommitted. Conflicts are left in the
    worktree. Fails with `conflict` if the new base starts from the worktree itself.
    """


@command
async def reorder_worktrees(project_id: str, worktree_ids: list[str]) -> None:
    """Set the order of a project's worktrees; those that are not listed follow."""


@command
async def archive_worktree(worktree_id: str) -> None:
    """Archive a worktree; its files stay.

    Fails with `conflict` while one of its sessions is at work.
    """


@command
async def delete_worktree(worktree_id: str) -> None:
    """Move a worktree to the archive; its files stay. `remove_worktree` deletes them."""


@command
async def unarchive_worktree(worktree_id: str) -> Worktree:
    """Restore an archived worktree."""


@command
async def get_removal_losses(worktree_id: str) -> RemovalLosses:
    """Get what only this worktree has and would be deleted, and which sessions are at work."""


@command
async def remove_worktree(worktree_id: str, force: bool = False, for_good: bool = False) -> None:
    """Archive or delete a worktree, as the preference `removal_behavior` says.

    A recovery point is made first. `forGood` deletes it in any case. Unless `force` is given,
    deleting fails if work exists only there, also in worktrees and repositories inside it, if git
    has locked it, or if `teardown` fails or is not trusted. The directory and branch of an adopted
    worktree stay.
    """


@command
async def mark_worktree_opened(worktree_id: str) -> None:
    """Record that a user is looking at a worktree, in its `last_opened_at`."""


@command
async def update_worktree_label(
    worktree_id: str, label: Annotated[Label, AfterValidator(_validate_label)] | None
) -> None:
    """Set or (`null`) clear a worktree's label: a name of 1 to 50 characters, and a hex color."""
