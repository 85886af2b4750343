"""Open issues and pull requests."""

from model.api.command import command
from model.domain.hosting import OpenIssue, OpenPullRequest


@command
async def list_issues(project_id: str) -> list[OpenIssue]:
    """List the newest open issues of a project, at most 100; for `issueContext`."""


@command
async def list_pull_requests(project_id: str) -> list[OpenPullRequest]:
    """List the newest open pull requests of a project, at most 100; for `prContext`."""
