"""Open pull requests on GitHub, and read their status, checks and head branch."""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from model.base.errors import SpinneyError
from model.git.secret_gate import SearchedText
from model.hosting.fields import get_rows, read_json
from model.hosting.forge import (
    CheckStatus,
    PullRequestHead,
    PullRequestLink,
    PullRequestState,
    PullRequestStatus,
)
from model.hosting.github.checks import select_newest
from model.hosting.github.gh import gh
from model.hosting.github.merging import parse_phase

_LINK: Final = re.compile(r"https?://[^\s/]+/[^\s/]+/[^\s/]+/pull/(\d+)")
_STATUS_FIELDS: Final = "state,isDraft,reviewDecision,reviewRequests,latestReviews"
_LINK_FIELDS: Final = "number,url"
_HEAD_FIELDS: Final = "headRefName,headRepository,headRepositoryOwner,isCrossRepository"

# Conclusions of check runs and states of classic commit statuses; any other is still pending.
_FAILURES: Final = {
    "FAILURE", "TIMED_OUT", "CANCELLED", "ACTION_REQUIRED", "STARTUP_FAILURE",
}  # fmt: skip
_SUCCESSES: Final = {"SUCCESS", "NEUTRAL", "SKIPPED"}


async def open_pull_request(
    path: Path, base: str, title: SearchedText, body: SearchedText, *, draft: bool
) -> PullRequestLink:
    """Open a pull request for the pushed branch checked out in `path`, to be merged into `base`.

    If there is an open one for this branch already, return that one.
    """
    options = ["--draft"] if draft else []
    try:
        output = await gh(
            path, "pr", "create", f"--base={base}", f"--title={title}", "--body-file=-", *options,
            stdin=body,
        )  # fmt: skip
    except SpinneyError as error:
        if "already exists" in error.message and (known := _LINK.search(error.message)):
            return PullRequestLink(int(known[1]), known[0])
        if "No commits between" in error.message:
            raise SpinneyError(
                f"There is nothing to propose: the branch has no commits that '{base}' lacks. "
                "Commit first.",
                "conflict",
            ) from error
        if "Base ref must be a branch" in error.message:
            raise SpinneyError(
                f"'{base}' is not a branch on GitHub, so nothing can be merged into it. "
                "Push it first.",
                "conflict",
            ) from error
        raise
    links = list(_LINK.finditer(output))
    if not links:
        raise SpinneyError(
            f"gh did not return the URL of the pull request: {output}", "backend_error"
        )
    return PullRequestLink(int(links[-1][1]), links[-1][0])


async def fetch_pull_request_state(path: Path, number_or_url: int | str) -> PullRequestState:
    """Return the status of the pull request with this number or URL."""
    try:
        found = await _view(path, number_or_url, f"{_STATUS_FIELDS},statusCheckRollup")
    except SpinneyError as error:
        if error.error_type != "forbidden":
            raise
        # A fine-grained token may be able to read pull requests but not their checks.
        found = await _view(path, number_or_url, _STATUS_FIELDS)
    return parse_state(found)


async def fetch_pull_request_link(path: Path, number: int) -> PullRequestLink:
    """Return the URL of the pull request with this number."""
    return _parse_link(await _view(path, number, _LINK_FIELDS))


async def find_open_pull_request(
    path: Path, branch: str, owners: Collection[str]
) -> PullRequestLink | None:
    """Return the newest open pull request for `branch` in a repository of one of the owners."""
    output = await gh(
        path, "pr", "list", f"--head={branch}", "--state=open", "--limit=30",
        f"--json={_LINK_FIELDS},headRepositoryOwner",
    )  # fmt: skip
    accepted_owners = {owner.casefold() for owner in owners}
    for found in await _parse_json(output, list):
        if _get_name(found.get("headRepositoryOwner"), "login").casefold() in accepted_owners:
            return _parse_link(found)
    return None


async def find_pull_request_head(path: Path, number: int) -> PullRequestHead:
    """Return the branch that this pull request proposes, and its repository."""
    found = await _view(path, number, _HEAD_FIELDS)
    return PullRequestHead(
        branch=str(found.get("headRefName") or ""),
        owner=_get_name(found.get("headRepositoryOwner"), "login"),
        repository=_get_name(found.get("headRepository"), "name"),
        is_from_fork=bool(found.get("isCrossRepository")),
    )


def parse_state(fields: Mapping[str, Any]) -> PullRequestState:
    """Convert the output of `gh pr view --json` to the values of the interface.

    `review` means that a review was requested or given.
    """
    return PullRequestState(
        _parse_status(fields), _combine_checks(select_newest(get_rows(fields, "statusCheckRollup")))
    )


def is_pull_request_url(url: str) -> bool:
    """Whether this is the URL of a pull request."""
    return _LINK.fullmatch(url) is not None


async def _view(path: Path, number_or_url: int | str, fields: str) -> Mapping[str, Any]:
    found: Mapping[str, Any]
    output = await gh(path, "pr", "view", str(number_or_url), f"--json={fields}")
    found = await _parse_json(output, dict)
    return found


async def _parse_json(output: str, expected_type: type[Any]) -> Any:
    found = await read_json(output)
    if not isinstance(found, expected_type):
        raise SpinneyError("gh returned unexpected data.", "backend_error")
    return found


def _parse_link(fields: Mapping[str, Any]) -> PullRequestLink:
    number, url = fields.get("number"), fields.get("url")
    if not isinstance(number, int) or not isinstance(url, str) or not is_pull_request_url(url):
        raise SpinneyError("gh did not return the URL of the pull request.", "backend_error")
    return PullRequestLink(number, url)


def _parse_status(fields: Mapping[str, Any]) -> PullRequestStatus:
    match parse_phase(fields):
        case "merged" | "closed" | "draft" as status:
            return status
        case "approved" | "changes_requested":
            return "review"
    return "review" if fields.get("reviewRequests") or fields.get("latestReviews") else "open"


def _combine_checks(rollup: Sequence[Mapping[str, Any]]) -> CheckStatus | None:
    results = {_parse_check(check) for check in rollup}
    order: tuple[CheckStatus, ...] = ("failure", "error", "pending", "success")
    return next((result for result in order if result in results), None)


def _parse_check(check: Mapping[str, Any]) -> CheckStatus:
    """Parse a check run (`status`, then `conclusion`) or a classic commit status (`state`)."""
    result = str(check.get("state") or check.get("conclusion") or "").upper()
    if result in _FAILURES:
        return "failure"
    if result == "ERROR":
        return "error"
    return "success" if result in _SUCCESSES else "pending"


def _get_name(value: Any, key: str) -> str:
    return str(value.get(key) or "") if isinstance(value, dict) else ""
