"""Provider profiles with the real programs: all requests go to the profile's provider."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from model.agents.catalog import Catalog
from model.backends.base import Backend
from model.backends.claude.backend import ClaudeBackend
from model.backends.codex.backend import CodexBackend
from model.backends.opencode.backend import OpenCodeBackend
from model.base.paths import Directories
from model.commands.preferences import update_preferences
from model.commands.sessions import create_session, send_chat_message
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.conftest import worktree as worktree  # a project's, not the agents' folder
from tests.live import completions_stub
from tests.live.completions_stub import MODEL, PROVIDER, CompletionsStub
from tests.live.isolation import (
    isolate_claude,
    isolate_codex,
    isolate_opencode,
    make_place,
    put_on_path,
)
from tests.live.provider_stub import ProviderStub
from tests.live.responses_stub import ResponsesStub, configuration
from tests.live.stub import Stub

SAYS = "line: <message>Let otters swim</message>"


@dataclass(frozen=True)
class Kind:
    """An agent, and how its provider is set: in its environment and in a profile."""

    program: str
    name: str
    stub: Callable[[], Stub]
    backend: Callable[[Path], Backend]
    environment: Callable[[Path, str], dict[str, str]]
    settings: Callable[[str], str]
    """The content of a profile's file for the provider at a URL."""
    suffix: str = ".json"
    model: str | None = None


def _of_claude(base_url: str) -> str:
    return json.dumps({"env": {"ANTHROPIC_BASE_URL": base_url, "ANTHROPIC_API_KEY": "other"}})


KINDS = {
    "claude": Kind(
        "claude", "backend_a", ProviderStub, lambda _: ClaudeBackend(), isolate_claude, _of_claude
    ),
    "codex": Kind(
        "codex", "backend_b", ResponsesStub, lambda _: CodexBackend(), isolate_codex, configuration,
        ".toml",
    ),
    "opencode": Kind(
        "opencode", "backend_c", CompletionsStub, OpenCodeBackend,
        lambda home, url: isolate_opencode(home, completions_stub.configuration(url)),
        lambda url: json.dumps(completions_stub.configuration(url)), model=f"{PROVIDER}/{MODEL}",
    ),
}  # fmt: skip


@pytest.fixture(params=KINDS.values(), ids=KINDS.keys())
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


@pytest.fixture
async def plain(kind: Kind) -> AsyncIterator[Stub]:
    """The provider of the user's own account."""
    async with (stub := kind.stub()).running():
        yield stub


@pytest.fixture
async def gateway(kind: Kind) -> AsyncIterator[Stub]:
    """The provider of the profile."""
    async with (stub := kind.stub()).running():
        yield stub


@pytest.fixture
async def workspace(
    kind: Kind, plain: Stub, directories: Directories, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Workspace]:
    put_on_path(kind.program, monkeypatch)
    with make_place() as home:
        for name, value in kind.environment(home, plain.base_url).items():
            monkeypatch.setenv(name, value)
        backend = kind.backend(directories.data / "opencode")
        made = Workspace(directories, {kind.name: backend}, Catalog())
        await made.start()
        yield made
        await made.stop()


@pytest.mark.timeout(300)
async def test_texts_and_sessions_use_only_the_profiles_provider(
    kind: Kind,
    workspace: Workspace,
    worktree: Worktree,
    plain: Stub,
    gateway: Stub,
    tmp_path: Path,
) -> None:
    file = tmp_path / f"gateway{kind.suffix}"
    file.write_text(kind.settings(gateway.base_url))
    changes: dict[str, Any] = {
        "default_backend": kind.name,
        "default_provider": "gateway",
        "custom_cli_profiles": [{"name": "gateway", "settings_json": "{}", "file_path": str(file)}],
        "magic_prompts": {"commit_message": SAYS},
    }
    if kind.model:
        changes["magic_prompt_models"] = {"commit_message_model": kind.model}
    await update_preferences(workspace, changes)
    material = {"differences": "+ a secret otter"}
    written = await workspace.writer.write("commit_message", worktree, material, ["message"])
    assert written == {"message": "Let otters swim"}
    assert "a secret otter" in json.dumps(gateway.requests)
    session = await create_session(workspace, worktree.id, execution_mode="build", model=kind.model)
    await send_chat_message(workspace, session.id, "say I also swim")
    await Eventually(workspace.bus)(
        lambda: workspace.store.state.sessions[session.id].status in ("idle", "failed")
    )
    assert "I also swim" in json.dumps(gateway.requests)
    assert plain.requests == []
