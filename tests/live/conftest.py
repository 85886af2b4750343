"""The real agent programs, isolated: their provider is a stub on loopback."""

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
from tests.live.isolation import isolate_claude, put_on_path
from tests.live.provider_stub import ProviderStub
from tests.model.backends.agents import (  # noqa: F401 - fixtures
    Conversation,
    Open,
    long_timeouts,
    make_launch,
)


@pytest.fixture(autouse=True)
def leaks() -> None:
    """Nothing is looked for: the real programs, and connections to them, are several tests'."""


@pytest.fixture
def claude_program(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The real `claude`, on PATH."""
    return put_on_path("claude", monkeypatch)


@pytest.fixture
async def provider() -> AsyncIterator[ProviderStub]:
    """The running scripted provider."""
    stub = ProviderStub()
    async with stub.running():
        yield stub


@pytest.fixture
def claude_environment(
    claude_program: Path, provider: ProviderStub, tmp_path: Path
) -> dict[str, str]:
    """Environment with which `claude` has no account and connects only to the stub."""
    home = tmp_path / "home"
    home.mkdir()
    return isolate_claude(home, provider.base_url)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder for an agent to work in."""
    path = tmp_path / "worktree"
    path.mkdir()
    return path


@pytest.fixture
async def open_claude(claude_environment: dict[str, str], folder: Path) -> AsyncIterator[Open]:
    """Opens a conversation with the real Claude Code, which is closed after the test."""
    opened: list[base.Agent] = []

    async def open_claude(**launch: Any) -> Conversation:
        defaults = {"model": "sonnet", "thinking": "think", "environment": claude_environment}
        agent = await ClaudeBackend().open(make_launch(folder, **{**defaults, **launch}))
        opened.append(agent)
        return Conversation(agent)

    yield open_claude
    await asyncio.gather(*(agent.close() for agent in opened))
