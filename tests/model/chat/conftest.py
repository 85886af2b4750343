"""Fixtures for tests of conversations."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from model.chat.interrupted_runs import recover
from model.domain.events.projects import ProjectAdded
from model.domain.events.worktrees import WorktreeCreated
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from tests.model.chat.harness import Harness, open_harness


@pytest.fixture
async def reopen_after_kill(tmp_path: Path) -> AsyncIterator[Callable[[], Awaitable[Harness]]]:
    """Open the same database again, as a program does that starts after a kill."""
    harnesses = []

    async def open_again() -> Harness:
        harnesses.append(await open_harness(tmp_path / "db"))
        recover(harnesses[-1].store)
        return harnesses[-1]

    yield open_again
    for reopened in harnesses:
        await reopened.close()


@pytest.fixture
async def harness(tmp_path: Path) -> AsyncIterator[Harness]:
    """A harness with one project, one worktree and the session `s`."""
    opened = await open_harness(tmp_path / "db")
    await opened.store.accept(
        ProjectAdded(project=Project(id="p", name="alpha", path="/a", added_at=1)),
        WorktreeCreated(
            worktree=Worktree(id="w", project_id="p", name="n", path="/w", branch="n", created_at=1)
        ),
    )
    await opened.add_session("s")
    yield opened
    await opened.close()
