"""Issues, pull requests, workflow runs and alerts at a hosting service or an issue tracker.

All texts were written by other people.
"""

from typing import Literal

from pydantic import Field

from model.domain.resource import Resource

HostingService = Literal["github", "gitlab"]


class HostingRemote(Resource):
    """A remote at a hosting service."""

    name: str
    url: str
    owner: str
    """At GitLab with all groups: `group/subgroup`."""
    repo: str
    service: HostingService = "github"
    host: str = ""
    pull_requests_url: str = ""
    """The URL of a pull request without its number."""


WorkKind = Literal[
    "issue", "pull_request", "workflow_run", "security_alert", "advisory", "tracker_issue"
]
"""What work can begin from."""

ItemState = Literal["open", "closed", "all"]

PullRequestPhase = Literal[
    "draft",
    "open",
    "approved",
    "changes_requested",
    "in_conflict",
    "queued",
    "merged",
    "closed",
]
"""Where a pull request stands; finer than `cached_pr_status` of a worktree."""

CheckState = Literal["queued", "running", "passed", "failed", "cancelled", "skipped", "waiting"]
"""`waiting`: for a person, such as the approval of a deployment."""

MergeMethod = Literal["merge", "squash", "rebase"]


class ItemLabel(Resource):
    """A label of an issue or a pull request."""

    name: str
    color: str = ""
    """Hex color code, `#rrggbb`, or empty."""


class WorkItem(Resource):
    """The fields that everything has that work can begin from."""

    kind: WorkKind
    id: str
    """Identifies it among those of its kind and project: a number, or `ENG-12` of a tracker."""
    title: str
    state: str = ""
    """In the service's own word, in lower case: `open`, `closed`, `failure`, `In Progress`."""
    url: str = ""
    author: str = ""
    updated_at: float | None = None
    worktree_ids: list[str] = Field(default_factory=list)
    """The worktrees that were created from it, or are its branch; archived ones not included."""


class OpenIssue(WorkItem):
    """An issue."""

    kind: WorkKind = "issue"
    number: int
    body: str = ""
    labels: list[ItemLabel] = Field(default_factory=list)
    assignees: list[str] = Field(default_factory=list)
    comment_count: int = 0


class OpenPullRequest(WorkItem):
    """A pull request."""

    kind: WorkKind = "pull_request"
    number: int
    head_ref_name: str
    base_ref_name: str
    draft: bool = False
    is_from_fork: bool = False
    labels: list[ItemLabel] = Field(default_factory=list)
    assignees: list[str] = Field(default_factory=list)
    comment_count: int = 0


class WorkflowRun(WorkItem):
    """A run of a workflow; the checks of a commit that is on no pull request are such runs."""

    kind: WorkKind = "workflow_run"
    workflow: str
    branch: str
    commit: str
    number: int = 0
    """Its number among the runs of its workflow."""


class SecurityAlert(WorkItem):
    """A dependency with a known vulnerability."""

    kind: WorkKind = "security_alert"
    number: int
    package: str
    ecosystem: str = ""
    severity: str = ""
    """`low`, `medium`, `high` or `critical`."""
    manifest: str = ""
    """The path of the file that names the dependency."""
    vulnerable: str = ""
    """The range of vulnerable versions."""
    patched: str = ""
    """The first version without the vulnerability, or empty."""
    advisory: str = ""
    """Its id, such as `GHSA-…` or `CVE-…`."""


class Advisory(WorkItem):
    """A security advisory of the repository itself."""

    kind: WorkKind = "advisory"
    severity: str = ""
    cve: str = ""


class TrackerIssue(WorkItem):
    """An issue of the issue tracker."""

    kind: WorkKind = "tracker_issue"
    body: str = ""
    team: str = ""
    labels: list[ItemLabel] = Field(default_factory=list)
    assignees: list[str] = Field(default_factory=list)
    priority: str = ""
    branch_name: str = ""
    """The branch name that the tracker proposes, by which it recognizes the branch."""


class TrackerTeam(Resource):
    """A team of the issue tracker."""

    id: str
    key: str
    """The beginning of its issues' ids: `ENG`."""
    name: str


class Reviewer(Resource):
    """A person or team who was asked for a review, or gave one."""

    name: str
    """The login; `organization/team` for a team."""
    state: Literal["requested", "approved", "changes_requested", "commented", "dismissed"]
    is_team: bool = False


