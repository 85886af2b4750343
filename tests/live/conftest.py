"""The real agent programs, cut off from the world: their provider is a stub on loopback."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from model.backends import base
from model.backends.claude import ClaudeBackend
from tests.live.codex_setup import (  # noqa: F401 - fixtures
    codex_backend,
    codex_environment,
    codex_program,
    open_codex,
    place,
    responses,
    worktree,
)
from tests.live.provider_stub import ProviderStub
from tests.model.backends.agents import Conversation, Open, a_launch

ROOT = Path(__file__).parents[2]


@pytest.fixture
def claude_program(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The real `claude`, on PATH or in `.tools`, found by Spinney from now on."""
    tools = ROOT / ".tools" / "node_modules" / ".bin"
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(tools)])
    program = shutil.which("claude", path=path)
    if program is None:
        pytest.skip("needs Claude Code (npm install -g @anthropic-ai/claude-code)")
    monkeypatch.setenv("PATH", path)
    return Path(program)


@pytest.fixture
async def provider() -> AsyncIterator[ProviderStub]:
    """The scripted provider, running."""
    stub = ProviderStub()
    async with stub.running():
        yield stub


@pytest.fixture
def claude_environment(
    claude_program: Path, provider: ProviderStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """Variables with which `claude` knows nobody's account and talks to the stub alone."""
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC", "CLAUDE", "AWS_", "GOOGLE_")):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    return {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "CLAUDE_CODE_TMPDIR": str(home),
        "ANTHROPIC_API_KEY": "dummy",
        "ANTHROPIC_BASE_URL": provider.base_url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    }


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
