"""Issues, pull requests, workflow runs and alerts to begin work from."""

from typing import Literal

from model.api.command import command
from model.domain.hosting import (
    Advisory,
    ItemState,
    OpenIssue,
    OpenPullRequest,
    OpenWork,
    SecurityAlert,
    TrackerIssue,
    TrackerTeam,
    WorkflowRun,
    WorkKind,
)
from model.domain.modes import ExecutionMode
from model.domain.resource import Resource
from model.domain.sessions import Session
from model.domain.worktrees import Worktree


class StartedWork(Resource):
    """The result of `start_work`."""

    worktree: Worktree
    session: Session | None
    """The session that investigates, if one was wanted."""


@command
async def list_issues(
    project_id: str,
    search: str = "",
    state: ItemState = "open",
    labels: list[str] | None = None,
    assignee: str = "",
    page: int = 1,
    refresh: bool = False,
) -> list[OpenIssue]:
    """List issues of a project, newest first, 100 per page; a shorter page is the last one.

    `assignee` is a login, or `@me`. An answer is at most a minute old; `refresh` asks the hosting
    service again.
    """


@command
async def list_pull_requests(
    project_id: str,
    search: str = "",
    state: ItemState = "open",
    labels: list[str] | None = None,
    assignee: str = "",
    page: int = 1,
    refresh: bool = False,
) -> list[OpenPullRequest]:
    """List pull requests of a project; pages and arguments are as in `list_issues`."""


@command
async def list_workflow_runs(
    project_id: str,
    state: Literal["failed", "all"] = "failed",
    branch: str = "",
    page: int = 1,
    refresh: bool = False,
) -> list[WorkflowRun]:
    """List runs of a project's workflows, newest first, 100 per page."""


@command
async def list_security_alerts(
    project_id: str, state: ItemState = "open", page: int = 1, refresh: bool = False
) -> list[SecurityAlert]:
    """List dependencies of a project with known vulnerabilities, 100 per page."""


@command
async def list_advisories(
    project_id: str, state: ItemState = "open", page: int = 1, refresh: bool = False
) -> list[Advisory]:
    """List a project's own security advisories, 100 per page; `open` are those not published."""


@command
async def list_tracker_issues(
    project_id: str,
    search: str = "",
    state: ItemState = "open",
    labels: list[str] | None = None,
    assignee: str = "",
    page: int = 1,
    refresh: bool = False,
) -> list[TrackerIssue]:
    """List issues of the project's team in the issue tracker, 100 per page.

    Needs `tracker_api_key`, of the project or of the preferences.
    """


@command
async def list_tracker_teams(project_id: str) -> list[TrackerTeam]:
    """List the teams of the issue tracker that the project's key, or the person's, can see."""


@command
async def list_open_work(
    search: str = "", kinds: list[WorkKind] | None = None, refresh: bool = False
) -> OpenWork:
    """List the open issues and pull requests of all projects, the latest changes first, with the
    worktrees and sessions that work on each; at most 100 of each kind and project.
    """


@command
async def get_work_text(project_id: str, kind: WorkKind, item_id: str) -> str:
    """Return an issue, a pull request, a workflow run or an alert as Markdown: title, facts,
    description, comments, and the end of the log of what failed.

    It has at most 64,000 characters, written by others; `start_work` gives agents the same text.
    """


@command
async def start_work(
    project_id: str,
    kind: WorkKind,
    item_id: str,
    investigate: bool = True,
    mode: ExecutionMode | None = None,
    name: str | None = None,
) -> StartedWork:
    """Create a worktree from an issue, a pull request, a workflow run or an alert, with its text
    and comments as context.

    With `investigate`, a session begins there with the prompt for this kind (`investigate_issue`
    and so on), with the agent, model and provider profile chosen for it.
    """
