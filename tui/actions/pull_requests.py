"""Actions that tell a worktree which pull request is its own."""

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
    """Choose the pull request of the worktree, or write its number or address."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return

    async def read() -> Sequence[Choice]:
        found = await desk.client.call(hosting.list_pull_requests, project_id=worktree.project_id)
        return [
            Choice(str(request.number), f"#{request.number} {request.title}", request.head_ref_name)
            for request in found
        ]

    present = str(worktree.pr_number or "")
    dialog = Pick("Pull request of the worktree", read, present, own="number or address:")
    chosen = await desk.ask(dialog)
    if chosen is None:
        return
    number, url = await _number_and_address(desk, worktree, chosen.value)
    await desk.client.call(
        commands.save_worktree_pr, worktree_id=worktree.id, pr_number=number, pr_url=url
    )
    desk.say(f"“{worktree.name}” belongs to pull request {number}.")


async def _number_and_address(desk: Desk, worktree: "Worktree", given: str) -> tuple[int, str]:
    """Both, of either. Raises `SpinneyError`."""
    address = re.match(r"https?://\S+?/pull/(\d{1,9})(?!\d)", given)
    if address is not None and not re.search(r"\s", given):
        return int(address[1]), given
    number = re.fullmatch(r"#?(\d{1,9})", given)
    if number is None:
        raise SpinneyError(
            f"“{given}” is neither a number nor the address of a pull request (https://…/pull/1)."
        )
    project = desk.state.projects[worktree.project_id]
    remotes = await desk.client.call(get_github_remotes, repo_path=project.path)
    if not remotes:
        raise SpinneyError("The repository has no remote on GitHub; write the whole address.")
    remote = next((remote for remote in remotes if remote.name == "origin"), remotes[0])
    host = re.search(r"(?:://|@)(?:[^/@\s]*@)?([^/:\s]+)", remote.url)
    name = host[1] if host else "github.com"
    # The address that ssh goes to is the same service as the page's.
    page = "github.com" if name.endswith("github.com") else name
    return int(number[1]), f"https://{page}/{remote.owner}/{remote.repo}/pull/{number[1]}"


async def clear_pull_request(desk: Desk) -> None:
    """Forget the worktree's pull request; on the hosting service nothing changes."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    if worktree.pr_number is None:
        desk.say(f"“{worktree.name}” has no pull request.")
        return
    sentence = (
        f"Forget that “{worktree.name}” belongs to pull request {worktree.pr_number}? "
        "The pull request itself stays as it is."
    )
    if await desk.ask(Confirm("Forget the pull request", sentence, "forget")):
        await desk.client.call(commands.clear_worktree_pr, worktree_id=worktree.id)
