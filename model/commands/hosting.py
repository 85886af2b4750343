"""Commands about what is open on the hosting service: issues and pull requests to begin from."""

from pathlib import Path
from typing import TYPE_CHECKING

from model.commands.registry import command
from model.hosting import open_items
from model.hosting.open_items import OpenIssue, OpenPullRequest
from model.worktrees import project_in

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@command
async def list_issues(workspace: "Workspace", project_id: str) -> list[OpenIssue]:
    """The project's newest open issues, as `gh` tells them; for `issueContext`."""
    project = project_in(workspace.store.state, project_id)
    return await open_items.open_issues(Path(project.path))


@command
async def list_pull_requests(workspace: "Workspace", project_id: str) -> list[OpenPullRequest]:
    """The project's newest open pull requests, as `gh` tells them; for `prContext`."""
    project = project_in(workspace.store.state, project_id)
    return await open_items.open_pull_requests(Path(project.path))
