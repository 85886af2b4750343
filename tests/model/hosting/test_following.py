"""The poller finds pull requests opened elsewhere, with backoff, and archives merged ones."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.domain.events.program import PreferencesUpdated
from model.domain.events.projects import ProjectAdded
from model.domain.events.worktrees import WorktreeCreated, WorktreeUpdated
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.git.branch_tips import read_branch_tips
from model.hosting.forge import PullRequestState
from model.hosting.github.forge import GitHub
from model.hosting.polling import PullRequestPoller
from model.preferences.schema import Preferences
from model.state import State
from model.store.bus import EventBus
from model.store.database import Database
from model.store.store import Store
from model.worktrees import archive
from tests.fakes import hold_writes
from tests.model.git.repository import Repository
from tests.model.hosting.conftest import FakeGh

URL = "https://github.com/ada/engine/pull/7"


@dataclass
class PolledWorktree:
    """A store with one worktree, on the branch `otter` of a repository on GitHub."""

    store: Store
    repository: Repository
    now: float = 0.0
    """The time of the poller's clock."""

    def __post_init__(self) -> None:
        self.poller = PullRequestPoller(
            self.store, archive, read_branch_tips, clock=lambda: self.now
        )

    @property
    def worktree(self) -> Worktree:
        return self.store.state.worktrees["w"]

    async def poll(self) -> Worktree:
        await self.poller.poll("w")
        return self.worktree

    def push(self, text: str) -> None:
        self.repository.commit("new.txt", text)
        self.repository.git("push", "--quiet", "origin", "otter")


@pytest.fixture
async def polled(
    with_remote: Repository, tmp_path: Path, fake_gh: FakeGh
) -> AsyncIterator[PolledWorktree]:
    git = with_remote.git
    git("config", "remote.origin.pushurl", git("config", "remote.origin.url"))
    git("config", "remote.origin.url", "https://github.com/ada/engine.git")
    git("switch", "--quiet", "-c", "otter")
    database, _ = await Database.open(tmp_path / "known.db")
    store = Store(database, EventBus(), State())
    root = str(with_remote.root)
    project = Project(id="p", name="engine", path=root, default_branch="main", added_at=1)
    made = Worktree(id="w", project_id="p", name="n", path=root, branch="otter", created_at=1)
    await store.accept(ProjectAdded(project=project), WorktreeCreated(worktree=made))
    yield PolledWorktree(store, with_remote)
    await store.close()
    await database.close()


def format_list(number: int = 7, owner: str = "ada") -> str:
    url = f"https://github.com/ada/engine/pull/{number}"
    return json.dumps([{"number": number, "url": url, "headRepositoryOwner": {"login": owner}}])


def count_calls(gh: FakeGh, command: str) -> int:
    calls = (call["args"] for call in gh.calls)
    return sum(isinstance(args, list) and " ".join(args[:2]) == command for args in calls)


async def test_a_pull_request_opened_elsewhere_is_found_and_polled(
    polled: PolledWorktree, fake_gh: FakeGh
) -> None:
    fake_gh.set_result("pr list", format_list())
    fake_gh.set_pull_request(state="OPEN", statusCheckRollup=[{"state": "PENDING"}])
    polled.push("one\n")
    worktree = await polled.poll()
    assert (worktree.pr_number, worktree.pr_url) == (7, URL)
    assert (worktree.cached_pr_status, worktree.cached_check_status) == ("open", "pending")
    assert "--head=otter" in fake_gh.calls[0]["args"]  # type: ignore[operator]


async def test_an_unpushed_branch_is_not_looked_up(polled: PolledWorktree, fake_gh: FakeGh) -> None:
    polled.repository.commit("new.txt", "one\n")
    await polled.poll()
    assert fake_gh.calls == []


async def test_the_default_branch_is_not_looked_up(polled: PolledWorktree, fake_gh: FakeGh) -> None:
    await polled.store.accept(
        WorktreeUpdated(worktree=polled.worktree.model_copy(update={"branch": "main"}))
    )
    await polled.poll()
    assert fake_gh.calls == []


async def test_a_branch_without_a_remote_on_github_is_not_looked_up(
    polled: PolledWorktree, fake_gh: FakeGh
) -> None:
    polled.push("one\n")
    polled.repository.git("config", "remote.origin.url", "https://gitlab.com/ada/engine.git")
    await polled.poll()
    assert fake_gh.calls == []


async def test_a_pull_request_of_another_owners_branch_is_ignored(
    polled: PolledWorktree, fake_gh: FakeGh
) -> None:
    fake_gh.set_result("pr list", format_list(owner="bob"))
    polled.push("one\n")
    assert (await polled.poll()).pr_number is None


async def test_lookups_become_less_frequent_while_there_is_no_pull_request(
    polled: PolledWorktree, fake_gh: FakeGh
) -> None:
    fake_gh.set_result("pr list", "[]")
    polled.push("one\n")
    asked_at = []
    for minute in range(90):
        before = count_calls(fake_gh, "pr list")
        polled.now = minute * 60.0
        await polled.poll()
        if count_calls(fake_gh, "pr list") > before:
            asked_at.append(minute)
    assert asked_at[:4] == [0, 1, 2, 3]
    pauses = [later - earlier for earlier, later in pairwise(asked_at)]
    assert pauses == sorted(pauses)
    assert pauses[-1] == 15


