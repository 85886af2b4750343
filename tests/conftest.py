"""Shared fixtures: a workspace in temporary directories, with a fake agent."""

import asyncio
import gc
import os
import signal
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

import model.api.all  # noqa: F401 - registers the commands
from model.agents.catalog import Catalog
from model.base.paths import Directories
from model.commands.sessions import create_session
from model.domain.events.projects import ProjectAdded
from model.domain.events.worktrees import WorktreeCreated
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from model.store.bus import EventBus
from tests.environment import use_own_environment
from tests.fakes import FakeBackend
from tests.model.git.repository import make_templates
from tests.nightly import examples
from tests.patience import PATIENCE

pytest_plugins = (
    "tests.together",
    "tests.tiers",
    "tests.leaks",
    "tests.needs",
    "tests.repeating",
    "tests.selection",
    "tests.shuffling",
)

# A busy machine exceeds its default limits of 0.2 s for an example and about a second for
# generating the first ones.
settings.register_profile(
    "patient",
    max_examples=examples(40, 300),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    # A change is judged by the same examples each time; `make stress` looks for new ones.
    derandomize=os.environ.get("SPINNEY_NEW_EXAMPLES") != "1",
)
settings.load_profile("patient")
if os.environ.get("SPINNEY_NEW_EXAMPLES") != "1":
    # Hypothesis reads all modules for constants to try, in each process: a tenth of the time in
    # which tests are collected. The examples would be others after each change, too.
    providers._get_local_constants = lambda: providers._local_constants


def pytest_configure(config: pytest.Config) -> None:
    """Let ctrl+c reach the programs that tests start, and collect garbage less often."""
    if not __debug__:
        raise pytest.UsageError("the tests check by assertions, which PYTHONOPTIMIZE leaves out")
    use_own_environment(config)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()  # while tests are collected: nearly all of it stays
    # With Python's threshold of 700 objects, garbage collection took a third of the time of the
    # terminal's tests.
    gc.set_threshold(50_000, 20, 50)


def pytest_collection_finish() -> None:
    """Exclude all objects created so far from garbage collection: they live until exit."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Repositories to copy; see `make_templates`."""
    directory = tmp_path_factory.mktemp("templates")
    make_templates(directory)
    return directory


@pytest.fixture
def backend() -> FakeBackend:
    """The only backend of the workspace."""
    return FakeBackend()


@pytest.fixture
def directories(tmp_path: Path) -> Directories:
    made = Directories(config=tmp_path / "config", data=tmp_path / "data", home=tmp_path / "home")
    made.create()
    return made


@pytest.fixture
async def workspace(directories: Directories, backend: FakeBackend) -> AsyncIterator[Workspace]:
    """A started workspace without projects."""
    made = Workspace(directories, {backend.name: backend}, Catalog())
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def project(workspace: Workspace, tmp_path: Path) -> Project:
    """A project in a plain directory, for tests that need no git."""
    path = tmp_path / "repository"
    path.mkdir()
    made = Project(
        id="project", name="repository", path=str(path), default_branch="main", added_at=1.0
    )
    await workspace.store.accept(ProjectAdded(project=made))
    return made


@pytest.fixture
async def worktree(workspace: Workspace, project: Project, tmp_path: Path) -> Worktree:
    """A worktree of the project."""
    path = tmp_path / "worktree"
    path.mkdir()
    made = Worktree(
        id="worktree",
        project_id=project.id,
        name="calm-otter",
        path=str(path),
        branch="calm-otter",
        created_at=1.0,
    )
    await workspace.store.accept(WorktreeCreated(worktree=made))
    return made


@pytest.fixture
async def session(workspace: Workspace, worktree: Worktree) -> Session:
    """A session in build mode."""
    return await create_session(workspace, worktree.id, name="First", execution_mode="build")


@dataclass
class Eventually:
    """Waits for a condition on the store, which is checked after each event."""

    bus: EventBus

    async def __call__(self, condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
        changed = asyncio.Event()
        end = self.bus.listen(changed.set)
        try:
            async with asyncio.timeout(seconds):
                while not condition():
                    changed.clear()
                    await changed.wait()
        finally:
            end()


@pytest.fixture
def eventually(workspace: Workspace) -> Eventually:
    """`await eventually(lambda: …)`."""
    return Eventually(workspace.bus)
