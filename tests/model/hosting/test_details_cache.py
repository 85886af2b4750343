"""The details of a pull request are kept until something has changed."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.domain.events.base import Event
from model.domain.events.landing import PullRequestUpdated
from model.domain.events.projects import ProjectAdded
from model.domain.events.worktrees import WorktreeCreated
from model.domain.hosting import PullRequestDetails
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.hosting.details import MAX_AGE, RETRY, PullRequestCache
from model.hosting.github.forge import GitHub
from model.state import State
from model.store.bus import EventBus
from model.store.database import Database
from model.store.store import Store

URL = "https://github.com/ada/engine/pull/7"


@dataclass
class Shown:
    """A worktree with a pull request, the answers of the service, and how often it was asked."""

    store: Store
    cache: PullRequestCache
    now: float = 0.0
    title: str = "Otters"
    url: str = URL
    asked: int = 0
    events: list[Event] = field(default_factory=list)

    @property
    def worktree(self) -> Worktree:
        return self.store.state.worktrees["w"]

    async def get(self, *, refresh: bool = False) -> str:
        return (await self.cache.get(self.worktree, refresh=refresh)).title

    @property
    def reports(self) -> int:
        return sum(isinstance(event, PullRequestUpdated) for event in self.events)


@pytest.fixture
async def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Shown]:
    database, _ = await Database.open(tmp_path / "known.db")
    store = Store(database, EventBus(), State())
    project = Project(id="p", name="e", path=str(tmp_path), default_branch="main", added_at=1)
    worktree = Worktree(
        id="w", project_id="p", name="n", path=str(tmp_path), branch="otter", created_at=1,
        pr_number=7, pr_url=URL,
    )  # fmt: skip
    await store.accept(ProjectAdded(project=project), WorktreeCreated(worktree=worktree))
    made = Shown(store, PullRequestCache(store, lambda: made.now))

    async def fetch(*_: object) -> PullRequestDetails:
        made.asked += 1
        await asyncio.sleep(0)
        return PullRequestDetails(
            number=7, url=made.url, title=made.title, body="", phase="open", author="ada",
            base="main", head="otter", head_commit="a" * 40, fetched_at=float(made.asked),
        )  # fmt: skip

    async def find_forge(_: Path) -> GitHub:
        return GitHub()

    monkeypatch.setattr(GitHub, "fetch_details", fetch)
    monkeypatch.setattr("model.hosting.details.find_forge", find_forge)
    monkeypatch.setattr(store, "record", lambda *events: made.events.extend(events))
    yield made
    await store.close()
    await database.close()


async def test_the_service_is_asked_again_after_a_change_a_wish_or_some_time(shown: Shown) -> None:
    for _ in range(3):
        assert await shown.get() == "Otters"
    assert (shown.asked, shown.reports) == (1, 0)
    shown.title = "More otters"
    shown.now = 1.0
    assert await shown.get() == "Otters"
    assert await shown.get(refresh=True) == "More otters"
    assert (shown.asked, shown.reports) == (2, 1)
    await shown.get(refresh=True)
    shown.cache.note_change("w")
    await shown.get()
    shown.now += MAX_AGE
    await shown.get()
    assert (shown.asked, shown.reports) == (5, 2)


async def test_clients_that_ask_at_once_share_the_answer(shown: Shown) -> None:
    assert await asyncio.gather(*(shown.get(refresh=True) for _ in range(5))) == ["Otters"] * 5
    assert shown.asked <= 2


async def test_the_new_address_of_a_moved_repository_is_saved(shown: Shown) -> None:
    shown.url = "https://github.com/ada/otters/pull/7"
    await shown.get()
    assert shown.worktree.pr_url == shown.url
    await shown.get()
    assert shown.asked == 1
    shown.url = "https://evil.example/ada/otters/pull/7"
    await shown.get(refresh=True)
    assert shown.worktree.pr_url == "https://github.com/ada/otters/pull/7"


async def test_another_pull_request_of_the_worktree_is_asked_for(shown: Shown) -> None:
    await shown.get()
    assert shown.cache.peek(shown.worktree)[0] is not None
    other = shown.worktree.model_copy(update={"pr_number": 8, "pr_url": URL[:-1] + "8"})
    assert shown.cache.peek(other) == (None, False)
    await shown.cache.get(other)
    assert shown.asked == 2
    with pytest.raises(SpinneyError, match=r"'n' has no pull request. Open one"):
        await shown.cache.get(other.model_copy(update={"pr_number": None, "pr_url": None}))


async def test_what_a_list_shows_is_read_ahead_once_and_not_again_at_once_after_a_failure(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = shown.cache
    assert cache.is_worth_reading(shown.worktree)
    await cache.read_ahead(shown.worktree)
    assert (shown.asked, shown.reports) == (1, 1)
    assert not cache.is_worth_reading(shown.worktree)
    cache.note_change("w")
    assert cache.is_worth_reading(shown.worktree)
    merged = shown.worktree.model_copy(update={"cached_pr_status": "merged"})
    assert not cache.is_worth_reading(merged)

    async def fail(*_: object) -> PullRequestDetails:
        raise SpinneyError("gh is not signed in.", "backend_unavailable")

    monkeypatch.setattr(GitHub, "fetch_details", fail)
    await cache.read_ahead(shown.worktree)
    assert not cache.is_worth_reading(shown.worktree)
    shown.now += RETRY
    assert cache.is_worth_reading(shown.worktree)
