"""A session's first message waits for the setup of its worktree."""

import json
from pathlib import Path

import pytest

from model.agents.catalog import Catalog
from model.base.paths import Directories
from model.commands.projects import add_project
from model.commands.scripts import run_worktree_script, stop_worktree_script
from model.commands.sessions import create_session, send_chat_message, send_queued_messages
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.fakes import FakeBackend
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import Maker

SETUP = "echo begun > begun; until test -e go; do sleep 0.02; done; test ! -e fail"


class HeldWorktree:
    """A worktree whose sessions hold their first messages during the setup."""

    def __init__(self, workspace: Workspace, worktree: Worktree, eventually: Eventually) -> None:
        self.workspace = workspace
        self.worktree = worktree
        self.eventually = eventually

    @property
    def hold(self) -> str | None:
        """The reason why first messages are held."""
        return self.workspace.store.state.worktrees[self.worktree.id].setup_hold

    def session(self, key: str) -> Session:
        """Return the current state of the session."""
        return self.workspace.store.state.sessions[key]

    async def start_session(self, words: str, status: str = "sent") -> str:
        """Create a session, send its first message, check its status, and return its id."""
        made = await create_session(self.workspace, self.worktree.id)
        sent = await send_chat_message(self.workspace, made.id, words)
        assert sent.status == status
        return made.id

    def end_setup(self, *, succeeds: bool = True) -> None:
        """Let the setup succeed or fail."""
        if not succeeds:
            (Path(self.worktree.path) / "fail").touch()
        (Path(self.worktree.path) / "go").touch()

    async def wait_until_sent(self, key: str) -> None:
        """Wait until the session's message was sent to an agent."""
        await self.eventually(lambda: self.session(key).message_count > 0)
        assert not self.workspace.store.state.queued.get(key)


@pytest.fixture
async def added(workspace: Workspace, repository: Repository) -> Project:
    """A project whose setup runs until a file `go` exists."""
    return await _add_project(workspace, repository)


async def _add_project(workspace: Workspace, repository: Repository, **more: object) -> Project:
    repository.commit("spinney.json", json.dumps({"scripts": {"setup": SETUP}, **more}))
    return await add_project(workspace, str(repository.root))


@pytest.fixture
async def held(workspace: Workspace, make: Maker, eventually: Eventually) -> HeldWorktree:
    return HeldWorktree(workspace, await make("one"), eventually)


async def test_first_messages_wait_for_the_setup_and_run_after_it(held: HeldWorktree) -> None:
    one, two = await held.start_session("Count the files"), await held.start_session("Read them")
    assert (held.hold, held.session(one).name) == ("running", "Count the files")
    assert (held.session(one).status, held.session(one).message_count) == ("idle", 0)
    held.end_setup()
    await held.wait_until_sent(one)
    await held.wait_until_sent(two)
    assert held.hold is None
    await held.start_session("At once", "processing")


async def test_a_failed_setup_holds_messages_until_they_are_sent_anyway(held: HeldWorktree) -> None:
    one, two = await held.start_session("Count the files"), await held.start_session("Read them")
    held.end_setup(succeeds=False)
    await held.eventually(lambda: held.hold == "failed")
    three = await held.start_session("And sort them")
    assert len(held.workspace.store.state.queued[one]) == 1
    await send_queued_messages(held.workspace, two)
    for key in (one, two, three):
        await held.wait_until_sent(key)
    await held.start_session("At once", "processing")


async def test_running_the_setup_again_releases_the_messages(held: HeldWorktree) -> None:
    one = await held.start_session("Count the files")
    await stop_worktree_script(held.workspace, held.worktree.id, "setup")
    await held.eventually(lambda: held.hold == "failed")
    await run_worktree_script(held.workspace, held.worktree.id, "setup")
    assert held.hold == "running"
    held.end_setup()
    await held.wait_until_sent(one)


async def test_a_message_sent_during_the_setup_is_not_held_again(held: HeldWorktree) -> None:
    one = await held.start_session("Count the files")
    await send_queued_messages(held.workspace, one)
    await held.wait_until_sent(one)
    held.end_setup(succeeds=False)
    await held.eventually(lambda: not held.workspace.scripts.is_running(held.worktree.id))
    assert held.hold is None


async def test_messages_are_still_held_after_a_restart(
    held: HeldWorktree, directories: Directories, backend: FakeBackend
) -> None:
    one = await held.start_session("Count the files")
    await held.workspace.store.flush()
    again = Workspace(directories, {backend.name: backend}, Catalog())
    await again.start()
    try:
        state = again.store.state
        assert state.worktrees[held.worktree.id].setup_hold == "failed"
        assert [message.text for message in state.queued[one]] == ["Count the files"]
    finally:
        await again.stop()


async def test_a_repository_may_disable_waiting_for_the_setup(
    workspace: Workspace, repository: Repository, eventually: Eventually
) -> None:
    project = await _add_project(workspace, repository, wait_for_setup=False)
    worktree = await Maker(workspace, project, eventually)("one")
    held = HeldWorktree(workspace, worktree, eventually)
    await held.start_session("Count the files", "processing")
    assert held.hold is None
    assert workspace.scripts.is_running(worktree.id)
