"""Actions on the pull request of a worktree: show, open, link, unlink."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from model.api import hosting
from model.api import pull_requests as commands
from model.api.doctor import get_installation
from model.api.projects import get_git_remotes, get_github_remotes
from model.base.errors import SpinneyError
from tui.actions.worktrees import pointed_worktree
from tui.desk import Desk
from tui.screens.choose import Choice
from tui.screens.dialog import Confirm
from tui.screens.searching_pick import SearchingPick
from tui.screens.secrets_found import after_secrets

if TYPE_CHECKING:
    from model.domain.worktrees import Worktree

_PROGRAMS: Final = {
    "github": ("pull request", "GitHub", "gh", "https://cli.github.com"),
    "gitlab": ("merge request", "GitLab", "glab", "https://gitlab.com/gitlab-org/cli"),
}


async def pull_request(desk: Desk) -> None:
    """Show the worktree's pull request; without one push the branch and open one."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    if worktree.pr_url:
        _show(desk, worktree)
        return
    if not await desk.client.call(get_git_remotes, repo_path=worktree.path):
        shell = desk.key_of("open_shell")
        desk.say(
            "The repository has no remote to push the branch to. Add one with 'git remote add "
            f"origin <url>' ({shell} opens a shell in the worktree), then try again.",
            bad=True,
        )
        return
    if problem := await _find_missing_program(desk, worktree):
        desk.say(problem, bad=True)
        return
    from tui.screens.pull_request import PullRequest, PullRequestDraft

    async def open_request(draft: PullRequestDraft) -> commands.OpenedPullRequest:
        async def run(allowed: list[str] | None) -> commands.OpenedPullRequest:
            return await desk.client.call(
                commands.open_pull_request,
                worktree_id=worktree.id,
                title=draft.title or None,
                body=draft.body or None,
                draft=draft.is_draft,
                allowed_secrets=allowed,
            )

        searched = {
            "worktree_id": worktree.id,
            "title": draft.title or None,
            "body": draft.body or None,
        }
        return await after_secrets(desk, worktree.project_id, "pull_request", run, **searched)

    project = desk.state.projects[worktree.project_id]
    branches = worktree.branch, worktree.base_branch or project.default_branch
    draft = desk.drafts.get(PullRequestDraft, worktree.id)
    opened = await desk.ask(PullRequest(draft, branches, open_request))
    if opened is None:
        return
    desk.drafts.drop(PullRequestDraft, worktree.id)
    state = await desk.mirror.wait_for(
        lambda state: (
            worktree.id not in state.worktrees or bool(state.worktrees[worktree.id].pr_url)
        )
    )
    if worktree.id in state.worktrees:
        _show(desk, state.worktrees[worktree.id])


async def _find_missing_program(desk: Desk, worktree: "Worktree") -> str:
    """Return what to do if the program of the hosting service is not installed, else nothing."""
    installed = await desk.client.call(get_installation)
    lacking = {finding.name for finding in installed.findings if not finding.ok}
    if not lacking & {"gh", "glab"}:
        return ""
    for remote in await desk.client.call(get_github_remotes, repo_path=worktree.path):
        request, service, program, page = _PROGRAMS[remote.service]
        if program in lacking:
            return (
                f"Opening a {request} needs the {service} CLI, {program}, which is not installed. "
                f"Install it ({page}), run '{program} auth login' in a terminal, then try again."
            )
    return ""


def _show(desk: Desk, worktree: "Worktree") -> None:
    from tui.hosting.pull_request_actions import PULL_REQUEST
    from tui.hosting.pull_request_screen import PullRequestScreen

    desk.show(PullRequestScreen(desk, worktree, PULL_REQUEST))


async def link_pull_request(desk: Desk) -> None:
    """Choose the pull request of the worktree, or enter its number or URL."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return

    async def read(search: str = "") -> Sequence[Choice]:
        requests = await desk.client.call(
            hosting.list_pull_requests, project_id=worktree.project_id, search=search
        )
        return [
            Choice(str(request.number), f"#{request.number} {request.title}", request.head_ref_name)
            for request in requests
        ]

    present = str(worktree.pr_number or "")
    title = "Pull request of the worktree"
    dialog = SearchingPick(title, read, present, read, own="number or URL:")
    chosen = await desk.ask(dialog)
    if chosen is None:
        return
    number, url = await _resolve_pull_request(desk, worktree, chosen.value)
    await desk.client.call(
        commands.save_worktree_pr, worktree_id=worktree.id, pr_number=number, pr_url=url
    )
    desk.say(f"Linked '{worktree.name}' to pull request #{number}.")


async def _resolve_pull_request(desk: Desk, worktree: "Worktree", given: str) -> tuple[int, str]:
    """Return number and URL, given either. Raises `SpinneyError`."""
    address = re.match(r"https?://\S+?/(?:pull|merge_requests)/(\d{1,9})(?!\d)", given)
    if address is not None and not re.search(r"\s", given):
        return int(address[1]), given
    number = re.fullmatch(r"[#!]?(\d{1,9})", given)
    if number is None:
        raise SpinneyError(
            f"'{given}' is not a number or the URL of a pull request (https://…/pull/1)."
        )
    project = desk.state.projects[worktree.project_id]
    remotes = await desk.client.call(get_github_remotes, repo_path=project.path)
    if not remotes:
        raise SpinneyError("The repository has no remote on GitHub or GitLab. Enter the full URL.")
    remote = next((remote for remote in remotes if remote.name == "origin"), remotes[0])
    return int(number[1]), f"{remote.pull_requests_url}{number[1]}"


async def clear_pull_request(desk: Desk) -> None:
    """Unlink the worktree's pull request; nothing changes on the hosting service."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    if worktree.pr_number is None:
        desk.say(f"'{worktree.name}' has no pull request.")
        return
    sentence = (
        f"Unlink '{worktree.name}' from pull request #{worktree.pr_number}? "
        "The pull request itself does not change."
    )
    if await desk.ask(Confirm("Unlink the pull request", sentence, "unlink")):
        await desk.client.call(commands.clear_worktree_pr, worktree_id=worktree.id)
