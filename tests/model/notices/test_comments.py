"""Comments of others on one's own pull request are worth one word, those of oneself none."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from model.domain.events.worktrees import WorktreeUpdated
from model.domain.hosting import PullRequestDetails, ReviewThread, ReviewThreadComment
from tests.model.notices.night import WORKTREE, Night

URL = "https://github.com/ada/engine/pull/7"
DETAILS = PullRequestDetails(
    number=7, url=URL, title="Otters", body="", phase="open", author="ada", is_own=True,
    base="main", head="otter", head_commit="a" * 40, fetched_at=0.0,
)  # fmt: skip


class Commented:
    """A worktree's pull request, and the notices about it."""

    def __init__(self, night: Night) -> None:
        self.night = night
        self.details = DETAILS

    async def fetch_details(self, path: Path, pull_request: str) -> PullRequestDetails:
        return self.details

    def link(self, worktree_id: str = "w") -> None:
        update = {"id": worktree_id, "pr_number": 7, "pr_url": URL, "cached_pr_status": "open"}
        self.night.store.record(WorktreeUpdated(worktree=WORKTREE.model_copy(update=update)))

    async def look(self, worktree_id: str = "w") -> list[str]:
        """Follow a change at the service; return the texts of what stands."""
        self.night.pull_requests.note_change(worktree_id)
        await self.night.notices.comments.check(worktree_id)
        await self.night.settle()
        return [f"{each.title}: {each.text}" for each in self.night.standing.values()]

    async def write(self, *comments: ReviewThreadComment) -> list[str]:
        """Add threads, one for each comment; return the texts of what stands."""
        threads = [
            ReviewThread(id=each.id, path="swim.py", line=3, comments=[each]) for each in comments
        ]
        all_threads = [*self.details.threads, *threads]
        self.details = self.details.model_copy(update={"threads": all_threads})
        return await self.look()


def comment(at: float, body: str = "Why?", *, own: bool = False) -> ReviewThreadComment:
    author = "ada" if own else "bob"
    return ReviewThreadComment(id=f"c{at}", author=author, body=body, created_at=at, is_own=own)


@pytest.fixture
async def commented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Commented]:
    night = await Night(tmp_path / "spinney.db").open()
    made = Commented(night)

    async def find_forge(_: Path) -> Commented:
        return made

    monkeypatch.setattr("model.hosting.details.find_forge", find_forge)
    made.link()
    await made.write(comment(10, "An old one."))
    yield made
    await night.close()


async def test_new_comments_of_others_raise_one_notice_until_they_are_answered(
    commented: Commented,
) -> None:
    assert await commented.look() == []
    assert await commented.write(comment(20, own=True)) == []
    said = ["calm-otter has new comments: 2 comments on #7, bob: And ␛[2J here?"]
    assert await commented.write(comment(30), comment(40, "And \x1b[2J here?")) == said
    assert await commented.write(comment(50, "More.")) == said
    assert commented.night.channel.titles == ["calm-otter has new comments"]
    threads = [each.model_copy(update={"is_resolved": True}) for each in commented.details.threads]
    commented.details = commented.details.model_copy(update={"threads": threads})
    assert await commented.look() == []


async def test_what_was_written_while_spinney_did_not_run_is_mentioned_and_nothing_twice(
    commented: Commented,
) -> None:
    await commented.write(comment(20))
    commented.night.notices.dismiss("review.w")
    await commented.night.restart()
    assert await commented.look() == []
    assert await commented.write(comment(30, "Later.")) != []


async def test_only_own_pull_requests_that_no_session_deals_with_are_mentioned_and_each_once(
    commented: Commented,
) -> None:
    commented.link("v")
    await commented.look("v")
    await commented.night.add_session("login")
    commented.night.change("login", pull_request_loop={"limit": 3})
    assert await commented.write(comment(20)) == []
    commented.night.change("login", pull_request_loop=None)
    await commented.write(comment(30))
    await commented.look("v")
    assert list(commented.night.standing) == ["review.w"]
    commented.night.notices.dismiss("review.w")
    commented.details = commented.details.model_copy(update={"is_own": False})
    assert await commented.write(comment(40)) == []
