"""A worktree with a session whose agent is played by the test."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from model.agents.catalog import Catalog
from model.api.turns import TurnSummary
from model.backends import agent_events
from model.base.paths import Directories
from model.commands.sessions import create_session
from model.commands.turns import list_turns
from model.domain.sessions import Session
from model.domain.usage import Usage
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests.model.git.git_project import GitProject, add_git_project
from tests.model.git.repository import Repository, set_own_home
from tests.patience import PATIENCE
from tests.puppet import Puppet, PuppetBackend

Work = Callable[[Path], None]


@dataclass
class Desk:
    """A worktree, its sessions, and turns that the test plays."""

    workspace: Workspace
    backend: PuppetBackend
    repository: Repository
    worktree: Worktree
    _marks: int = field(default=0)

    @property
    def root(self) -> Path:
        return Path(self.worktree.path)

    async def add_session(self, name: str = "main") -> Session:
        return await create_session(self.workspace, self.worktree.id, name, backend="demo")

    async def add_worktree(self, name: str) -> Worktree:
        (project,) = self.workspace.store.state.projects.values()
        return await GitProject(self.workspace, self.repository, project).add(name)

    async def begin(self, session: Session, text: str = "do it") -> Puppet:
        sending = self.workspace.chats.send(session.id, text)
        return await self.backend.receiver_of(sending)

    async def finish(self, session: Session, puppet: Puppet) -> TurnSummary:
        """End the turn, and return its record."""
        self._marks += 1
        puppet.say(
            agent_events.ConversationIdentified(f"conversation of {session.id}"),
            agent_events.TurnMarked(f"mark {self._marks}"),
            agent_events.TurnFinished("end_turn", Usage()),
        )
        known = len(await list_turns(self.workspace, session.id))
        async with asyncio.timeout(PATIENCE):
            while True:
                turns = await list_turns(self.workspace, session.id)
                if turns and turns[-1].ended_at and len(turns) >= known:
                    return turns[-1]
                await asyncio.sleep(0.01)

    async def play(self, session: Session, work: Work, text: str = "do it") -> TurnSummary:
        """A whole turn in which the agent's shell does `work`."""
        puppet = await self.begin(session, text)
        puppet.say(
            agent_events.ToolUse("shell", "bash", {"command": "…"}),
            agent_events.ToolResult("shell", "done"),
        )
        work(self.root)
        return await self.finish(session, puppet)


@pytest.fixture
async def desk(
    tmp_path: Path, templates: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Desk]:
    set_own_home(tmp_path / "home", monkeypatch)
    root = tmp_path.resolve() / "project"
    shutil.copytree(templates / "alone", root, symlinks=True)
    backend = PuppetBackend()
    folder = tmp_path / "spinney"
    directories = Directories(folder / "config", folder / "data", tmp_path / "home")
    directories.create()
    workspace = Workspace(directories, {"demo": backend}, Catalog(), demo=True)
    await workspace.start()
    project = await add_git_project(workspace, Repository(root))
    worktree = await project.add("otter")
    try:
        yield Desk(workspace, backend, project.repository, worktree)
    finally:
        await workspace.stop()