class Check(Resource):
    """A check of a pull request's newest commit."""

    id: str
    """Identifies it for `get_check_log`; of this service and this run only."""
    name: str
    """As the service shows it: `CI / test (3.12)`."""
    state: CheckState
    started_at: float | None = None
    ended_at: float | None = None
    url: str = ""
    summary: str = ""
    """What an app says of it, one line."""
    has_log: bool = False
    is_required: bool | None = None
    """Whether the base branch requires it; null if that is not known."""


class ReviewThreadComment(Resource):
    """A comment of a thread."""

    id: str
    author: str
    body: str
    created_at: float | None = None
    url: str = ""
    is_own: bool = False
    """Whether it was written by the account with which Spinney asks."""
    is_outsider: bool = False
    """Whether its author is a person without a role in the repository."""
    is_bot: bool = False
    """Whether its author is a program."""


class ReviewThread(Resource):
    """Comments on a place of a pull request, or of its conversation."""

    id: str
    path: str
    """Empty if it is on no place: a comment of the conversation, the text of a review, or a
    discussion."""
    line: int | None
    """The line in the new text; null if the place is gone or the whole file is meant."""
    is_resolved: bool = False
    resolve_note: str = ""
    """Why it cannot be resolved, as a sentence; empty if it can."""
    is_outdated: bool = False
    """Whether the lines have changed since; of the conversation, whether a later commit that is not
    a merge is on the branch."""
    needs_answer: bool = False
    """Of the conversation: whether another person wrote it, not as an approval, and this account
    wrote nothing there since. It is open while it is not outdated."""
    comments: list[ReviewThreadComment] = Field(default_factory=list)
    """The first one, and the last 20."""
    left_out: int = 0
    """Comments between them that are left out."""


class PullRequestDetails(Resource):
    """The result of `get_pull_request`."""

    number: int
    url: str
    title: str
    body: str
    phase: PullRequestPhase
    author: str
    is_own: bool | None = None
    """Whether it was opened by the account with which Spinney asks; null if that was not asked."""
    base: str
    head: str
    head_commit: str
    is_from_fork: bool = False
    behind: int | None = None
    """Commits of the base that the head lacks; null if that is not known."""
    reviewers: list[Reviewer] = Field(default_factory=list)
    checks: list[Check] = Field(default_factory=list)
    checks_note: str = ""
    """Why checks are missing, as a sentence."""
    threads: list[ReviewThread] = Field(default_factory=list)
    """The oldest first; those that are not resolved before the others."""
    threads_note: str = ""
    """Why threads are missing, as a sentence."""
    conversation: list[ReviewThread] = Field(default_factory=list)
    """Comments on the whole pull request that cannot be resolved, and texts of reviews; the newest
    100, the oldest of them first."""
    conversation_note: str = ""
    """Why comments of the conversation are missing, as a sentence."""
    merge_methods: list[MergeMethod] = Field(default_factory=list)
    """What the repository allows."""
    can_merge: bool = False
    merge_note: str = ""
    """Why it cannot be merged now, and the next step, as a sentence."""
    can_auto_merge: bool = False
    auto_merge: MergeMethod | None = None
    """The method with which it will be merged once everything holds; null if that is off."""
    has_queue: bool = False
    """Whether the base branch has a merge queue."""
    can_update: bool = False
    """Whether the head can be brought up to date with the base at the service."""
    must_rebase: bool = False
    """Whether that is possible only by a rebase, which rewrites the branch."""
    can_edit: bool = False
    fetched_at: float

    @property
    def unresolved_threads(self) -> list[ReviewThread]:
        """The threads that are not resolved."""
        return [thread for thread in self.threads if not thread.is_resolved]

    @property
    def unanswered_comments(self) -> list[ReviewThread]:
        """The comments of the conversation that wait for an answer."""
        return [one for one in self.conversation if one.needs_answer and not one.is_outdated]


class CheckLog(Resource):
    """The result of `get_check_log`."""

    check_id: str
    name: str
    text: str
    """The last lines of the steps that failed, at most 200 and 64,000 characters."""
    left_out: int = 0
    """Lines before them that are left out, as far as they were read."""
    url: str = ""


class OpenWork(Resource):
    """The result of `list_open_work`."""

    items: list["OpenWorkItem"]
    problems: list["OpenWorkProblem"]
    """The projects whose items could not be read."""


class OpenWorkItem(Resource):
    """An open issue or pull request of a project."""

    project_id: str
    item: OpenIssue | OpenPullRequest
    session_ids: list[str] = Field(default_factory=list)
    """The sessions in its worktrees, those at work first."""


class OpenWorkProblem(Resource):
    """Why the items of a project are missing."""

    project_id: str
    message: str
