"""GitHub as a `Forge`."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from model.domain.hosting import (
    Advisory,
    Check,
    CheckLog,
    ItemState,
    MergeMethod,
    OpenIssue,
    OpenPullRequest,
    PullRequestDetails,
    SecurityAlert,
    WorkflowRun,
    WorkKind,
)
from model.git.secret_gate import SearchedText
from model.hosting.forge import (
    ItemQuery,
    ItemText,
    PullRequestHead,
    PullRequestLink,
    PullRequestState,
    Unsupported,
)
from model.hosting.github import (
    acting,
    check_logs,
    details,
    following,
    pull_requests,
    repositories,
    texts,
    threads,
)
from model.hosting.github.api import PullRequestPlace, find_repository, parse_place
from model.hosting.github.lists import GitHubLists

_UNSUPPORTED: Final = Unsupported()


class GitHub:
    """GitHub, by its own program `gh`; implements `model.hosting.forge.Forge`."""

    def __init__(self) -> None:
        self._lists = GitHubLists()

    @property
    def name(self) -> str:
        return "GitHub"

    @property
    def pull_request_name(self) -> str:
        return "pull request"

    @property
    def unsupported(self) -> Unsupported:
        return _UNSUPPORTED

    def is_pull_request_url(self, url: str) -> bool:
        return pull_requests.is_pull_request_url(url)

    async def check_access(self, path: Path) -> None:
        await find_repository(path)

    async def open_pull_request(
        self, path: Path, base: str, title: SearchedText, body: SearchedText, *, draft: bool
    ) -> PullRequestLink:
        return await pull_requests.open_pull_request(path, base, title, body, draft=draft)

    async def find_open_pull_request(
        self, path: Path, branch: str, owners: Collection[str]
    ) -> PullRequestLink | None:
        return await pull_requests.find_open_pull_request(path, branch, owners)

    async def fetch_head(self, path: Path, number: int) -> PullRequestHead:
        return await pull_requests.find_pull_request_head(path, number)

    async def fetch_link(self, path: Path, number: int) -> PullRequestLink:
        return await pull_requests.fetch_pull_request_link(path, number)

    async def fetch_state(
        self, path: Path, pull_request: int | str, version: str = ""
    ) -> tuple[PullRequestState | None, str]:
        return await following.fetch_state(path, pull_request, version)

    async def fetch_details(self, path: Path, pull_request: int | str) -> PullRequestDetails:
        return await details.fetch_details(path, await _locate(path, pull_request))

    async def fetch_check_log(self, path: Path, pull_request: int | str, check: Check) -> CheckLog:
        place = await _locate(path, pull_request)
        return await check_logs.fetch_check_log(path, place.repository, check)

    async def merge(
        self,
        path: Path,
        pull_request: int | str,
        method: MergeMethod,
        *,
        auto: bool,
        head_commit: str | None,
    ) -> None:
        place = await _locate(path, pull_request)
        await acting.merge(path, place, method, auto=auto, head_commit=head_commit)

    async def cancel_auto_merge(self, path: Path, pull_request: int | str) -> None:
        await acting.cancel_auto_merge(path, await _locate(path, pull_request))

    async def update_branch(self, path: Path, pull_request: int | str, *, rebase: bool) -> None:
        await acting.update_branch(path, await _locate(path, pull_request), rebase=rebase)

    async def set_draft(self, path: Path, pull_request: int | str, draft: bool) -> None:
        await acting.set_draft(path, await _locate(path, pull_request), draft)

    async def edit(
        self,
        path: Path,
        pull_request: int | str,
        title: SearchedText | None,
        body: SearchedText | None,
    ) -> None:
        await acting.edit(path, await _locate(path, pull_request), title, body)

    async def list_possible_reviewers(self, path: Path) -> list[str]:
        return await repositories.list_possible_reviewers(path)

    async def request_review(
        self, path: Path, pull_request: int | str, reviewers: Sequence[str]
    ) -> None:
        await acting.request_review(path, await _locate(path, pull_request), reviewers)

    async def reply_to_thread(
        self, path: Path, pull_request: int | str, thread_id: str, text: SearchedText
    ) -> None:
        place = await _locate(path, pull_request)
        await threads.reply_to_thread(path, place, thread_id, text)

    async def resolve_thread(self, path: Path, pull_request: int | str, thread_id: str) -> None:
        place = await _locate(path, pull_request)
        await threads.resolve_thread(path, place, thread_id)

    async def delete_branch(self, path: Path, branch: str) -> None:
        await repositories.delete_branch(path, branch)

    async def list_issues(self, path: Path, query: ItemQuery) -> list[OpenIssue]:
        return await self._lists.list_issues(path, query)

    async def list_pull_requests(self, path: Path, query: ItemQuery) -> list[OpenPullRequest]:
        return await self._lists.list_pull_requests(path, query)

    async def list_workflow_runs(
        self, path: Path, *, failed: bool, branch: str, page: int
    ) -> list[WorkflowRun]:
        return await self._lists.list_workflow_runs(path, failed=failed, branch=branch, page=page)

    async def list_security_alerts(
        self, path: Path, state: ItemState, page: int
    ) -> list[SecurityAlert]:
        return await self._lists.list_security_alerts(path, state, page)

    async def list_advisories(self, path: Path, state: ItemState, page: int) -> list[Advisory]:
        return await self._lists.list_advisories(path, state, page)

    async def fetch_text(self, path: Path, kind: WorkKind, item_id: str) -> ItemText:
        return await texts.fetch_text(path, kind, item_id)


async def _locate(path: Path, pull_request: int | str) -> PullRequestPlace:
    if isinstance(pull_request, int):
        pull_request = (await pull_requests.fetch_pull_request_link(path, pull_request)).url
    return parse_place(pull_request)
