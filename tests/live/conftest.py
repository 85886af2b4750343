"""The real agent programs, cut off from the world: their provider is a stub on loopback."""

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.live.provider_stub import ProviderStub

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
        "ANTHROPIC_API_KEY": "dummy",
        "ANTHROPIC_BASE_URL": provider.base_url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    }
