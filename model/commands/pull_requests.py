"""Implements `model.api.pull_requests`."""

from pathlib import Path
from typing import TYPE_CHECKING

from model.api import pull_requests as api
from model.base.errors import SpinneyError
from model.commands.registry import implements
from model.domain.events.base import Event
from model.domain.events.program import TaskCompleted
from model.domain.events.worktrees import WorktreeUpdated
from model.git import remotes, repositories
from model.git.branch_tips import read_branch_tips
from model.git.history import list_commits_since
from model.git.secret_gate import SearchedText, SecretGate, make_gate
from model.hosting.forges import find_forge, is_pull_request_url
from model.state import State
from model.worktrees import require_project, require_worktree
from model.writing.pull_request_text import Proposal, generate_pull_request_text

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.open_pull_request)
async def open_pull_request(
    workspace: "Workspace",
    worktree_id: str,
    title: str | None = None,
    body: str | None = None,
    draft: bool = False,
    allowed_secrets: list[str] | None = None,
    mask_secrets: bool = False,
) -> api.OpenedPullRequest:
    worktree = require_worktree(workspace.store.state, worktree_id)
    project = require_project(workspace.store.state, worktree.project_id)
    path = Path(worktree.path)
    names = await repositories.list_remote_names(path)
    base_ref = worktree.base_branch or project.default_branch
    base = _without_remote(base_ref, names)
    branch = await _branch_to_propose(path, base)
    remote = await _choose_remote(path, branch, names)
    commits = await list_commits_since(path, base_ref)
    if not commits:
        raise _nothing_to_propose(branch, base)
    forge = await find_forge(path)
    await forge.check_access(path)  # Before pushing or writing anything.
    gate = make_gate(workspace.store.state, project, allowed_secrets)

    def check(name: str, text: str) -> SearchedText:
        return gate.mask_text(text) if mask_secrets else gate.check_text(name, text, "pull_request")

    given_title = check("title", title) if title else None
    given_body = check("description", body) if body is not None else None
    await _push_if_needed(path, remote, branch, gate)
    proposal = Proposal(worktree, branch, base, base_ref, commits)
    text = await generate_pull_request_text(workspace.writer, proposal, given_title, given_body)
    # No person has seen what was written.
    final_title = given_title or gate.mask_text(text.title)
    final_body = gate.mask_text(text.body) if given_body is None else given_body
    if text.problem is not None:
        _report_fallback(workspace, worktree_id, text.problem)
    opened = await forge.open_pull_request(path, base, final_title, final_body, draft=draft)
    await _save_link(workspace, worktree_id, opened.number, opened.url)
    detail = f"#{opened.number} {opened.url}"
    workspace.store.record(
        TaskCompleted(task="open_pull_request", ok=True, detail=detail, worktree_id=worktree_id)
    )
    workspace.poller.refresh(worktree_id)
    workspace.poller.refresh_hosting(worktree_id)
    return api.OpenedPullRequest(pr_number=opened.number, pr_url=opened.url)


@implements(api.save_worktree_pr)
async def save_worktree_pr(
    workspace: "Workspace", worktree_id: str, pr_number: int, pr_url: str
) -> None:
    if pr_number < 1:
        raise SpinneyError("Invalid field 'prNumber': must be at least 1")
    if not is_pull_request_url(pr_url):
        raise SpinneyError(
            "Invalid field 'prUrl': must be the URL of a pull request (https://…/pull/1)"
        )
    await _save_link(workspace, worktree_id, pr_number, pr_url)
    workspace.poller.refresh_hosting(worktree_id)


@implements(api.clear_worktree_pr)
async def clear_worktree_pr(workspace: "Workspace", worktree_id: str) -> None:
    await _save_link(workspace, worktree_id, None, None)


async def _save_link(
    workspace: "Workspace", worktree_id: str, number: int | None, url: str | None
) -> None:
    """Save which pull request a worktree has; its state is not known yet."""

    def link(state: State) -> list[Event]:
        known = require_worktree(state, worktree_id)
        changes = {
            "pr_number": number,
            "pr_url": url,
            "cached_pr_status": None,
            "cached_pr_head": None,
            "cached_check_status": None,
            "archive_when_idle": False,
            "dismissed_pr": None if number else known.pr_number or known.dismissed_pr,
        }
        return [WorktreeUpdated(worktree=known.model_copy(update=changes))]

    await workspace.store.accept(link)


def _report_fallback(workspace: "Workspace", worktree_id: str, problem: str) -> None:
    """Report that the text is not the agent's; the pull request is opened nevertheless."""
    detail = f"The pull request's text comes from the commits, not from the agent: {problem}"
    task = "write_pull_request"
    workspace.store.record(
        TaskCompleted(task=task, ok=False, detail=detail, worktree_id=worktree_id)
    )


def _without_remote(base: str, names: list[str]) -> str:
    """The branch name in its own repository: `main` for `origin/main`."""
    named = (base.removeprefix(f"{name}/") for name in names if base.startswith(f"{name}/"))
    return next(named, base)


async def _choose_remote(path: Path, branch: str, names: list[str]) -> str:
    """The remote to push to: where the branch was pushed before, else `origin` or the only one."""
    tips = (await read_branch_tips(path)).commits
    pushed = [name for name in names if f"refs/remotes/{name}/{branch}" in tips]
    for candidates in (pushed, names):
        if "origin" in candidates:
            return "origin"
        if len(candidates) == 1:
            return candidates[0]
    raise SpinneyError(
        f"None of the remotes ({', '.join(names)}) is called 'origin'. Push the branch to the "
        "right one yourself, then try again.",
        "conflict",
    )


async def _branch_to_propose(path: Path, base: str) -> str:
    branch = await repositories.get_current_branch(path)
    if branch is None:
        raise SpinneyError(
            "No branch is checked out here (detached HEAD). Switch to one first.", "conflict"
        )
    if branch == base:
        raise SpinneyError(
            f"'{base}' cannot be merged into itself. Switch to another branch first.",
            "conflict",
        )
    return branch


def _nothing_to_propose(branch: str, base: str) -> SpinneyError:
    return SpinneyError(
        f"There is nothing to propose: '{branch}' has no commits that '{base}' lacks. "
        "Commit first.",
        "conflict",
    )


async def _push_if_needed(path: Path, remote: str, branch: str, gate: SecretGate) -> None:
    tips = (await read_branch_tips(path)).commits
    pushed = tips.get(f"refs/remotes/{remote}/{branch}")
    if pushed is not None and pushed == tips.get(f"refs/heads/{branch}"):
        return
    success, output = await remotes.push(path, remote, gate)
    if not success:
        raise SpinneyError(f"The branch could not be pushed: {output}", "git_error")
