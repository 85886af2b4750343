"""The stages that tests of conversations play on."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from model.chat.interrupted_runs import recover
from model.domain.events import ProjectAdded, WorktreeCreated
from model.domain.resources import Project, Worktree
from tests.model.chat.stage import Stage, stage_at


@pytest.fixture
async def after_kill(tmp_path: Path) -> AsyncIterator[Callable[[], Awaitable[Stage]]]:
    """Opens what is on disk a second time: what a program finds after the first was killed."""
    opened = []

    async def open_again() -> Stage:
        opened.append(await stage_at(tmp_path / "db"))
        recover(opened[-1].store)
        return opened[-1]

    yield open_again
    for again in opened:
        await again.close()


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    made = await stage_at(tmp_path / "db")
    await made.store.accept(
        ProjectAdded(project=Project(id="p", name="alpha", path="/a", added_at=1)),
        WorktreeCreated(
            worktree=Worktree(id="w", project_id="p", name="n", path="/w", branch="n", created_at=1)
        ),
    )
    await made.add_session("s")
    yield made
    await made.close()
