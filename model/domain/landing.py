"""Landing: what brings a worktree's branch into its base branch."""

from typing import Literal

from pydantic import Field

from model.domain.conflicts import ConflictSummary
from model.domain.hosting import CheckState, MergeMethod, PullRequestPhase
from model.domain.resource import Resource

NextStep = Literal[
    "answer", "wait", "commit", "resolve", "fix", "review", "check", "update", "land", "merge",
    "archive",
]  # fmt: skip
"""What to do next with a worktree: `answer` its session, which waits for a person; `wait` for a
running session, check or pull request; `resolve` conflicts; `fix` a red check or review comments;
`update` from the base; `land` it in the base, by whatever method; `merge` its pull request, at the
hosting service; `archive` what is merged or has nothing to land."""

AfterLanding = Literal["keep", "archive", "delete"]
"""What becomes of a worktree that has landed."""

MergedBy = Literal["commits", "squash", "content", "pull_request"]
"""How a branch is known to be merged: its commits are in the base; their patches are, together or
one by one; the base has the same content; its pull request was merged."""


class CheckResult(Resource):
    """The result of the repository's `check` script in a worktree."""

    worktree_id: str
    status: Literal["none", "running", "passed", "failed", "stopped"]
    """`none`: it never ran, or there is no such script."""
    has_script: bool = True
    is_missing: bool = False
    """Whether the branch has no such script, and its base has one."""
    tree: str = ""
    """The id of the git tree that it ran on: everything in the worktree, uncommitted files too."""
    is_stale: bool = False
    """Whether anything has changed since."""
    started_at: float | None = None
    ended_at: float | None = None
    exit_code: int | None = None
    error: str = ""


class ReviewProgress(Resource):
    """How much of a worktree's changes a person has decided about."""

    hunks: int = 0
    accepted: int = 0
    rejected: int = 0
    """Rejected hunks that have not been sent to a session yet."""
    files: int = 0
    viewed: int = 0


class DeskPullRequest(Resource):
    """The pull request of a row."""

    number: int
    url: str
    phase: PullRequestPhase | None
    """Null until the hosting service has answered."""
    checks: CheckState | None = None
    """All of them together; null without any."""
    unresolved: int = 0
    """Threads of review comments."""
    unanswered: int = 0
    """Comments of the conversation."""


class LandingRow(Resource):
    """A worktree on the landing desk."""

    worktree_id: str
    name: str
    branch: str
    base: str
    files: int = 0
    """Files that differ from the base, uncommitted ones included; `added` and `removed` are their
    lines."""
    added: int = 0
    removed: int = 0
    ahead: int = 0
    behind: int = 0
    uncommitted: int = 0
    """Files."""
    conflicts: list[ConflictSummary] = Field(default_factory=list)
    review: ReviewProgress = Field(default_factory=ReviewProgress)
    check: CheckResult
    pull_request: DeskPullRequest | None = None
    merged: MergedBy | None = None
    reverted: bool = False
    """Its changes were in the base, which has taken some of them back since; not `merged`."""
    next: NextStep
    reason: str
    """Why that is next, as a short sentence."""
    new_base: str = ""
    """The branch in which its base has landed, and onto which it has to be moved before it can land
    (`set_worktree_base`)."""


class LandingDesk(Resource):
    """The result of `get_landing_desk`."""

    project_id: str
    rows: list[LandingRow]
    """Those for which something can be done now come first."""
    suggested_train: list[str] = Field(default_factory=list)
    """The worktrees that can land together, in the order with the fewest conflicts."""
    can_undo: str | None = None
    """The id of the newest landing, while nothing came after it."""


