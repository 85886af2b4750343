"""Fixtures: agents in worktrees of their own."""

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from model.backends import base
from model.backends.claude.backend import ClaudeBackend
from model.backends.demo.backend import DemoBackend
from model.domain.modes import ExecutionMode
from tests.model.backends.acp_small import open_small, request_log  # noqa: F401 - fixtures
from tests.model.backends.agents import (  # noqa: F401 - fixtures
    Conversation,
    Open,
    long_timeouts,
    make_launch,
    short_stop_timeout,
)


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    path = tmp_path / "worktree"
    path.mkdir()
    return path


@pytest.fixture
async def open_demo(tmp_path: Path, worktree: Path) -> AsyncIterator[Open]:
    """Opens a conversation; its agent is closed at the test's end."""
    backend = DemoBackend(tmp_path / "memory")
    opened: list[base.Agent] = []

    async def open_demo(
        mode: ExecutionMode = "build", resume_token: str | None = None
    ) -> Conversation:
        agent = await backend.open(make_launch(worktree, mode=mode, resume_token=resume_token))
        opened.append(agent)
        return Conversation(agent)

    yield open_demo
    await asyncio.gather(*(agent.close() for agent in opened))


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on PATH with nothing but a prepared `claude`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    fake = Path(__file__).with_name("fake_claude.py")
    shutil.copy(fake, folder / "fake.py")
    claude = folder / "claude"
    claude.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{folder}/fake.py" "$@"\n')
    claude.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
async def open_claude(program: Path, tmp_path: Path) -> AsyncIterator[Open]:
    """Opens a conversation in which the prepared `claude` plays `turns`."""
    opened: list[base.Agent] = []

    async def open_claude(
        *turns: list[Any], script: dict[str, Any] | None = None, **launch: Any
    ) -> Conversation:
        (program / "script.json").write_text(json.dumps({"turns": turns, **(script or {})}))
        worktree = tmp_path / "worktree"
        worktree.mkdir(exist_ok=True)
        defaults = {"model": "sonnet", "thinking": "think", "effort": "medium"}
        agent = await ClaudeBackend().open(make_launch(worktree, **{**defaults, **launch}))
        opened.append(agent)
        return Conversation(agent)

    yield open_claude
    await asyncio.gather(*(agent.close() for agent in opened))
