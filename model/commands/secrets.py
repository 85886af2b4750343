"""Implements `model.api.secrets`."""

import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Final

from model.api import secrets as api
from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.commands.registry import implements
from model.domain.events.base import Event
from model.domain.events.projects import ProjectUpdated
from model.domain.projects import Project
from model.domain.secret_findings import Publishing, SecretReport
from model.git.refs import check_branch_name
from model.git.remote_branches import find_upstream
from model.git.repositories import get_current_branch
from model.git.secret_gate import (
    SecretGate,
    make_gate,
    search_commit,
    search_push,
    search_texts,
)
from model.projects.tree import without_secrets
from model.state import State
from model.worktrees import require_project, require_worktree

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_FINGERPRINT: Final = re.compile(r"[0-9a-f]{16}")
_MAX_ALLOWED: Final = 1000
_MAX_ABOUT: Final = 200


@implements(api.find_secrets)
async def find_secrets(
    workspace: "Workspace",
    before: Publishing,
    worktree_id: str | None = None,
    project_id: str | None = None,
    stage_all: bool = False,
    remote: str = "origin",
    title: str | None = None,
    body: str | None = None,
    branch: str | None = None,
) -> SecretReport:
    state = workspace.store.state
    worktree = None if worktree_id is None else require_worktree(state, worktree_id)
    project = require_project(state, worktree.project_id if worktree else project_id or "")
    root = Path(worktree.path if worktree else project.path)
    if before == "commit":
        report, _ = await search_commit(project, root, body or "", stage_all=stage_all)
        return report
    texts = search_texts(project, {"title": title or "", "description": body or ""})
    if before == "text":
        return texts
    if branch is not None:
        remote, name = await find_upstream(root, check_branch_name(branch))
        pushed = await search_push(project, root, remote, f"refs/heads/{branch}", name)
    else:
        name = await get_current_branch(root) or ""
        pushed = await search_push(project, root, remote, "HEAD", name)
    if before == "push":
        return pushed
    return pushed.model_copy(update={"findings": [*texts.findings, *pushed.findings]})


def open_gate(
    workspace: "Workspace", worktree_id: str, allowed: Collection[str] | None
) -> SecretGate:
    """Return the gate of a worktree's project; raises `not_found`."""
    state = workspace.store.state
    project = require_project(state, require_worktree(state, worktree_id).project_id)
    return make_gate(state, project, allowed)


@implements(api.allow_secret)
async def allow_secret(
    workspace: "Workspace", project_id: str, fingerprint: str, about: str = ""
) -> Project:
    if not _FINGERPRINT.fullmatch(fingerprint):
        raise SpinneyError("Invalid field 'fingerprint': must be one that find_secrets returned")

    def allow(state: State) -> list[Event]:
        project = require_project(state, project_id)
        allowed = {**project.allowed_secrets, fingerprint: clean_line(about)[:_MAX_ABOUT]}
        if len(allowed) > _MAX_ALLOWED:
            raise SpinneyError(
                f"At most {_MAX_ALLOWED} secrets can be allowed in a project.", "too_large"
            )
        return [_updated(project, allowed)]

    await workspace.store.accept(allow)
    return without_secrets(workspace.store.state.projects[project_id])


@implements(api.forget_allowed_secret)
async def forget_allowed_secret(
    workspace: "Workspace", project_id: str, fingerprint: str
) -> Project:
    def forget(state: State) -> list[Event]:
        project = require_project(state, project_id)
        if fingerprint not in project.allowed_secrets:
            raise SpinneyError("This secret is not allowed in the project.", "not_found")
        rest = {key: text for key, text in project.allowed_secrets.items() if key != fingerprint}
        return [_updated(project, rest)]

    await workspace.store.accept(forget)
    return without_secrets(workspace.store.state.projects[project_id])


def _updated(project: Project, allowed: dict[str, str]) -> ProjectUpdated:
    return ProjectUpdated(project=project.model_copy(update={"allowed_secrets": allowed}))
