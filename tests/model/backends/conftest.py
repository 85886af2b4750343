"""Agents in worktrees of their own."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from model.backends import base
from model.backends.demo import DemoBackend
from model.resources import ExecutionMode
from tests.model.backends.agents import Conversation, Open, a_launch


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    path = tmp_path / "worktree"
    path.mkdir()
    return path


@pytest.fixture
async def open_demo(tmp_path: Path, worktree: Path) -> AsyncIterator[Open]:
    """Opens a conversation; its agent is closed at the end."""
    backend = DemoBackend(tmp_path / "memory")
    opened: list[base.Agent] = []

    async def open_demo(
        mode: ExecutionMode = "build", resume_token: str | None = None
    ) -> Conversation:
        agent = await backend.open(a_launch(worktree, mode=mode, resume_token=resume_token))
        opened.append(agent)
        return Conversation(agent)

    yield open_demo
    await asyncio.gather(*(agent.close() for agent in opened))
