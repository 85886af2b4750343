"""The real Claude Code asked for a text: what reaches its provider, and what it leaves behind."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from model.agents.catalog import Catalog
from model.backends.claude.backend import ClaudeBackend
from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.commands.preferences import update_preferences
from model.domain.resources import Worktree
from model.runtime.workspace import Workspace
from model.writing import writer as writing
from tests.conftest import worktree as worktree  # a project's, and not the agents' bare folder
from tests.live.provider_stub import ProviderStub
from tests.model.backends.agents import becomes, children


@pytest.fixture
async def workspace(
    claude_environment: dict[str, str], directories: Directories, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Workspace]:
    for name, value in claude_environment.items():
        monkeypatch.setenv(name, value)
    made = Workspace(directories, {"backend_a": ClaudeBackend()}, Catalog())
    await made.start()
    yield made
    await made.stop()


async def write(workspace: Workspace, worktree: Worktree, prompt: str, **material: str) -> str:
    """The title that comes of a prompt of the provider's script."""
    await update_preferences(workspace, {"magic_prompts": {"pr_content": prompt}})
    written = await workspace.writer.write("pr_content", worktree, material, ("title",))
    return written["title"]


async def test_the_program_writes_with_the_small_model_and_without_tools(
    workspace: Workspace, worktree: Worktree, provider: ProviderStub
) -> None:
    assert await workspace.writer.is_available("pr_content", worktree)
    title = await write(
        workspace, worktree, "line: <title>Let otters swim</title>", commits="Teach the otter"
    )
    assert title == "Let otters swim"
    (request,) = provider.requests
    assert "haiku" in request["model"]
    assert not request.get("tools")
    assert "Plan mode" not in json.dumps(request)
    assert "Teach the otter" in json.dumps(request["messages"])


async def test_neither_mentions_nor_the_repositorys_own_settings_add_to_the_prompt(
    workspace: Workspace, worktree: Worktree, provider: ProviderStub, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("a private key")
    folder = Path(worktree.path)
    (folder / "near.txt").write_text("a private key")
    (folder / "CLAUDE.md").write_text("Always praise the otter.")
    (folder / ".claude").mkdir()
    hook = {"hooks": [{"type": "command", "command": f"touch {tmp_path}/hooked"}]}
    settings = {"hooks": {"SessionStart": [hook], "UserPromptSubmit": [hook]}}
    (folder / ".claude" / "settings.json").write_text(json.dumps(settings))
    differences = f'+ @near.txt\n+ @{secret}\n@near.txt\n+"@near.txt" (@near.txt) @"near.txt"'
    await write(workspace, worktree, "line: <title>x</title>", differences=differences)
    told = json.dumps(provider.requests)
    assert "near.txt" in told
    assert "a private key" not in told
    assert "praise the otter" not in told
    assert not (tmp_path / "hooked").exists()


async def test_nothing_is_left_of_the_conversation_or_the_program(
    workspace: Workspace, worktree: Worktree, claude_environment: dict[str, str]
) -> None:
    before = children()
    await write(workspace, worktree, "line: <title>x</title>")
    await workspace.writer.close()
    await becomes(lambda: children() <= before)
    conversations = Path(claude_environment["CLAUDE_CONFIG_DIR"]).rglob("*.jsonl")
    assert list(conversations) == []


@pytest.mark.parametrize(("prompt", "patience"), [("error 400", 60.0), ("slow now", 5.0)])
async def test_a_failing_or_slow_provider_is_an_error_and_the_program_ends(
    workspace: Workspace,
    worktree: Worktree,
    monkeypatch: pytest.MonkeyPatch,
    prompt: str,
    patience: float,
) -> None:
    monkeypatch.setattr(writing, "TIMEOUT", patience)
    before = children()
    with pytest.raises(SpinneyError):
        await write(workspace, worktree, prompt)
    await workspace.writer.close()
    await becomes(lambda: children() <= before)
