"""Commands about what is open on the hosting service: issues and pull requests to begin from."""

from model.api.command import command
from model.domain.hosting import OpenIssue, OpenPullRequest


@command
async def list_issues(project_id: str) -> list[OpenIssue]:
    """The project's newest open issues, as `gh` tells them; for `issueContext`."""


@command
async def list_pull_requests(project_id: str) -> list[OpenPullRequest]:
    """The project's newest open pull requests, as `gh` tells them; for `prContext`."""
