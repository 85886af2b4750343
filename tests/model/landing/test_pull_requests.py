"""What the landing desk shows of a pull request."""

from model.domain.hosting import Check, CheckState, PullRequestDetails, ReviewThread
from model.domain.worktrees import Worktree
from model.landing.pull_requests import describe_pull_request

WORKTREE = Worktree(
    id="w", project_id="p", name="n", path="/w", branch="otter", created_at=1, pr_number=7,
    pr_url="https://github.com/ada/engine/pull/7", cached_pr_status="review",
    cached_check_status="pending",
)  # fmt: skip


def make_details(*states: CheckState) -> PullRequestDetails:
    checks = [Check(id=state, name=state, state=state) for state in states]
    threads = [
        ReviewThread(id="1", path="a", line=1),
        ReviewThread(id="2", path="a", line=2, is_resolved=True),
    ]
    return PullRequestDetails(
        number=7, url="", title="", body="", phase="approved", author="ada", base="main",
        head="otter", head_commit="a", fetched_at=0.0, checks=checks, threads=threads,
        conversation=[
            ReviewThread(id="3", path="", line=None, needs_answer=True),
            ReviewThread(id="4", path="", line=None, needs_answer=True, is_outdated=True),
            ReviewThread(id="5", path="", line=None),
        ],
    )  # fmt: skip


def test_without_details_the_polled_state_is_shown() -> None:
    found = describe_pull_request(WORKTREE, None, is_outdated=False)
    assert found is not None
    assert (found.phase, found.checks, found.unresolved) == ("open", "running", 0)
    unlinked = WORKTREE.model_copy(update={"pr_number": None})
    assert describe_pull_request(unlinked, None, is_outdated=False) is None


def test_details_are_finer_and_only_their_comments_outlast_a_change() -> None:
    details = make_details("passed", "failed", "running")
    found = describe_pull_request(WORKTREE, details, is_outdated=False)
    assert found is not None
    assert (found.phase, found.checks, found.unresolved) == ("approved", "failed", 1)
    found = describe_pull_request(WORKTREE, details, is_outdated=True)
    assert found is not None
    assert (found.phase, found.checks, found.unresolved) == ("open", "running", 1)
    assert found.unanswered == 1
