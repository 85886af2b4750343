"""Landing: from finished worktrees to the base branch."""

from typing import Annotated, Final

from pydantic import Field

from model.api.command import command
from model.domain.hosting import MergeMethod
from model.domain.landing import (
    AfterLanding,
    CheckResult,
    Landing,
    LandingDesk,
    LandingPreview,
    Sweep,
    Swept,
    Train,
)
from model.domain.messages import SessionMessage
from model.domain.resource import Resource

MAX_SWEEP_ROWS: Final = 200
"""Worktrees that `list_sweep` returns at a time, if a `limit` is given."""


class LandingMessage(Resource):
    """The result of `write_landing_message`."""

    message: str


@command
async def get_landing_desk(project_id: str) -> LandingDesk:
    """Get the worktrees of a project that have something to land, with what is next for each.

    `landing:updated` says that it has changed.
    """


@command
async def get_check_result(worktree_id: str) -> CheckResult:
    """Get the result of the repository's `check` script in a worktree.

    `run_worktree_script` runs it; a result belongs to the files that it ran on.
    """


@command
async def preview_landing(worktree_id: str, method: MergeMethod | None = None) -> LandingPreview:
    """Compute what landing a worktree would do; nothing is changed."""


@command
async def write_landing_text(worktree_id: str) -> LandingMessage:
    """Write the message of a merge or squash commit from the session and the changes, by the agent
    of the prompt `commit_message`.
    """


@command
async def land_worktree(
    worktree_id: str,
    base_commit: str,
    method: MergeMethod | None = None,
    message: str | None = None,
    after: AfterLanding | None = None,
    delete_remote_branch: bool = False,
    ignore_check: bool = False,
    stash_base: bool = False,
) -> Landing:
    """Bring a worktree's branch into its local base branch: `merge`, `squash` or `rebase`.

    It happens beside all checkouts. A checkout of the base follows if it is clean; with `stashBase`
    uncommitted changes there are stashed before, and brought back then. Fails with
    `conflict`, and changes nothing, if the base is not at `baseCommit` (of `preview_landing`) any
    more, if something is uncommitted or in conflict, or if the `check` script is red or stale and
    `ignoreCheck` is not given. `undo_landing` takes it back.
    """


@command
async def list_landings(project_id: str, limit: int = 20) -> list[Landing]:
    """List what landed, newest first."""


@command
async def undo_landing(landing_id: str) -> Landing:
    """Take a landing back: the base returns to where it was; deleted worktrees are restored.

    Fails with `conflict` once something came after it in the base, or it was pushed.
    """


@command
async def push_base(
    project_id: str, branch: str | None = None, allowed_secrets: list[str] | None = None
) -> None:
    """Push the base branch, by default the project's, to the branch of its remote; never forces.

    Refuses with `conflict` commits with what looks like a secret, as `git_push` does.
    """


@command
async def write_landing_message(worktree_id: str) -> LandingMessage:
    """Write a message for a session of a worktree about what keeps it from landing: its conflict
    with the base, or a red check with the end of its output.

    Fails with `conflict` if nothing does.
    """


@command
async def send_landing_message(worktree_id: str, session_id: str | None = None) -> SessionMessage:
    """Send that message to a session: the given one, the one that was used last, or a new one."""


@command
async def start_train(
    project_id: str,
    worktree_ids: list[str],
    method: MergeMethod | None = None,
    with_check: bool = True,
    keep_going: bool = False,
) -> Train:
    """Bring several worktrees in, each on top of the one before, and run `check` after each.

    It happens beside all checkouts, and the base stays where it is until `land_train`. Stops at the
    first conflict or red check; with `keepGoing` it goes on without that worktree. `train:updated`
    reports each step.
    """


@command
async def get_train(project_id: str) -> Train | None:
    """Get the newest train of a project that has not been discarded."""


@command
async def get_train_output(train_id: str, worktree_id: str) -> LandingMessage:
    """Get the output of the check after a worktree of a train: its last 64,000 characters."""


@command
async def stop_train(train_id: str) -> Train:
    """Stop a running train; what is ready can land."""


@command
async def land_train(
    train_id: str,
    after: AfterLanding | None = None,
    delete_remote_branch: bool = False,
    stash_base: bool = False,
) -> Landing:
    """Move the base to the last worktree of a train that is ready, with all that are ready.

    `stashBase` as for `land_worktree`.

    Fails with `conflict`, and changes nothing, if the base or one of the branches has moved.
    """


@command
async def discard_train(train_id: str) -> None:
    """Forget a train, and stop it if it is running. Branches and base stay as they are."""


@command
async def list_sweep(
    project_id: str | None = None,
    with_sizes: bool = True,
    limit: Annotated[int, Field(ge=1, le=MAX_SWEEP_ROWS)] | None = None,
    offset: Annotated[int, Field(ge=0)] = 0,
    worktree_ids: list[str] | None = None,
) -> Sweep:
    """List all worktrees of a project, or of all projects, with what deleting each would free and
    lose; or only those of `worktreeIds`.

    With `limit`, 1 to 200, so many of them at most, the oldest first; `offset` counts from the
    oldest one. Git reads each worktree for this, so a list of all can take minutes.
    """


@command
async def sweep_worktrees(
    worktree_ids: list[str],
    action: AfterLanding,
    force: bool = False,
    delete_remote_branch: bool = False,
) -> list[Swept]:
    """Archive or delete worktrees, one after the other, each with a recovery point.

    One that has uncommitted or unmerged work, also in worktrees and repositories inside it, or a
    session at work, is left alone unless `force` is given.
    """
