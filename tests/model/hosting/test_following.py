"""A pull request that was opened elsewhere is found, seldom asked for, and put away when merged."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from model.domain.events import PreferencesUpdated, ProjectAdded, WorktreeCreated, WorktreeUpdated
from model.domain.resources import Project, Worktree
from model.git.branch_tips import branch_tips
from model.hosting import polling
from model.hosting.polling import Following
from model.hosting.pull_requests import PullRequestState
from model.preferences.schema import Preferences
from model.state import State
from model.store.bus import EventBus
from model.store.database import Database
from model.store.store import Store
from model.worktrees import archive
from tests.fakes import held_writes
from tests.model.git.made_repository import Repository
from tests.model.hosting.conftest import FakeGh

URL = "https://github.com/ada/engine/pull/7"


@dataclass
class Known:
    """A store with one worktree, on the branch `otter` of a repository at the service."""

    store: Store
    repository: Repository
    now: float = 0.0
    """What its clock says."""

    def __post_init__(self) -> None:
        self.following = Following(self.store, archive, branch_tips, lambda: self.now)

    @property
    def worktree(self) -> Worktree:
        return self.store.state.worktrees["w"]

    async def look(self) -> Worktree:
        await self.following.look("w")
        return self.worktree

    def push(self, text: str) -> None:
        self.repository.commit("new.txt", text)
        self.repository.git("push", "--quiet", "origin", "otter")


@pytest.fixture
async def known(with_remote: Repository, tmp_path: Path, fake_gh: FakeGh) -> AsyncIterator[Known]:
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
    yield Known(store, with_remote)
    await store.close()
    await database.close()


def listed(number: int = 7, owner: str = "ada") -> str:
    url = f"https://github.com/ada/engine/pull/{number}"
    return json.dumps([{"number": number, "url": url, "headRepositoryOwner": {"login": owner}}])


def asked(gh: FakeGh, command: str) -> int:
    calls = (call["args"] for call in gh.calls)
    return sum(isinstance(args, list) and " ".join(args[:2]) == command for args in calls)


async def test_one_that_was_opened_elsewhere_is_found_and_followed(
    known: Known, fake_gh: FakeGh
) -> None:
    fake_gh.answers("pr list", listed())
    fake_gh.shows(state="OPEN", statusCheckRollup=[{"state": "PENDING"}])
    known.push("one\n")
    worktree = await known.look()
    assert (worktree.pr_number, worktree.pr_url) == (7, URL)
    assert (worktree.cached_pr_status, worktree.cached_check_status) == ("open", "pending")
    assert "--head=otter" in fake_gh.calls[0]["args"]  # type: ignore[operator]


async def test_nothing_is_asked_about_a_branch_that_was_not_pushed(
    known: Known, fake_gh: FakeGh
) -> None:
    known.repository.commit("new.txt", "one\n")
    await known.look()
    assert fake_gh.calls == []


async def test_nothing_is_asked_about_the_branch_that_others_are_merged_into(
    known: Known, fake_gh: FakeGh
) -> None:
    await known.store.accept(
        WorktreeUpdated(worktree=known.worktree.model_copy(update={"branch": "main"}))
    )
    await known.look()
    assert fake_gh.calls == []


async def test_nothing_is_asked_where_no_remote_leads_to_the_service(
    known: Known, fake_gh: FakeGh
) -> None:
    known.push("one\n")
    known.repository.git("config", "remote.origin.url", "https://gitlab.com/ada/engine.git")
    await known.look()
    assert fake_gh.calls == []


async def test_one_of_somebody_else_s_branch_of_that_name_is_not_taken(
    known: Known, fake_gh: FakeGh
) -> None:
    fake_gh.answers("pr list", listed(owner="bob"))
    known.push("one\n")
    assert (await known.look()).pr_number is None


async def test_it_is_asked_for_the_less_often_the_longer_there_was_none(
    known: Known, fake_gh: FakeGh
) -> None:
    fake_gh.answers("pr list", "[]")
    known.push("one\n")
    asked_at = []
    for minute in range(90):
        before = asked(fake_gh, "pr list")
        known.now = minute * 60.0
        await known.look()
        if asked(fake_gh, "pr list") > before:
            asked_at.append(minute)
    assert asked_at[:4] == [0, 1, 2, 3]
    pauses = [later - earlier for earlier, later in pairwise(asked_at)]
    assert pauses == sorted(pauses)
    assert pauses[-1] == 15


async def test_a_push_and_the_end_of_a_turn_are_reasons_to_ask_at_once(
    known: Known, fake_gh: FakeGh
) -> None:
    fake_gh.answers("pr list", "[]")
    known.push("one\n")
    for known.now in (0.0, 600.0, 601.0):
        await known.look()
    assert asked(fake_gh, "pr list") == 2
    known.push("two\n")
    await known.look()
    assert asked(fake_gh, "pr list") == 3
    assert known.following.turn_ended(known.worktree)
    await known.look()
    assert asked(fake_gh, "pr list") == 4


async def test_the_address_of_one_that_is_known_by_its_number_is_looked_up(
    known: Known, fake_gh: FakeGh
) -> None:
    await known.store.accept(
        WorktreeUpdated(worktree=known.worktree.model_copy(update={"pr_number": 7}))
    )
    fake_gh.shows(number=7, url=URL, state="OPEN")
    worktree = await known.look()
    assert (worktree.pr_url, worktree.cached_pr_status) == (URL, "open")
    await known.look()
    assert asked(fake_gh, "pr view") == 3


async def test_one_that_a_person_cleared_is_not_found_again_but_the_next_is(
    known: Known, fake_gh: FakeGh
) -> None:
    cleared = known.worktree.model_copy(update={"dismissed_pr": 7})
    await known.store.accept(WorktreeUpdated(worktree=cleared))
    fake_gh.answers("pr list", listed(7))
    known.push("one\n")
    assert (await known.look()).pr_number is None
    fake_gh.answers("pr list", listed(8))
    known.push("two\n")
    assert (await known.look()).pr_number == 8


async def test_what_is_answered_about_one_that_is_just_being_cleared_is_not_kept(
    known: Known, fake_gh: FakeGh, monkeypatch: pytest.MonkeyPatch
) -> None:
    has = known.worktree.model_copy(update={"pr_number": 7, "pr_url": URL})
    await known.store.accept(WorktreeUpdated(worktree=has))
    answered = asyncio.Event()

    async def answer(_path: Path, _number: object) -> PullRequestState:
        answered.set()
        return PullRequestState(status="open", checks=None)

    monkeypatch.setattr(polling, "fetch_pull_request_state", answer)
    saving, may_save = held_writes(monkeypatch)
    clears = has.model_copy(update={"pr_number": None, "pr_url": None})
    clearing = asyncio.create_task(known.store.accept(WorktreeUpdated(worktree=clears)))
    await saving.wait()
    looking = asyncio.create_task(known.look())
    await answered.wait()
    await asyncio.sleep(0)
    may_save.set()
    await asyncio.gather(clearing, looking)
    assert (known.worktree.pr_number, known.worktree.cached_pr_status) == (None, None)


async def test_a_wish_to_archive_ends_when_that_is_switched_off(
    known: Known, fake_gh: FakeGh
) -> None:
    waits = {"pr_number": 7, "cached_pr_status": "merged", "archive_when_idle": True}
    await known.store.accept(WorktreeUpdated(worktree=known.worktree.model_copy(update=waits)))
    off = Preferences(auto_archive_on_pr_merged=False)
    known.store.record(PreferencesUpdated(changes=off.model_dump()))
    assert known.following.may_change(known.worktree)
    worktree = await known.look()
    assert (worktree.archived_at, worktree.archive_when_idle) == (None, False)
    assert not known.following.may_change(worktree)
    assert fake_gh.calls == []
