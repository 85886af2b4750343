"""Implements `model.api.pull_request_acts`."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from model.api import pull_request_acts as api
from model.base.errors import SpinneyError
from model.commands.registry import implements
from model.commands.secrets import open_gate
from model.domain.events.program import TaskCompleted
from model.domain.hosting import Check, CheckLog, MergeMethod, PullRequestDetails
from model.domain.worktrees import Worktree
from model.hosting.details import identify
from model.hosting.forge import Forge
from model.hosting.forges import find_forge
from model.worktrees import require_worktree

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

MAX_TITLE: Final = 256
MAX_BODY: Final = 65_536
"""Characters; the limits of the hosting services."""
MAX_REVIEWERS: Final = 50

_Act = Callable[[Forge, Path, int | str], Awaitable[None]]


@implements(api.get_pull_request)
async def get_pull_request(
    workspace: "Workspace", worktree_id: str, refresh: bool = False
) -> PullRequestDetails:
    worktree = require_worktree(workspace.store.state, worktree_id)
    return await workspace.pull_requests.get(worktree, refresh=refresh)


@implements(api.get_check_log)
async def get_check_log(workspace: "Workspace", worktree_id: str, check_id: str) -> CheckLog:
    worktree = require_worktree(workspace.store.state, worktree_id)
    check = await _find_check(workspace, worktree, check_id)
    path = Path(worktree.path)
    return await (await find_forge(path)).fetch_check_log(path, identify(worktree), check)


@implements(api.merge_pull_request)
async def merge_pull_request(
    workspace: "Workspace",
    worktree_id: str,
    method: MergeMethod | None = None,
    auto: bool = False,
    head_commit: str | None = None,
) -> PullRequestDetails:
    worktree = require_worktree(workspace.store.state, worktree_id)
    if method is None:
        known = await workspace.pull_requests.get(worktree)
        method = known.merge_methods[0] if known.merge_methods else "merge"
    chosen = method

    async def merge(forge: Forge, path: Path, pull_request: int | str) -> None:
        await forge.merge(path, pull_request, chosen, auto=auto, head_commit=head_commit)

    return await _act(workspace, worktree, "merge_pull_request", merge, _describe_merge)


def _describe_merge(details: PullRequestDetails) -> str:
    match details.phase:
        case "merged":
            return f"Merged #{details.number} into '{details.base}'."
        case "queued":
            return f"Added #{details.number} to the merge queue."
    if details.auto_merge is not None:
        return f"#{details.number} will be merged as soon as everything holds."
    return f"Asked for #{details.number} to be merged."


@implements(api.cancel_auto_merge)
async def cancel_auto_merge(workspace: "Workspace", worktree_id: str) -> PullRequestDetails:
    async def cancel(forge: Forge, path: Path, pull_request: int | str) -> None:
        await forge.cancel_auto_merge(path, pull_request)

    worktree = require_worktree(workspace.store.state, worktree_id)
    return await _act(
        workspace, worktree, "cancel_auto_merge", cancel,
        lambda details: f"#{details.number} will not be merged by itself.",
    )  # fmt: skip


@implements(api.update_pull_request_branch)
async def update_pull_request_branch(
    workspace: "Workspace", worktree_id: str, rebase: bool = False
) -> PullRequestDetails:
    async def update(forge: Forge, path: Path, pull_request: int | str) -> None:
        await forge.update_branch(path, pull_request, rebase=rebase)

    worktree = require_worktree(workspace.store.state, worktree_id)
    return await _act(
        workspace, worktree, "update_pull_request_branch", update,
        lambda details: f"The branch of #{details.number} gets the newest '{details.base}'. Pull "
        "to have it here.",
    )  # fmt: skip


@implements(api.set_pull_request_draft)
async def set_pull_request_draft(
    workspace: "Workspace", worktree_id: str, draft: bool
) -> PullRequestDetails:
    async def mark(forge: Forge, path: Path, pull_request: int | str) -> None:
        await forge.set_draft(path, pull_request, draft)

    worktree = require_worktree(workspace.store.state, worktree_id)
    what = "a draft" if draft else "ready for review"
    return await _act(
        workspace, worktree, "set_pull_request_draft", mark,
        lambda details: f"#{details.number} is {what} now.",
    )  # fmt: skip


@implements(api.edit_pull_request)
async def edit_pull_request(
    workspace: "Workspace",
    worktree_id: str,
    title: str | None = None,
    body: str | None = None,
    allowed_secrets: list[str] | None = None,
) -> PullRequestDetails:
    worktree = require_worktree(workspace.store.state, worktree_id)
    if title is None and body is None:
        raise SpinneyError("Give a new 'title' or a new 'body'.")
    if title is not None and (not title.strip() or "\n" in title or len(title) > MAX_TITLE):
        raise SpinneyError(
            f"Invalid field 'title': must be one line of 1 to {MAX_TITLE} characters"
        )
    if body is not None and len(body) > MAX_BODY:
        raise SpinneyError(f"Invalid field 'body': must have at most {MAX_BODY} characters")

    gate = open_gate(workspace, worktree_id, allowed_secrets)
    new_title = None if title is None else gate.check_text("title", title)
    new_body = None if body is None else gate.check_text("description", body)

    async def edit(forge: Forge, path: Path, pull_request: int | str) -> None:
        await forge.edit(path, pull_request, new_title, new_body)

    return await _act(
        workspace, worktree, "edit_pull_request", edit,
        lambda details: f"Changed the text of #{details.number}.",
    )  # fmt: skip


@implements(api.list_possible_reviewers)
async def list_possible_reviewers(workspace: "Workspace", worktree_id: str) -> list[str]:
    path = Path(require_worktree(workspace.store.state, worktree_id).path)
    return await (await find_forge(path)).list_possible_reviewers(path)


@implements(api.request_review)
async def request_review(
    workspace: "Workspace", worktree_id: str, reviewers: list[str]
) -> PullRequestDetails:
    worktree = require_worktree(workspace.store.state, worktree_id)
    names = list(dict.fromkeys(name.strip().removeprefix("@") for name in reviewers))
    if not names or not all(names) or len(names) > MAX_REVIEWERS:
        raise SpinneyError(f"Invalid field 'reviewers': must name 1 to {MAX_REVIEWERS} reviewers")

    async def ask(forge: Forge, path: Path, pull_request: int | str) -> None:
        await forge.request_review(path, pull_request, names)

    return await _act(
        workspace, worktree, "request_review", ask,
        lambda details: f"Asked for a review of #{details.number}: {', '.join(names)}.",
    )  # fmt: skip


@implements(api.reply_to_thread)
async def reply_to_thread(
    workspace: "Workspace",
    worktree_id: str,
    thread_id: str,
    text: str = "",
    resolve: bool = False,
    allowed_secrets: list[str] | None = None,
) -> PullRequestDetails:
    worktree = require_worktree(workspace.store.state, worktree_id)
    if not text.strip() and not resolve:
        raise SpinneyError("Give a 'text' to reply with, or resolve the thread.")
    if len(text) > MAX_BODY:
        raise SpinneyError(f"Invalid field 'text': must have at most {MAX_BODY} characters")

    searched = open_gate(workspace, worktree_id, allowed_secrets).check_text("reply", text)
    if resolve:
        await _check_resolvable(workspace, worktree, thread_id)

    async def reply(forge: Forge, path: Path, pull_request: int | str) -> None:
        if text.strip():
            await forge.reply_to_thread(path, pull_request, thread_id, searched)
        if resolve:
            await forge.resolve_thread(path, pull_request, thread_id)

    what = "Replied" if not resolve else "Replied and resolved" if text.strip() else "Resolved"
    return await _act(
        workspace, worktree, "reply_to_thread", reply,
        lambda details: f"{what} a comment of #{details.number}.",
    )  # fmt: skip


async def _check_resolvable(workspace: "Workspace", worktree: Worktree, thread_id: str) -> None:
    """Raise `conflict` for what cannot be resolved, before a reply to it is written."""
    details = await workspace.pull_requests.get(worktree)
    for thread in (*details.threads, *details.conversation):
        if thread.id == thread_id and thread.resolve_note:
            raise SpinneyError(thread.resolve_note, "conflict")


async def _find_check(workspace: "Workspace", worktree: Worktree, check_id: str) -> Check:
    """Return a check of the newest commit. Raises `not_found`."""
    for refresh in (False, True):
        details = await workspace.pull_requests.get(worktree, refresh=refresh)
        for check in details.checks:
            if check.id == check_id:
                return check
    raise SpinneyError(
        "The newest commit of the pull request has no such check. A newer run may have replaced "
        "it; choose one from the current list.",
        "not_found",
    )


async def _act(
    workspace: "Workspace",
    worktree: Worktree,
    task: str,
    act: _Act,
    describe: Callable[[PullRequestDetails], str],
) -> PullRequestDetails:
    """Change a worktree's pull request, report it, and return how it is then."""
    pull_request = identify(worktree)

    def report(ok: bool, detail: str) -> None:
        event = TaskCompleted(task=task, ok=ok, detail=detail, worktree_id=worktree.id)
        workspace.store.record(event)

    path = Path(worktree.path)
    try:
        await act(await find_forge(path), path, pull_request)
    except SpinneyError as error:
        report(False, error.message)
        raise
    workspace.poller.refresh_hosting(worktree.id)
    try:
        details = await workspace.pull_requests.get(worktree, refresh=True)
    except SpinneyError as error:
        workspace.pull_requests.note_change(worktree.id)
        message = f"Done, but the pull request could not be read again: {error.message}"
        report(True, message)
        raise SpinneyError(message, error.error_type) from error
    report(True, describe(details))
    return details
