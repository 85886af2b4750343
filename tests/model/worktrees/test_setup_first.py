"""A session's first message waits for the setup of its worktree."""

import json
from pathlib import Path

import pytest

from model.agents.catalog import Catalog
from model.base.paths import Directories
from model.commands.projects import add_project
from model.commands.scripts import run_worktree_script, stop_worktree_script
from model.commands.sessions import create_session, send_chat_message, send_queued_messages
from model.domain.resources import Project, Session, Worktree
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.fakes import FakeBackend
from tests.model.git.made_repository import Repository
from tests.model.worktrees.conftest import Maker

SETUP = "echo begun > begun; until test -e go; do sleep 0.02; done; test ! -e fail"


class Held:
    """A worktree with sessions, and what becomes of their messages."""

    def __init__(self, workspace: Workspace, worktree: Worktree, eventually: Eventually) -> None:
        self.workspace = workspace
        self.worktree = worktree
        self.eventually = eventually

    @property
    def hold(self) -> str | None:
        """Why first messages wait."""
        return self.workspace.store.state.worktrees[self.worktree.id].setup_hold

    def session(self, key: str) -> Session:
        """The session as it is now."""
        return self.workspace.store.state.sessions[key]

    async def say(self, words: str, status: str = "sent") -> str:
        """Begin a session with a first message, of which it is told that it waits; its id."""
        made = await create_session(self.workspace, self.worktree.id)
        sent = await send_chat_message(self.workspace, made.id, words)
        assert sent.status == status
        return made.id

    def end_setup(self, *, well: bool = True) -> None:
        """Let the setup end."""
        if not well:
            (Path(self.worktree.path) / "fail").touch()
        (Path(self.worktree.path) / "go").touch()

    async def until_run(self, key: str) -> None:
        """Wait until the session's message has reached an agent."""
        await self.eventually(lambda: self.session(key).message_count > 0)
        assert not self.workspace.store.state.queued.get(key)


@pytest.fixture
async def added(workspace: Workspace, repository: Repository) -> Project:
    """A project whose setup lasts until it is told to end."""
    return await _added(workspace, repository)


async def _added(workspace: Workspace, repository: Repository, **more: object) -> Project:
    repository.commit("spinney.json", json.dumps({"scripts": {"setup": SETUP}, **more}))
    return await add_project(workspace, str(repository.root))


@pytest.fixture
async def held(workspace: Workspace, make: Maker, eventually: Eventually) -> Held:
    return Held(workspace, await make("one"), eventually)


async def test_first_messages_wait_for_the_setup_and_run_after_it(held: Held) -> None:
    one, two = await held.say("Count the files"), await held.say("Read them")
    assert (held.hold, held.session(one).name) == ("running", "Count the files")
    assert (held.session(one).status, held.session(one).message_count) == ("idle", 0)
    held.end_setup()
    await held.until_run(one)
    await held.until_run(two)
    assert held.hold is None
    await held.say("At once", "processing")


async def test_a_failed_setup_keeps_them_until_somebody_sends_them_anyway(held: Held) -> None:
    one, two = await held.say("Count the files"), await held.say("Read them")
    held.end_setup(well=False)
    await held.eventually(lambda: held.hold == "failed")
    three = await held.say("And sort them")
    assert len(held.workspace.store.state.queued[one]) == 1
    await send_queued_messages(held.workspace, two)
    for key in (one, two, three):
        await held.until_run(key)
    await held.say("At once", "processing")


async def test_a_setup_that_is_run_again_lets_them_go(held: Held) -> None:
    one = await held.say("Count the files")
    await stop_worktree_script(held.workspace, held.worktree.id, "setup")
    await held.eventually(lambda: held.hold == "failed")
    await run_worktree_script(held.workspace, held.worktree.id, "setup")
    assert held.hold == "running"
    held.end_setup()
    await held.until_run(one)


async def test_what_is_sent_anyway_while_it_runs_is_not_held_again(held: Held) -> None:
    one = await held.say("Count the files")
    await send_queued_messages(held.workspace, one)
    await held.until_run(one)
    held.end_setup(well=False)
    await held.eventually(lambda: not held.workspace.scripts.runs_in(held.worktree.id))
    assert held.hold is None


async def test_what_waited_when_spinney_was_killed_waits_on(
    held: Held, directories: Directories, backend: FakeBackend
) -> None:
    one = await held.say("Count the files")
    await held.workspace.store.flush()
    again = Workspace(directories, {backend.name: backend}, Catalog())
    await again.start()
    try:
        state = again.store.state
        assert state.worktrees[held.worktree.id].setup_hold == "failed"
        assert [message.text for message in state.queued[one]] == ["Count the files"]
    finally:
        await again.stop()


async def test_a_repository_may_say_that_nothing_waits(
    workspace: Workspace, repository: Repository, eventually: Eventually
) -> None:
    project = await _added(workspace, repository, wait_for_setup=False)
    worktree = await Maker(workspace, project, eventually)("one")
    held = Held(workspace, worktree, eventually)
    await held.say("Count the files", "processing")
    assert held.hold is None
    assert workspace.scripts.runs_in(worktree.id)
