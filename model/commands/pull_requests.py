"""Commands about the pull request of a worktree: opened, remembered, forgotten."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from model.commands.registry import command
from model.errors import SpinneyError
from model.events import Event, TaskCompleted, WorktreeUpdated
from model.git import remotes, repositories
from model.git.branch_tips import branch_tips
from model.git.history import CommitText, commits_since
from model.hosting import pull_requests
from model.resources import Resource, Worktree
from model.state import State
from model.text import clean, clean_line
from model.worktrees import project_in, worktree_in

if TYPE_CHECKING:
    from model.workspace import Workspace

_LONGEST_TITLE: Final = 256
_LONGEST_BODY: Final = 65_536
"""Characters; the hosting service takes no more of either."""


class OpenedPullRequest(Resource):
    """What `open_pull_request` gives."""

    pr_number: int
    pr_url: str


@command
async def open_pull_request(
    workspace: "Workspace",
    worktree_id: str,
    title: str | None = None,
    body: str | None = None,
    draft: bool = False,
) -> OpenedPullRequest:
    """Push the worktree's branch if need be, propose it, and remember the pull request.

    Title and body come from the commits where they are not given.
    """
    worktree = worktree_in(workspace.store.state, worktree_id)
    project = project_in(workspace.store.state, worktree.project_id)
    path = Path(worktree.path)
    remote = await _remote_of(path)
    base = (worktree.base_branch or project.default_branch).removeprefix(f"{remote}/")
    branch = await _branch_to_propose(path, base)
    commits = await commits_since(path, worktree.base_branch or project.default_branch)
    if not commits:
        raise SpinneyError(
            f"There is nothing to propose: “{branch}” has no commits that “{base}” lacks. "
            "Commit first.",
            "conflict",
        )
    await _push_if_needed(path, remote, branch)
    made = await pull_requests.open_pull_request(
        path,
        base,
        _title(title, commits, branch),
        _body(body, commits),
        draft=draft,
    )
    await _change(workspace, worktree_id, _proposed(made.number, made.url))
    done = f"#{made.number} {made.url}"
    workspace.store.record(
        TaskCompleted(task="open_pull_request", ok=True, detail=done, worktree_id=worktree_id)
    )
    workspace.poller.ask(worktree_id)
    workspace.poller.ask_hosting(worktree_id)
    return OpenedPullRequest(pr_number=made.number, pr_url=made.url)


@command
async def save_worktree_pr(
    workspace: "Workspace", worktree_id: str, pr_number: int, pr_url: str
) -> None:
    """Remember which pull request a worktree belongs to, and follow how it stands."""
    if pr_number < 1:
        raise SpinneyError("Invalid field 'prNumber': pull requests count from 1")
    if not pull_requests.is_link(pr_url):
        raise SpinneyError(
            "Invalid field 'prUrl': not the address of a pull request (https://…/pull/1)"
        )
    await _change(workspace, worktree_id, _proposed(pr_number, pr_url))
    workspace.poller.ask_hosting(worktree_id)


@command
async def clear_worktree_pr(workspace: "Workspace", worktree_id: str) -> None:
    """Forget a worktree's pull request; on the hosting service nothing changes."""
    await _change(workspace, worktree_id, _proposed(None, None))


async def _change(workspace: "Workspace", worktree_id: str, changes: dict[str, Any]) -> None:
    def accepted(state: State) -> list[Event]:
        changed: Worktree = worktree_in(state, worktree_id).model_copy(update=changes)
        return [WorktreeUpdated(worktree=changed)]

    await workspace.store.accept(accepted)


def _proposed(number: int | None, url: str | None) -> dict[str, Any]:
    """What a worktree knows of a pull request that nobody has looked at yet."""
    return {
        "pr_number": number,
        "pr_url": url,
        "cached_pr_status": None,
        "cached_check_status": None,
    }


async def _remote_of(path: Path) -> str:
    """Where the branch is pushed to: `origin`, or else the only remote."""
    names = [remote.name for remote in await repositories.remotes(path)]
    if "origin" in names or len(names) == 1:
        return "origin" if "origin" in names else names[0]
    if names:
        raise SpinneyError(
            f"None of the remotes ({', '.join(names)}) is called “origin”. Push the branch "
            "yourself, or rename the one that you push to.",
            "conflict",
        )
    raise SpinneyError(
        "The repository has no remote. Add one with “git remote add origin …”, then try again.",
        "conflict",
    )


async def _branch_to_propose(path: Path, base: str) -> str:
    branch = await repositories.current_branch(path)
    if branch is None:
        raise SpinneyError(
            "No branch is checked out here (detached HEAD): switch to one first.", "conflict"
        )
    if branch == base:
        raise SpinneyError(
            f"“{base}” cannot be proposed for merging into itself. Switch to another branch first.",
            "conflict",
        )
    return branch


async def _push_if_needed(path: Path, remote: str, branch: str) -> None:
    tips = (await branch_tips(path)).commits
    pushed = tips.get(f"refs/remotes/{remote}/{branch}")
    if pushed is not None and pushed == tips.get(f"refs/heads/{branch}"):
        return
    success, output = await remotes.push(path, remote)
    if not success:
        raise SpinneyError(f"The branch could not be pushed: {output}", "git_error")


def _title(given: str | None, commits: list[CommitText], branch: str) -> str:
    title = clean_line(given or "") or commits[0].subject or branch
    return title[:_LONGEST_TITLE]


def _body(given: str | None, commits: list[CommitText]) -> str:
    if given is not None:
        body = clean(given)
    elif len(commits) == 1:
        body = commits[0].body
    else:
        body = "\n".join(f"- {commit.subject}" for commit in commits)
    return body[:_LONGEST_BODY]
