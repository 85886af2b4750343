"""The real agent programs, cut off from the world: their provider is a stub on loopback."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from model.backends import base
from model.backends.claude.backend import ClaudeBackend
from tests.live.codex_setup import (  # noqa: F401 - fixtures
    codex_backend,
    codex_environment,
    codex_program,
    open_codex,
    place,
    responses,
    worktree,
)
from tests.live.cut_off import claude_in, made_known
from tests.live.provider_stub import ProviderStub
from tests.model.backends.agents import (  # noqa: F401 - fixtures
    Conversation,
    Open,
    a_launch,
    patience,
)


@pytest.fixture
def claude_program(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The real `claude`, found by Spinney from now on."""
    return made_known("claude", monkeypatch)


@pytest.fixture
async def provider() -> AsyncIterator[ProviderStub]:
    """The scripted provider, running."""
    stub = ProviderStub()
    async with stub.running():
        yield stub


@pytest.fixture
def claude_environment(
    claude_program: Path, provider: ProviderStub, tmp_path: Path
) -> dict[str, str]:
    """Variables with which `claude` knows nobody's account and talks to the stub alone."""
    home = tmp_path / "home"
    home.mkdir()
    return claude_in(home, provider.base_url)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder for an agent to work in."""
    path = tmp_path / "worktree"
    path.mkdir()
    return path


@pytest.fixture
async def open_claude(claude_environment: dict[str, str], folder: Path) -> AsyncIterator[Open]:
    """Opens a conversation with the real Claude Code; its program is closed at the end."""
    opened: list[base.Agent] = []

    async def open_claude(**launch: Any) -> Conversation:
        usual = {"model": "sonnet", "thinking": "think", "environment": claude_environment}
        agent = await ClaudeBackend().open(a_launch(folder, **{**usual, **launch}))
        opened.append(agent)
        return Conversation(agent)

    yield open_claude
    await asyncio.gather(*(agent.close() for agent in opened))
