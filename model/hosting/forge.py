"""What Spinney knows of a hosting service, whichever it is.

Every method raises `SpinneyError` with a sentence that names the service, its program and the next
step: the program is missing or not signed in, a permission is missing, a rate limit is exceeded, a
repository, branch or pull request is gone. Texts are visible (`model/base/text.py`) and bounded.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

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

PullRequestStatus = Literal["draft", "open", "review", "merged", "closed"]
CheckStatus = Literal["success", "failure", "pending", "error"]

PAGE_SIZE = 100
"""Items of a page of a list."""


@dataclass(frozen=True, slots=True)
class PullRequestLink:
    """The number and the URL of a pull request."""

    number: int
    url: str


@dataclass(frozen=True, slots=True)
class PullRequestState:
    """The status of a pull request and of its checks."""

    status: PullRequestStatus
    checks: CheckStatus | None
    """`None` if there are no checks."""


@dataclass(frozen=True, slots=True)
class PullRequestHead:
    """The branch that a pull request proposes."""

    branch: str
    owner: str
    repository: str
    """Empty if the repository was deleted."""
    is_from_fork: bool
    """Whether it comes from a fork."""


@dataclass(frozen=True, slots=True)
class ItemQuery:
    """Which items of a list are wanted."""

    search: str = ""
    state: ItemState = "open"
    labels: tuple[str, ...] = ()
    assignee: str = ""
    """A login, or `@me`."""
    page: int = 1


@dataclass(frozen=True, slots=True)
class ItemText:
    """The text of an item: what an agent has to know of it."""

    title: str
    url: str = ""
    author: str = ""
    body: str = ""
    facts: Sequence[tuple[str, str]] = ()
    """Names and values: `severity`, `high`. The variables of prompts read them by name, and work
    begins from `base` and `head` of a pull request, and from the `branch` of a workflow run unless
    it belongs to a `fork`."""
    comments: Sequence[tuple[str, str]] = ()
    """Author and text, the oldest first."""
    log: str = ""
    """The end of the log of what failed."""


@dataclass(frozen=True, slots=True)
class Unsupported:
    """What a service does not have, and why, as a sentence."""

    reason: str = ""
    kinds: frozenset[WorkKind] = field(default_factory=frozenset)


class Forge(Protocol):
    """A hosting service, by the program that the user has installed and signed in to.

    `path` is a working tree; its remotes determine the repository. `pull_request` is a number, or
    the URL of one.
    """

    @property
    def name(self) -> str:
        """The name of the service: `GitHub`."""
        ...

    @property
    def pull_request_name(self) -> str:
        """What the service calls a pull request: `merge request`."""
        ...

    @property
    def unsupported(self) -> Unsupported:
        """The lists that the service does not have."""
        ...

    def is_pull_request_url(self, url: str) -> bool:
        """Whether this is the URL of a pull request of this service."""
        ...

    async def check_access(self, path: Path) -> None:
        """Raise if the repository cannot be accessed."""
        ...

    async def open_pull_request(
        self, path: Path, base: str, title: SearchedText, body: SearchedText, *, draft: bool
    ) -> PullRequestLink:
        """Open a pull request for the pushed branch checked out in `path`, to be merged into
        `base`; return the one that is open for this branch already, if there is one.
        """
        ...

    async def find_open_pull_request(
        self, path: Path, branch: str, owners: Collection[str]
    ) -> PullRequestLink | None:
        """Return the newest open pull request for `branch` in a repository of one of the owners."""
        ...

    async def fetch_head(self, path: Path, number: int) -> PullRequestHead:
        """Return the branch that a pull request proposes, and its repository."""
        ...

    async def fetch_link(self, path: Path, number: int) -> PullRequestLink:
        """Return the URL of the pull request with this number."""
        ...

    async def fetch_state(
        self, path: Path, pull_request: int | str, version: str = ""
    ) -> tuple[PullRequestState | None, str]:
        """Return the state, and the version that it has at the service.

        The state is `None` if the version is still the given one: the service was asked by a
        conditional request, which costs nothing of the rate limit.
        """
        ...

    async def fetch_details(self, path: Path, pull_request: int | str) -> PullRequestDetails:
        """Return everything that is shown of a pull request."""
        ...

    async def fetch_check_log(self, path: Path, pull_request: int | str, check: Check) -> CheckLog:
        """Return the end of the log of the failed steps of a check."""
        ...

    async def merge(
        self,
        path: Path,
        pull_request: int | str,
        method: MergeMethod,
        *,
        auto: bool,
        head_commit: str | None,
    ) -> None:
        """Merge, or merge as soon as everything holds (`auto`), or add it to the merge queue."""
        ...

    async def cancel_auto_merge(self, path: Path, pull_request: int | str) -> None:
        """Switch automatic merging off, or take the pull request out of the queue."""
        ...

    async def update_branch(self, path: Path, pull_request: int | str, *, rebase: bool) -> None:
        """Bring the head up to date with the base."""
        ...

    async def set_draft(self, path: Path, pull_request: int | str, draft: bool) -> None:
        """Mark it as a draft, or as ready for review."""
        ...

    async def edit(
        self,
        path: Path,
        pull_request: int | str,
        title: SearchedText | None,
        body: SearchedText | None,
    ) -> None:
        """Change title or description."""
        ...

    async def list_possible_reviewers(self, path: Path) -> list[str]:
        """Return who can be asked for a review, at most 100."""
        ...

    async def request_review(
        self, path: Path, pull_request: int | str, reviewers: Sequence[str]
    ) -> None:
        """Ask for reviews."""
        ...

    async def reply_to_thread(
        self, path: Path, pull_request: int | str, thread_id: str, text: SearchedText
    ) -> None:
        """Reply to a thread of review comments, or to a comment of the conversation."""
        ...

    async def resolve_thread(self, path: Path, pull_request: int | str, thread_id: str) -> None:
        """Mark a thread as resolved. Raises `conflict` for what cannot be resolved."""
        ...

    async def delete_branch(self, path: Path, branch: str) -> None:
        """Delete a branch at the service; does nothing if it does not exist."""
        ...

    async def list_issues(self, path: Path, query: ItemQuery) -> list[OpenIssue]:
        """Return a page of issues."""
        ...

    async def list_pull_requests(self, path: Path, query: ItemQuery) -> list[OpenPullRequest]:
        """Return a page of pull requests."""
        ...

    async def list_workflow_runs(
        self, path: Path, *, failed: bool, branch: str, page: int
    ) -> list[WorkflowRun]:
        """Return a page of runs."""
        ...

    async def list_security_alerts(
        self, path: Path, state: ItemState, page: int
    ) -> list[SecurityAlert]:
        """Return a page of dependencies with known vulnerabilities."""
        ...

    async def list_advisories(self, path: Path, state: ItemState, page: int) -> list[Advisory]:
        """Return a page of the repository's own advisories."""
        ...

    async def fetch_text(self, path: Path, kind: WorkKind, item_id: str) -> ItemText:
        """Return the text of an item, with comments or the end of a log."""
        ...