async def test_a_push_or_the_end_of_a_turn_causes_an_immediate_lookup(
    polled: PolledWorktree, fake_gh: FakeGh
) -> None:
    fake_gh.set_result("pr list", "[]")
    polled.push("one\n")
    for polled.now in (0.0, 600.0, 601.0):
        await polled.poll()
    assert count_calls(fake_gh, "pr list") == 2
    polled.push("two\n")
    await polled.poll()
    assert count_calls(fake_gh, "pr list") == 3
    assert polled.poller.handle_turn_end(polled.worktree)
    await polled.poll()
    assert count_calls(fake_gh, "pr list") == 4


async def test_the_url_of_a_pull_request_known_by_number_is_looked_up(
    polled: PolledWorktree, fake_gh: FakeGh
) -> None:
    await polled.store.accept(
        WorktreeUpdated(worktree=polled.worktree.model_copy(update={"pr_number": 7}))
    )
    fake_gh.set_pull_request(number=7, url=URL, state="OPEN")
    worktree = await polled.poll()
    assert (worktree.pr_url, worktree.cached_pr_status) == (URL, "open")
    await polled.poll()
    assert count_calls(fake_gh, "pr view") == 3


async def test_a_dismissed_pull_request_is_not_found_again_but_the_next_one_is(
    polled: PolledWorktree, fake_gh: FakeGh
) -> None:
    cleared = polled.worktree.model_copy(update={"dismissed_pr": 7})
    await polled.store.accept(WorktreeUpdated(worktree=cleared))
    fake_gh.set_result("pr list", format_list(7))
    polled.push("one\n")
    assert (await polled.poll()).pr_number is None
    fake_gh.set_result("pr list", format_list(8))
    polled.push("two\n")
    assert (await polled.poll()).pr_number == 8


async def test_the_state_of_a_pull_request_that_is_being_cleared_is_not_saved(
    polled: PolledWorktree, fake_gh: FakeGh, monkeypatch: pytest.MonkeyPatch
) -> None:
    has = polled.worktree.model_copy(update={"pr_number": 7, "pr_url": URL})
    await polled.store.accept(WorktreeUpdated(worktree=has))
    answered = asyncio.Event()

    async def answer(*_: object) -> tuple[PullRequestState, str]:
        answered.set()
        return PullRequestState(status="open", checks=None), ""

    monkeypatch.setattr(GitHub, "fetch_state", answer)
    saving, may_save = hold_writes(monkeypatch)
    clears = has.model_copy(update={"pr_number": None, "pr_url": None})
    clearing = asyncio.create_task(polled.store.accept(WorktreeUpdated(worktree=clears)))
    await saving.wait()
    looking = asyncio.create_task(polled.poll())
    await answered.wait()
    await asyncio.sleep(0)
    may_save.set()
    await asyncio.gather(clearing, looking)
    assert (polled.worktree.pr_number, polled.worktree.cached_pr_status) == (None, None)


async def test_a_pending_archival_is_canceled_if_the_preference_is_disabled(
    polled: PolledWorktree, fake_gh: FakeGh
) -> None:
    waits = {"pr_number": 7, "cached_pr_status": "merged", "archive_when_idle": True}
    await polled.store.accept(WorktreeUpdated(worktree=polled.worktree.model_copy(update=waits)))
    off = Preferences(auto_archive_on_pr_merged=False)
    polled.store.record(PreferencesUpdated(changes=off.model_dump()))
    assert polled.poller.needs_polling(polled.worktree)
    worktree = await polled.poll()
    assert (worktree.archived_at, worktree.archive_when_idle) == (None, False)
    assert not polled.poller.needs_polling(worktree)
    assert fake_gh.calls == []


async def test_nothing_is_asked_until_a_rate_limit_ends(
    polled: PolledWorktree, fake_gh: FakeGh, monkeypatch: pytest.MonkeyPatch
) -> None:
    has = polled.worktree.model_copy(update={"pr_number": 7, "pr_url": URL})
    await polled.store.accept(WorktreeUpdated(worktree=has))
    asked = []

    async def refuse(*_: object) -> None:
        asked.append(polled.now)
        wait = 900.0 if polled.now < 1000 else None
        raise SpinneyError("Exceeded.", "rate_limit_error", retry_after=wait)

    monkeypatch.setattr(GitHub, "fetch_state", refuse)
    for polled.now in (0.0, 60.0, 899.0, 901.0, 1801.0, 2000.0, 2102.0):
        await polled.poll()
    assert asked == [0.0, 901.0, 1801.0, 2102.0]


async def test_a_change_is_reported_and_what_is_unchanged_is_not(
    polled: PolledWorktree, fake_gh: FakeGh, monkeypatch: pytest.MonkeyPatch
) -> None:
    has = polled.worktree.model_copy(update={"pr_number": 7, "pr_url": URL})
    await polled.store.accept(WorktreeUpdated(worktree=has))
    reported: list[str] = []
    polled.poller = PullRequestPoller(
        polled.store, archive, read_branch_tips, reported.append, lambda: polled.now
    )
    versions, asked = ["1", "1", "2"], []

    async def answer(
        _forge: GitHub, _path: Path, _pull_request: str, version: str
    ) -> tuple[PullRequestState | None, str]:
        asked.append(version)
        newer = versions.pop(0)
        return None if newer == version else PullRequestState("open", "pending"), newer

    monkeypatch.setattr(GitHub, "fetch_state", answer)
    counts = []
    for _ in range(3):
        assert (await polled.poll()).cached_check_status == "pending"
        counts.append(len(reported))
    assert (asked, counts) == (["", "1", "1"], [1, 1, 2])
