"""States of pull requests and failures of the hosting service, with what Spinney reports for each.

Tested with the real `gh`, and without it with a recording of its answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model.base.errors import ErrorType, SpinneyError
from model.hosting.github.forge import GitHub
from model.hosting.github.pull_requests import CheckStatus, PullRequestStatus
from tests.live.hosting_pull_requests import Check, Comment, PullRequest, Thread

RECORDING = Path(__file__).parents[1] / "model" / "hosting" / "recordings" / "gh.json"
"""By case, the arguments of `gh` (`args`) and its result (`out`, `err`, `code`)."""

URL = "https://github.com/ada/engine/pull/7"


@dataclass(frozen=True)
class State:
    """A pull request, and the status and checks that Spinney reports for it."""

    shown: PullRequest
    status: PullRequestStatus = "open"
    checks: CheckStatus | None = None


def _with_checks(by: Sequence[Check], checks: CheckStatus) -> State:
    return State(PullRequest(checks=by), "open", checks)


PASSED, RUNNING = Check("SUCCESS"), Check()
FAILED = Check("FAILURE")

STATES: Mapping[str, State] = {
    "a draft": State(PullRequest(draft=True), "draft"),
    "a draft with a reviewer": State(PullRequest(draft=True, asked=["bob"]), "draft"),
    "open": State(PullRequest(), "open"),
    "a review is required, no reviewer was asked": State(PullRequest(decision="REVIEW_REQUIRED")),
    "a person was asked for a review": State(PullRequest(asked=["bob"]), "review"),
    "a team was asked for a review": State(PullRequest(asked=["looms/weavers"]), "review"),
    "a review was written": State(PullRequest(reviewed=["bob"]), "review"),
    "changes are requested": State(PullRequest(decision="CHANGES_REQUESTED"), "review"),
    "approved": State(PullRequest(decision="APPROVED"), "review"),
    "merged": State(PullRequest(state="MERGED", reviewed=["bob"]), "merged"),
    "closed": State(PullRequest(state="CLOSED"), "closed"),
    "a closed draft": State(PullRequest(state="CLOSED", draft=True), "closed"),
    "all passed": _with_checks([PASSED, Check("NEUTRAL"), Check("SKIPPED")], "success"),
    "one runs": _with_checks([PASSED, RUNNING], "pending"),
    "one failed while others run": _with_checks([RUNNING, FAILED, PASSED], "failure"),
    "timed out": _with_checks([PASSED, Check("TIMED_OUT")], "failure"),
    "cancelled": _with_checks([PASSED, Check("CANCELLED")], "failure"),
    "wants an action": _with_checks([PASSED, Check("ACTION_REQUIRED")], "failure"),
    "did not start": _with_checks([PASSED, Check("STARTUP_FAILURE")], "failure"),
    "a status succeeded": _with_checks([PASSED, Check(classic="SUCCESS")], "success"),
    "a status is awaited": _with_checks([PASSED, Check(classic="PENDING")], "pending"),
    "a status is expected": _with_checks([PASSED, Check(classic="EXPECTED")], "pending"),
    "a status failed": _with_checks([PASSED, Check(classic="FAILURE")], "failure"),
    "a status is an error": _with_checks([RUNNING, Check(classic="ERROR")], "error"),
    "an error and a failure": _with_checks([Check(classic="ERROR"), FAILED], "failure"),
    "the last of many failed": _with_checks([*[PASSED] * 104, FAILED], "failure"),
}


@dataclass(frozen=True)
class Trouble:
    """A failure, and the beginning and type of the error that Spinney reports for it."""

    sentence: str
    kind: ErrorType
    stub: Mapping[str, Any] = field(default_factory=dict)
    """Attributes to set on the stub."""
    environment: Mapping[str, str] = field(default_factory=dict)


def _http_error(status: int, message: str) -> Mapping[str, Any]:
    return {"status": status, "message": message}


def _query_error(message: str) -> Mapping[str, Any]:
    return {"refused": "PullRequestByNumber", "message": message}


_NOT_SIGNED_IN = "gh is not signed in to GitHub. Run 'gh auth login'"
_NO_PERMISSION = "The account that gh is signed in with does not have permission to do that"
_RATE_LIMITED = "GitHub's rate limit for this account is exceeded."

TROUBLES: Mapping[str, Trouble] = {
    "not signed in": Trouble(_NOT_SIGNED_IN, "backend_unavailable", environment={"GH_TOKEN": ""}),
    "an invalid token": Trouble(
        _NOT_SIGNED_IN, "backend_unavailable", environment={"GH_TOKEN": "another"}
    ),
    "gone": Trouble("The pull request no longer exists.", "not_found"),
    "no such repository": Trouble(
        "There is no such repository on GitHub",
        "not_found",
        _query_error("Could not resolve to a Repository with the name 'ada/engine'."),
    ),
    "no permission": Trouble(
        _NO_PERMISSION,
        "forbidden",
        _query_error("Resource not accessible by personal access token"),
    ),
    "no permission at all": Trouble(_NO_PERMISSION, "forbidden", _http_error(403, "Forbidden")),
    "single sign-on": Trouble(
        _NO_PERMISSION,
        "forbidden",
        _http_error(403, "Resource protected by organization SAML enforcement."),
    ),
    "a rate limit": Trouble(
        _RATE_LIMITED,
        "rate_limit_error",
        _http_error(403, "API rate limit exceeded for user ID 1."),
    ),
    "a secondary rate limit": Trouble(
        _RATE_LIMITED,
        "rate_limit_error",
        _http_error(403, "You have exceeded a secondary rate limit. Please wait a few minutes."),
    ),
    "too many requests": Trouble(_RATE_LIMITED, "rate_limit_error", _http_error(429, "Slow down")),
    "bad gateway": Trouble(
        "GitHub has a problem at the moment",
        "backend_unavailable",
        _http_error(502, "Bad Gateway"),
    ),
    "no network": Trouble(
        "GitHub cannot be reached. Check the network connection",
        "backend_unavailable",
        environment={"HTTPS_PROXY": "http://127.0.0.1:1"},
    ),
}


API_RECORDING = RECORDING.with_name("gh_api.json")
"""By case, the calls of `gh api`: the operation or the path (`asked`) and the result."""


@dataclass(frozen=True)
class ApiCase:
    """A pull request whose details are read, and what is found or raised."""

    shown: PullRequest
    stub: Mapping[str, Any] = field(default_factory=dict)
    found: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the details."""
    sentence: str = ""
    """The beginning of the error."""


