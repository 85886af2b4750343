"""What `gh` says of a pull request, in the words of the interface."""

from typing import Any

import pytest

from model.hosting.pull_requests import PullRequestState, is_link, parse_state


@pytest.mark.parametrize(
    ("found", "status"),
    [
        ({"state": "OPEN", "isDraft": True, "reviewDecision": "APPROVED"}, "draft"),
        ({"state": "OPEN"}, "open"),
        ({"state": "OPEN", "reviewDecision": "REVIEW_REQUIRED"}, "open"),
        ({"state": "OPEN", "reviewRequests": [{"login": "ada"}]}, "review"),
        ({"state": "OPEN", "latestReviews": [{"state": "COMMENTED"}]}, "review"),
        ({"state": "OPEN", "reviewDecision": "CHANGES_REQUESTED"}, "review"),
        ({"state": "OPEN", "reviewDecision": "APPROVED"}, "review"),
        ({"state": "MERGED", "reviewDecision": "APPROVED"}, "merged"),
        ({"state": "CLOSED", "isDraft": True}, "closed"),
    ],
)
def test_the_status_of_a_pull_request(found: dict[str, Any], status: str) -> None:
    assert parse_state(found) == PullRequestState(status, None)  # type: ignore[arg-type]


def run(conclusion: str, status: str = "COMPLETED") -> dict[str, str]:
    return {"__typename": "CheckRun", "status": status, "conclusion": conclusion}


def classic(state: str) -> dict[str, str]:
    return {"__typename": "StatusContext", "state": state}


PASSED, GOING_ON = run("SUCCESS"), run("", "IN_PROGRESS")


@pytest.mark.parametrize(
    ("checks", "status"),
    [
        ([], None),
        ([PASSED, run("NEUTRAL"), run("SKIPPED"), classic("SUCCESS")], "success"),
        ([PASSED, GOING_ON], "pending"),
        ([PASSED, run("", "QUEUED")], "pending"),
        ([PASSED, classic("EXPECTED")], "pending"),
        ([PASSED, classic("PENDING")], "pending"),
        ([GOING_ON, classic("ERROR")], "error"),
        ([GOING_ON, classic("ERROR"), classic("FAILURE")], "failure"),
        *(
            ([GOING_ON, classic("ERROR"), run(word)], "failure")
            for word in ("FAILURE", "TIMED_OUT", "CANCELLED", "ACTION_REQUIRED", "STARTUP_FAILURE")
        ),
    ],
)
def test_the_status_of_the_checks(checks: list[dict[str, str]], status: str | None) -> None:
    found = {"state": "OPEN", "statusCheckRollup": checks}
    assert parse_state(found).checks == status


@pytest.mark.parametrize(
    ("url", "right"),
    [
        ("https://github.com/ada/engine/pull/7", True),
        ("https://git.example.org/ada/engine/pull/12", True),
        ("https://github.com/ada/engine/pull/7/files", False),
        ("--web", False),
        ("file:///ada/engine/x/pull/7", False),
        ("", False),
    ],
)
def test_only_the_address_of_a_pull_request_is_one(url: str, right: bool) -> None:
    assert is_link(url) is right
