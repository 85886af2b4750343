"""Actions that link a worktree to a pull request, or unlink it."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from model.api import hosting
from model.api import pull_requests as commands
from model.api.projects import get_github_remotes
from model.base.errors import SpinneyError
from tui.actions.worktrees import pointed_worktree
from tui.desk import Desk
from tui.screens.choose import Choice
from tui.screens.dialog import Confirm
from tui.screens.pick import Pick

if TYPE_CHECKING:
    from model.domain.resources import Worktree


async def link_pull_request(desk: Desk) -> None:
    """Choose the pull request of the worktree, or enter its number or URL."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return

    async def read() -> Sequence[Choice]:
        requests = await desk.client.call(
            hosting.list_pull_requests, project_id=worktree.project_id
        )
        return [
            Choice(str(request.number), f"#{request.number} {request.title}", request.head_ref_name)
            for request in requests
        ]

    present = str(worktree.pr_number or "")
    dialog = Pick("Pull request of the worktree", read, present, own="number or URL:")
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
    address = re.match(r"https?://\S+?/pull/(\d{1,9})(?!\d)", given)
    if address is not None and not re.search(r"\s", given):
        return int(address[1]), given
    number = re.fullmatch(r"#?(\d{1,9})", given)
    if number is None:
        raise SpinneyError(
            f"'{given}' is not a number or the URL of a pull request (https://…/pull/1)."
        )
    project = desk.state.projects[worktree.project_id]
    remotes = await desk.client.call(get_github_remotes, repo_path=project.path)
    if not remotes:
        raise SpinneyError("The repository has no remote on GitHub. Enter the full URL.")
    remote = next((remote for remote in remotes if remote.name == "origin"), remotes[0])
    host = re.search(r"(?:://|@)(?:[^/@\s]*@)?([^/:\s]+)", remote.url)
    name = host[1] if host else "github.com"
    # An ssh host name such as ssh.github.com is the same service as the page.
    page = "github.com" if name.endswith("github.com") else name
    return int(number[1]), f"https://{page}/{remote.owner}/{remote.repo}/pull/{number[1]}"


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