API_CASES: Mapping[str, ApiCase] = {
    "details": ApiCase(
        PullRequest(
            title="Otters ␛ “swim”",
            asked=["looms/weavers"],
            verdicts=[("bob", "APPROVED")],
            decision="APPROVED",
            behind=2,
            checks=[PASSED, Check("FAILURE", required=True), Check(classic="PENDING")],
            threads=[Thread(comments=[Comment("Why?"), Comment("So.", "ada")])],
        ),
        found={
            "title": "Otters ␛ “swim”", "phase": "approved", "behind": 2, "can_update": True,
            "can_merge": True, "author": "ada", "checks_note": "",
        },
    ),
    "checks that may not be read": ApiCase(
        PullRequest(checks=[FAILED]),
        {"unreadable": ["statusCheckRollup", "reviewThreads"]},
        found={
            "checks": [],
            "threads": [],
            "checks_note": "The token that gh uses may not read checks. Give it read access to "
            "checks and commit statuses, or sign in with 'gh auth login'.",
        },
    ),
    "a rate limit that names its end": ApiCase(
        PullRequest(),
        {
            "status": 403,
            "message": "You have exceeded a secondary rate limit.",
            "headers": {"Retry-After": "120"},
        },
        sentence="GitHub's rate limit for this account is exceeded. Try again in 2 minutes.",
    ),
    "a pull request that is gone": ApiCase(
        PullRequest(number=8), sentence="The pull request no longer exists."
    ),
}  # fmt: skip


async def check_api_case(case: ApiCase, path: Path) -> None:
    """Read the details of pull request 7 and compare them with the case."""
    try:
        details = await GitHub().fetch_details(path, URL)
    except SpinneyError as error:
        assert case.sentence
        assert error.message.startswith(case.sentence)
        return
    assert {name: getattr(details, name) for name in case.found} == case.found
