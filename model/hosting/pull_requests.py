"""Pull requests as GitHub has them: opened, looked at, and what their checks come to."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from model.base.errors import SpinneyError
from model.hosting.gh import gh

PullRequestStatus = Literal["draft", "open", "review", "merged", "closed"]
CheckStatus = Literal["success", "failure", "pending", "error"]

_LINK: Final = re.compile(r"https?://[^\s/]+/[^\s/]+/[^\s/]+/pull/(\d+)")
_STATUS_FIELDS: Final = "state,isDraft,reviewDecision,reviewRequests,latestReviews"
_LINK_FIELDS: Final = "number,url"
_HEAD_FIELDS: Final = "headRefName,headRepository,headRepositoryOwner,isCrossRepository"

# What a check run concludes, or a classic commit status says; the rest is still going on.
_FAILURES: Final = {
    "FAILURE", "TIMED_OUT", "CANCELLED", "ACTION_REQUIRED", "STARTUP_FAILURE",
}  # fmt: skip
_SUCCESSES: Final = {"SUCCESS", "NEUTRAL", "SKIPPED"}


@dataclass(frozen=True, slots=True)
class PullRequestLink:
    """Which one, and where a browser finds it."""

    number: int
    url: str


@dataclass(frozen=True, slots=True)
class PullRequestState:
    """How it stands."""

    status: PullRequestStatus
    checks: CheckStatus | None
    """`None`: there are none."""


@dataclass(frozen=True, slots=True)
class PullRequestHead:
    """The branch that it proposes."""

    branch: str
    owner: str
    repository: str
    """Empty where it was deleted."""
    crosses: bool
    """Whether it comes from a fork."""


async def look_for_repository(path: Path) -> None:
    """Raise what keeps gh from the repository of `path`: no gh, no account, no such repository."""
    await gh(path, "repo", "view", "--json=url")


async def open_pull_request(
    path: Path, base: str, title: str, body: str, *, draft: bool
) -> PullRequestLink:
    """Propose the branch checked out in `path`, which is pushed, for merging into `base`.

    One that is open already for this branch is given back as it is.
    """
    options = ["--draft"] if draft else []
    try:
        said = await gh(
            path, "pr", "create", f"--base={base}", f"--title={title}", "--body-file=-", *options,
            given=body,
        )  # fmt: skip
    except SpinneyError as error:
        if "already exists" in error.message and (known := _LINK.search(error.message)):
            return PullRequestLink(int(known[1]), known[0])
        if "No commits between" in error.message:
            raise SpinneyError(
                f"There is nothing to propose: the branch has no commits that “{base}” lacks. "
                "Commit first.",
                "conflict",
            ) from error
        if "Base ref must be a branch" in error.message:
            raise SpinneyError(
                f"“{base}” is no branch on GitHub, so nothing can be merged into it there. "
                "Push it first.",
                "conflict",
            ) from error
        raise
    made = list(_LINK.finditer(said))
    if not made:
        raise SpinneyError(f"gh told no address of the pull request: {said}", "backend_error")
    return PullRequestLink(int(made[-1][1]), made[-1][0])


async def pull_request_state(path: Path, which: int | str) -> PullRequestState:
    """How the pull request of this number or address stands now."""
    try:
        found = await _look_at(path, which, f"{_STATUS_FIELDS},statusCheckRollup")
    except SpinneyError as error:
        if error.error_type != "forbidden":
            raise
        # A fine-grained token may read pull requests and not their checks.
        found = await _look_at(path, which, _STATUS_FIELDS)
    return read_state(found)


async def pull_request_link(path: Path, number: int) -> PullRequestLink:
    """Where a browser finds the pull request of this number."""
    return _link(await _look_at(path, number, _LINK_FIELDS))


async def open_pull_request_of(
    path: Path, branch: str, owners: Collection[str]
) -> PullRequestLink | None:
    """The newest open pull request that proposes `branch` of one of these owners' repositories."""
    said = await gh(
        path, "pr", "list", f"--head={branch}", "--state=open", "--limit=30",
        f"--json={_LINK_FIELDS},headRepositoryOwner",
    )  # fmt: skip
    wanted = {owner.casefold() for owner in owners}
    for found in _parsed(said, list):
        if _name(found.get("headRepositoryOwner"), "login").casefold() in wanted:
            return _link(found)
    return None


async def pull_request_head(path: Path, number: int) -> PullRequestHead:
    """The branch that this pull request proposes, and the repository it lies in."""
    found = await _look_at(path, number, _HEAD_FIELDS)
    return PullRequestHead(
        branch=str(found.get("headRefName") or ""),
        owner=_name(found.get("headRepositoryOwner"), "login"),
        repository=_name(found.get("headRepository"), "name"),
        crosses=bool(found.get("isCrossRepository")),
    )


def read_state(found: Mapping[str, Any]) -> PullRequestState:
    """What `gh pr view --json` says, in the interface's words.

    `review`: somebody was asked for a review, or gave one.
    """
    return PullRequestState(_status(found), _checks(found.get("statusCheckRollup") or []))


def is_link(url: str) -> bool:
    """Whether this is the address of a pull request."""
    return _LINK.fullmatch(url) is not None


async def _look_at(path: Path, which: int | str, fields: str) -> Mapping[str, Any]:
    found: Mapping[str, Any]
    found = _parsed(await gh(path, "pr", "view", str(which), f"--json={fields}"), dict)
    return found


def _parsed(said: str, form: type[Any]) -> Any:
    try:
        found = json.loads(said)
    except ValueError:
        found = None
    if not isinstance(found, form):
        raise SpinneyError("gh gave an answer that is not what was asked for.", "backend_error")
    return found


def _link(found: Mapping[str, Any]) -> PullRequestLink:
    number, url = found.get("number"), found.get("url")
    if not isinstance(number, int) or not isinstance(url, str) or not is_link(url):
        raise SpinneyError(
            "gh gave an answer that is no address of a pull request.", "backend_error"
        )
    return PullRequestLink(number, url)


def _status(found: Mapping[str, Any]) -> PullRequestStatus:
    match found.get("state"):
        case "MERGED":
            return "merged"
        case "CLOSED":
            return "closed"
    if found.get("isDraft"):
        return "draft"
    reviewed = found.get("reviewDecision") in ("APPROVED", "CHANGES_REQUESTED")
    if reviewed or found.get("reviewRequests") or found.get("latestReviews"):
        return "review"
    return "open"


def _checks(rollup: Sequence[Mapping[str, Any]]) -> CheckStatus | None:
    results = {_result(check) for check in rollup}
    order: tuple[CheckStatus, ...] = ("failure", "error", "pending", "success")
    return next((result for result in order if result in results), None)


def _result(check: Mapping[str, Any]) -> CheckStatus:
    """Of a check run (`status`, then `conclusion`) or a classic commit status (`state`)."""
    word = str(check.get("state") or check.get("conclusion") or "").upper()
    if word in _FAILURES:
        return "failure"
    if word == "ERROR":
        return "error"
    return "success" if word in _SUCCESSES else "pending"


def _name(found: Any, key: str) -> str:
    return str(found.get(key) or "") if isinstance(found, dict) else ""