class LandingPreview(Resource):
    """The result of `preview_landing`: what landing a worktree would do. Nothing is changed."""

    worktree_id: str
    base: str
    base_commit: str
    """The base's commit that was looked at; `land_worktree` takes it."""
    head_commit: str
    method: MergeMethod
    commits: int
    files: int
    added: int
    removed: int
    conflicts: list[str] = Field(default_factory=list)
    """Files in which it conflicts with the base."""
    marked_files: list[str] = Field(default_factory=list)
    """Files to which it adds conflict markers; for a warning."""
    message: str = ""
    """The message of the merge or squash commit, as the commits suggest it; empty for `rebase`."""
    check: CheckResult
    checked_out_in: str | None = None
    """The directory in which the base is checked out, which follows it."""
    after: AfterLanding = "keep"
    warnings: list[str] = Field(default_factory=list)
    """What a person should know before it lands, as sentences."""
    offers_stash: bool = False
    """Whether that are uncommitted changes in the base's checkout alone, so that it lands with
    `stash_base`, which brings them back then."""
    offers_train: bool = False
    """Whether a train of it alone would show more: its check has not passed, or not on what the
    base has become since."""
    new_base: str = ""
    """As in `LandingRow`."""
    problem: str = ""
    """Why it cannot land now, and the next step; empty if it can."""
    held_by_check: bool = False
    """Whether that is the check alone, so that it lands with `ignore_check`."""


class Landing(Resource):
    """A branch, or several of a train, that came into the base."""

    id: str
    project_id: str
    worktree_ids: list[str]
    base: str
    before: str
    """The commit of the base before it; `after` the one after it."""
    after: str
    method: MergeMethod
    landed_at: float
    undone_at: float | None = None
    notes: list[str] = Field(default_factory=list)
    """What a person should know of it, as sentences: a checkout that could not follow, a worktree
    that was kept, how to take it back after a push."""


class TrainCar(Resource):
    """A worktree of a train."""

    worktree_id: str
    branch: str
    head_commit: str
    below: str = ""
    """The branch of one before it that it starts from, if it does."""
    since: str = ""
    """The commit after which its own begin then."""
    status: Literal["waiting", "merging", "checking", "ready", "conflict", "failed", "left_out"]
    """`left_out`: it comes after the one that stopped the train. One that is in `conflict` or
    `failed` does not land."""
    commit: str = ""
    """The commit with it and all before it."""
    conflicts: list[str] = Field(default_factory=list)
    """Files."""
    siblings: list[str] = Field(default_factory=list)
    """The branches before it that it is in conflict with; empty if it is with the base. No session
    is asked to resolve that: it would merge branches that have not landed."""
    check: Literal["none", "passed", "failed"] = "none"
    error: str = ""


class Train(Resource):
    """Several worktrees that are brought in one on top of the other."""

    id: str
    project_id: str
    base: str
    base_commit: str
    method: MergeMethod
    with_check: bool
    keep_going: bool = False
    """Whether a car that is in conflict or red is left out, and the others go on without it."""
    status: Literal["running", "stopped", "ready", "landed", "outdated", "failed"]
    """`ready`: it ran to its end. `stopped` by a conflict or a red check, or by a person. The cars
    that are `ready` can land in either case. `outdated`: the base or a branch has moved; run it
    again."""
    cars: list[TrainCar]
    started_at: float
    ended_at: float | None = None
    error: str = ""
    landing_id: str | None = None


class SweepRow(Resource):
    """A worktree, as the sweep shows it."""

    worktree_id: str
    project_id: str
    name: str
    branch: str
    size: int | None = None
    """Bytes on disk of its directory; null while that is being measured or if it cannot be."""
    last_used_at: float
    merged: MergedBy | None = None
    uncommitted: int = 0
    """Files, untracked ones included."""
    unpushed: int = 0
    """Commits that are on no other branch and on no remote. Of a merged one their changes are in
    the base; what was committed after that is not merged."""
    besides: list[str] = Field(default_factory=list)
    """What else would be lost or stands against it, each as a phrase: worktrees and repositories
    inside it with work of their own, what cannot be read, a lock."""
    reverted: bool = False
    """Its changes were in the base, which has taken some of them back since; not `merged`."""
    archived: bool = False
    is_running: bool = False
    adopted: bool = False


class Sweep(Resource):
    """The result of `list_sweep`."""

    rows: list[SweepRow]
    """Those that can go without a loss come first, the largest of them first."""
    free_bytes: int | None
    """Free space on the disk with the worktrees."""
    total: int = 0
    """How many worktrees there are, of which these may be a page."""


class Swept(Resource):
    """What became of a worktree in `sweep_worktrees`."""

    worktree_id: str
    ok: bool
    message: str
    """What was done, or why nothing was, as a sentence."""
    recovery_id: str | None = None
    """The recovery point that brings it back."""
