"""Parsing the state of a pull request from the output of `gh`."""

from typing import Any

import pytest

from model.hosting.github.pull_requests import PullRequestState, is_pull_request_url, parse_state


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


def check_run(conclusion: str, status: str = "COMPLETED") -> dict[str, str]:
    return {"__typename": "CheckRun", "status": status, "conclusion": conclusion}


def status_context(state: str) -> dict[str, str]:
    return {"__typename": "StatusContext", "state": state}


PASSED, RUNNING = check_run("SUCCESS"), check_run("", "IN_PROGRESS")


@pytest.mark.parametrize(
    ("checks", "status"),
    [
        ([], None),
        (
            [PASSED, check_run("NEUTRAL"), check_run("SKIPPED"), status_context("SUCCESS")],
            "success",
        ),
        ([PASSED, RUNNING], "pending"),
        ([PASSED, check_run("", "QUEUED")], "pending"),
        ([PASSED, status_context("EXPECTED")], "pending"),
        ([PASSED, status_context("PENDING")], "pending"),
        ([RUNNING, status_context("ERROR")], "error"),
        ([RUNNING, status_context("ERROR"), status_context("FAILURE")], "failure"),
        *(
            ([RUNNING, status_context("ERROR"), check_run(word)], "failure")
            for word in ("FAILURE", "TIMED_OUT", "CANCELLED", "ACTION_REQUIRED", "STARTUP_FAILURE")
        ),
    ],
)
def test_the_status_of_the_checks(checks: list[dict[str, str]], status: str | None) -> None:
    found = {"state": "OPEN", "statusCheckRollup": checks}
    assert parse_state(found).checks == status


def named(conclusion: str, started: str = "", workflow: str = "CI", **more: str) -> dict[str, str]:
    """A run of the check `test`; `started` is its hour, and one without a conclusion goes on."""
    run = check_run(conclusion, "COMPLETED" if conclusion else more.pop("status", "IN_PROGRESS"))
    at = f"2026-01-01T{started}:00:00Z" if started else "0001-01-01T00:00:00Z"
    return {**run, "name": "test", "workflowName": workflow, "startedAt": at, **more}


@pytest.mark.parametrize(
    ("checks", "status"),
    [
        ([named("FAILURE", "08"), named("SUCCESS", "09")], "success"),
        ([named("SUCCESS", "09"), named("FAILURE", "08")], "success"),
        ([named("SUCCESS", "08"), named("FAILURE", "09")], "failure"),
        ([named("CANCELLED", "08"), named("SUCCESS", "09")], "success"),
        ([named("SUCCESS", "08"), named("", "09")], "pending"),
        ([named("", status="QUEUED"), named("SUCCESS", "08")], "pending"),
        ([named("FAILURE", "08"), named("SUCCESS", "09", workflow="Nightly")], "failure"),
        ([named("FAILURE", "08"), named("SUCCESS", "09", name="lint")], "failure"),
        ([named("FAILURE"), named("SUCCESS")], "success"),
        ([named("SUCCESS"), named("FAILURE")], "failure"),
        ([named("SUCCESS", "08"), named("FAILURE")], "success"),
        ([{**status_context("FAILURE"), "context": "test"}, named("SUCCESS", "09")], "failure"),
    ],
)
def test_the_newest_run_of_each_check_counts(checks: list[dict[str, str]], status: str) -> None:
    found = {"state": "OPEN", "statusCheckRollup": checks}
    assert parse_state(found).checks == status


def test_what_is_not_a_list_of_checks_counts_as_none() -> None:
    assert parse_state({"state": "OPEN", "statusCheckRollup": ["x", None]}).checks is None


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
def test_urls_of_pull_requests_are_recognized(url: str, right: bool) -> None:
    assert is_pull_request_url(url) is right
