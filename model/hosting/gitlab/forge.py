"""GitLab as a `Forge`: its merge requests are pull requests, its pipelines' jobs are checks."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
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
from model.git.repositories import get_current_branch
from model.git.secret_gate import SearchedText
from model.hosting.forge import (
    ItemQuery,
    ItemText,
    PullRequestHead,
    PullRequestLink,
    PullRequestState,
    Unsupported,
)
from model.hosting.gitlab import (
    details,
    discussions,
    items,
    merge_requests,
    merging,
    pipelines,
    projects,
    vulnerabilities,
)
from model.hosting.gitlab.glab import get_object

_UNSUPPORTED: Final = Unsupported(
    "GitLab has no security advisories of a project.", frozenset({"advisory"})
)


class GitLab:
    """GitLab, by its own program `glab`; implements `model.hosting.forge.Forge`."""

    @property
    def name(self) -> str:
        return "GitLab"

    @property
    def pull_request_name(self) -> str:
        return "merge request"

    @property
    def unsupported(self) -> Unsupported:
        return _UNSUPPORTED

    def is_pull_request_url(self, url: str) -> bool:
        return projects.is_merge_request_url(url)

    async def check_access(self, path: Path) -> None:
        project = await projects.find_project(path)
        await get_object(project, project.endpoint)

    async def open_pull_request(
        self, path: Path, base: str, title: SearchedText, body: SearchedText, *, draft: bool
    ) -> PullRequestLink:
        branch = await get_current_branch(path)
        if branch is None:
            raise SpinneyError(
                "No branch is checked out here (detached HEAD). Switch to one first.", "conflict"
            )
        return await merge_requests.open_merge_request(path, branch, base, title, body, draft=draft)

    async def find_open_pull_request(
        self, path: Path, branch: str, owners: Collection[str]
    ) -> PullRequestLink | None:
        return await merge_requests.find_open_merge_request(path, branch, owners)

    async def fetch_head(self, path: Path, number: int) -> PullRequestHead:
        return await merge_requests.fetch_head(await projects.find_project(path), number)

    async def fetch_link(self, path: Path, number: int) -> PullRequestLink:
        return await merge_requests.fetch_link(await projects.find_project(path), number)

    async def fetch_state(
        self, path: Path, pull_request: int | str, version: str = ""
    ) -> tuple[PullRequestState | None, str]:
        return await merge_requests.fetch_state(path, pull_request, version)

    async def fetch_details(self, path: Path, pull_request: int | str) -> PullRequestDetails:
        return await details.fetch_details(path, pull_request)

    async def fetch_check_log(self, path: Path, pull_request: int | str, check: Check) -> CheckLog:
        return await pipelines.fetch_log(path, pull_request, check)

    async def merge(
        self,
        path: Path,
        pull_request: int | str,
        method: MergeMethod,
        *,
        auto: bool,
        head_commit: str | None,
    ) -> None:
        await merging.merge(path, pull_request, method, auto=auto, head_commit=head_commit)

    async def cancel_auto_merge(self, path: Path, pull_request: int | str) -> None:
        await merging.cancel_auto_merge(path, pull_request)

    async def update_branch(self, path: Path, pull_request: int | str, *, rebase: bool) -> None:
        await merging.update_branch(path, pull_request, rebase=rebase)

    async def set_draft(self, path: Path, pull_request: int | str, draft: bool) -> None:
        await merge_requests.set_draft(path, pull_request, draft)

    async def edit(
        self,
        path: Path,
        pull_request: int | str,
        title: SearchedText | None,
        body: SearchedText | None,
    ) -> None:
        await merge_requests.edit(path, pull_request, title, body)

    async def list_possible_reviewers(self, path: Path) -> list[str]:
        return await merge_requests.list_possible_reviewers(path)

    async def request_review(
        self, path: Path, pull_request: int | str, reviewers: Sequence[str]
    ) -> None:
        await merge_requests.request_review(path, pull_request, reviewers)

    async def reply_to_thread(
        self, path: Path, pull_request: int | str, thread_id: str, text: SearchedText
    ) -> None:
        await discussions.reply(path, pull_request, thread_id, text)

    async def resolve_thread(self, path: Path, pull_request: int | str, thread_id: str) -> None:
        await discussions.resolve(path, pull_request, thread_id)

    async def delete_branch(self, path: Path, branch: str) -> None:
        await merge_requests.delete_branch(path, branch)

    async def list_issues(self, path: Path, query: ItemQuery) -> list[OpenIssue]:
        return await items.list_issues(path, query)

    async def list_pull_requests(self, path: Path, query: ItemQuery) -> list[OpenPullRequest]:
        return await items.list_merge_requests(path, query)

    async def list_workflow_runs(
        self, path: Path, *, failed: bool, branch: str, page: int
    ) -> list[WorkflowRun]:
        return await pipelines.list_pipelines(path, failed=failed, branch=branch, page=page)

    async def list_security_alerts(
        self, path: Path, state: ItemState, page: int
    ) -> list[SecurityAlert]:
        return await vulnerabilities.list_vulnerabilities(path, state, page)

    async def list_advisories(self, path: Path, state: ItemState, page: int) -> list[Advisory]:
        raise SpinneyError(_UNSUPPORTED.reason, "not_found")

    async def fetch_text(self, path: Path, kind: WorkKind, item_id: str) -> ItemText:
        return await items.fetch_text(path, kind, item_id)
