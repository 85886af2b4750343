"""Implements `model.api.hosting`."""

from pathlib import Path
from typing import TYPE_CHECKING

from model.api import hosting as api
from model.commands.registry import implements
from model.domain.hosting import OpenIssue, OpenPullRequest
from model.hosting.github import open_items
from model.worktrees import require_project

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.list_issues)
async def list_issues(workspace: "Workspace", project_id: str) -> list[OpenIssue]:
    project = require_project(workspace.store.state, project_id)
    return await open_items.list_open_issues(Path(project.path))


@implements(api.list_pull_requests)
async def list_pull_requests(workspace: "Workspace", project_id: str) -> list[OpenPullRequest]:
    project = require_project(workspace.store.state, project_id)
    return await open_items.list_open_pull_requests(Path(project.path))
