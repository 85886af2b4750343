"""`/lite`: the pull request of a worktree, with more than fits on a page and hostile texts."""

from typing import Any

import pytest

from model.base.errors import SpinneyError
from model.commands.registry import IMPLEMENTATIONS
from model.domain.hosting import (
    Check,
    CheckLog,
    PullRequestDetails,
    ReviewThread,
    ReviewThreadComment,
)
from model.domain.sessions import Session
from server.lite.layout import LIMIT
from tests.server.lite.browser import Browser

HOSTILE = "<script>alert(1)</script>\u202e" * 200


def a_pull_request() -> PullRequestDetails:
    comments = [ReviewThreadComment(id=f"c{n}", author=HOSTILE, body=HOSTILE) for n in range(50)]
    checks = [Check(id=f"i{n}", name=HOSTILE, state="passed") for n in range(499)]
    return PullRequestDetails(
        number=7,
        url="javascript:alert(1)",
        title=HOSTILE,
        body=HOSTILE,
        phase="open",
        author=HOSTILE,
        base=HOSTILE,
        head=HOSTILE,
        head_commit="e" * 40,
        checks=[*checks, Check(id="red", name="CI / test", state="failed", has_log=True)],
        threads=[
            ReviewThread(id=f"t{n}", path="a.py", line=n, comments=comments) for n in range(9)
        ],
        conversation=[
            ReviewThread(
                id=f"r{n}",
                path="",
                line=None,
                resolve_note="No.",
                needs_answer=n == 8,
                comments=[ReviewThreadComment(id=f"r{n}", author=f"ada{n}", body=HOSTILE)],
            )
            for n in range(9)
        ],
        merge_methods=["squash", "merge"],
        can_merge=True,
        merge_note=HOSTILE,
        fetched_at=1.0,
    )


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The arguments of the merges, each of which is refused."""
    made: list[dict[str, Any]] = []

    async def get_pull_request(workspace: Any, **given: Any) -> PullRequestDetails:
        return a_pull_request()

    async def get_check_log(workspace: Any, worktree_id: str, check_id: str) -> CheckLog:
        return CheckLog(check_id=check_id, name="CI / test", text="x" * 64_000, left_out=3)

    async def merge_pull_request(workspace: Any, **given: Any) -> PullRequestDetails:
        made.append(given)
        raise SpinneyError("The branch has moved. Look at it again.", "conflict")

    for implementation in (get_pull_request, get_check_log, merge_pull_request):
        monkeypatch.setitem(IMPLEMENTATIONS, implementation.__name__, implementation)
    return made


async def test_all_checks_and_comments_are_reached_in_small_pages(
    browser: Browser, session: Session, calls: list[dict[str, Any]]
) -> None:
    path = f"/lite/worktrees/{session.worktree_id}/pull-request"
    page = await browser.get_page(path)
    pages = [page]
    assert "1 failed, 499 passed" in page.text
    assert "At the hosting service" not in page.links()  # its address is no web address
    while (more := next((n for n in pages[-1].links() if "more check" in n), None)) is not None:
        pages.append(await browser.get_page(pages[-1].links()[more]))
    assert len(pages) > 30
    comments = await browser.get_page(page.links()["5 more open comments"])
    comments = await browser.get_page(comments.links()["1 more open comment"])
    thread = await browser.get_page(comments.links()["a.py:8"])
    assert "Mark as resolved" in thread.text
    assert "ada8, not answered" in page.links()
    earlier = await browser.get_page(page.links()["5 earlier comments"])
    assert "1 earlier comment" in earlier.links()
    remark = await browser.get_page(earlier.links()["ada4"])
    assert "Send" in remark.source and "Mark as resolved" not in remark.text
    log = await browser.get_page(page.links()["failed: CI / test"])
    assert "3 lines before are left out." in log.text
    assert "Continue" in log.links()
    assert max(len(each.source.encode()) for each in (*pages[:3], thread, remark, log)) < LIMIT


async def test_a_merge_needs_a_tick_and_says_why_it_is_refused(
    browser: Browser, session: Session, calls: list[dict[str, Any]]
) -> None:
    page = await browser.get_page(f"/lite/worktrees/{session.worktree_id}/pull-request")
    assert (await browser.submit(page, "merge", method="squash")).status == 400
    seen = await browser.submit(page, "merge", method="squash", sure="1")
    assert seen.status == 409
    assert "The branch has moved. Look at it again." in seen.page.text
    assert calls == [
        {
            "worktree_id": session.worktree_id,
            "head_commit": "e" * 40,
            "auto": False,
            "method": "squash",
        }
    ]
