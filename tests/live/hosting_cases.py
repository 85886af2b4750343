"""How pull requests stand at the hosting service, what goes wrong there, and what Spinney is to
make of each: tried with the real `gh`, and with a recording of its answers where there is none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model.base.errors import ErrorType
from model.hosting.pull_requests import CheckStatus, PullRequestStatus
from tests.live.hosting_stub import Check, PullRequest

RECORDING = Path(__file__).parents[1] / "model" / "hosting" / "recordings" / "gh.json"
"""By case, what `gh` was asked (`args`) and how it ended (`out`, `err`, `code`)."""

URL = "https://github.com/ada/engine/pull/7"


@dataclass(frozen=True)
class State:
    """How one stands, and in the interface's words."""

    shown: PullRequest
    status: PullRequestStatus = "open"
    checks: CheckStatus | None = None


def _checked(by: Sequence[Check], checks: CheckStatus) -> State:
    return State(PullRequest(checks=by), "open", checks)


PASSED, RUNS = Check("SUCCESS"), Check()
FAILED = Check("FAILURE")

STATES: Mapping[str, State] = {
    "a draft": State(PullRequest(draft=True), "draft"),
    "a draft with a reviewer": State(PullRequest(draft=True, asked=["bob"]), "draft"),
    "open": State(PullRequest(), "open"),
    "a review is required, nobody was asked": State(PullRequest(decision="REVIEW_REQUIRED")),
    "a person was asked for a review": State(PullRequest(asked=["bob"]), "review"),
    "a team was asked for a review": State(PullRequest(asked=["looms/weavers"]), "review"),
    "somebody wrote a review": State(PullRequest(reviewed=["bob"]), "review"),
    "changes are requested": State(PullRequest(decision="CHANGES_REQUESTED"), "review"),
    "approved": State(PullRequest(decision="APPROVED"), "review"),
    "merged": State(PullRequest(state="MERGED", reviewed=["bob"]), "merged"),
    "closed": State(PullRequest(state="CLOSED"), "closed"),
    "a closed draft": State(PullRequest(state="CLOSED", draft=True), "closed"),
    "all passed": _checked([PASSED, Check("NEUTRAL"), Check("SKIPPED")], "success"),
    "one runs": _checked([PASSED, RUNS], "pending"),
    "one failed while others run": _checked([RUNS, FAILED, PASSED], "failure"),
    "timed out": _checked([PASSED, Check("TIMED_OUT")], "failure"),
    "cancelled": _checked([PASSED, Check("CANCELLED")], "failure"),
    "wants an action": _checked([PASSED, Check("ACTION_REQUIRED")], "failure"),
    "did not start": _checked([PASSED, Check("STARTUP_FAILURE")], "failure"),
    "a status succeeded": _checked([PASSED, Check(classic="SUCCESS")], "success"),
    "a status is awaited": _checked([PASSED, Check(classic="PENDING")], "pending"),
    "a status is expected": _checked([PASSED, Check(classic="EXPECTED")], "pending"),
    "a status failed": _checked([PASSED, Check(classic="FAILURE")], "failure"),
    "a status is an error": _checked([RUNS, Check(classic="ERROR")], "error"),
    "an error and a failure": _checked([Check(classic="ERROR"), FAILED], "failure"),
    "the last of many failed": _checked([*[PASSED] * 104, FAILED], "failure"),
}


@dataclass(frozen=True)
class Trouble:
    """What goes wrong, and how the sentence about it begins."""

    sentence: str
    kind: ErrorType
    stub: Mapping[str, Any] = field(default_factory=dict)
    """What the stub is set to."""
    environment: Mapping[str, str] = field(default_factory=dict)


def _answered(status: int, message: str) -> Mapping[str, Any]:
    return {"status": status, "message": message}


def _queried(message: str) -> Mapping[str, Any]:
    return {"refused": "PullRequestByNumber", "message": message}


_NOT_SIGNED_IN = "gh is not signed in to GitHub. Run 'gh auth login'"
_MAY_NOT = "The account that gh is signed in with does not have permission to do that"
_ENOUGH = "GitHub's rate limit for this account is exceeded."

TROUBLES: Mapping[str, Trouble] = {
    "not signed in": Trouble(_NOT_SIGNED_IN, "backend_unavailable", environment={"GH_TOKEN": ""}),
    "signed in no more": Trouble(
        _NOT_SIGNED_IN, "backend_unavailable", environment={"GH_TOKEN": "another"}
    ),
    "gone": Trouble("The pull request no longer exists.", "not_found"),
    "no such repository": Trouble(
        "There is no such repository on GitHub",
        "not_found",
        _queried("Could not resolve to a Repository with the name 'ada/engine'."),
    ),
    "no permission": Trouble(
        _MAY_NOT, "forbidden", _queried("Resource not accessible by personal access token")
    ),
    "no permission at all": Trouble(_MAY_NOT, "forbidden", _answered(403, "Forbidden")),
    "single sign-on": Trouble(
        _MAY_NOT,
        "forbidden",
        _answered(403, "Resource protected by organization SAML enforcement."),
    ),
    "too much": Trouble(
        _ENOUGH, "rate_limit_error", _answered(403, "API rate limit exceeded for user ID 1.")
    ),
    "too much at once": Trouble(
        _ENOUGH,
        "rate_limit_error",
        _answered(403, "You have exceeded a secondary rate limit. Please wait a few minutes."),
    ),
    "too many requests": Trouble(_ENOUGH, "rate_limit_error", _answered(429, "Slow down")),
    "nothing answers behind the door": Trouble(
        "GitHub has a problem at the moment",
        "backend_unavailable",
        _answered(502, "Bad Gateway"),
    ),
    "no network": Trouble(
        "GitHub cannot be reached. Check the network connection",
        "backend_unavailable",
        environment={"HTTPS_PROXY": "http://127.0.0.1:1"},
    ),
}
