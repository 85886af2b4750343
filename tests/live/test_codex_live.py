"""The real Codex behind its adapter, answered by a scripted provider on loopback."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from model.backends import base
from model.backends.codex import CodexBackend
from model.resources import Usage
from tests.live.conftest import ROOT
from tests.live.responses_stub import ResponsesStub, configuration
from tests.model.backends.agents import Conversation, Open, a_launch, becomes, lives, only, text

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


@pytest.fixture
def codex_program(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The real `codex`, on PATH or in `.tools`, found by Spinney from now on."""
    tools = ROOT / ".tools" / "node_modules" / ".bin"
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(tools)])
    program = shutil.which("codex", path=path)
    if program is None:
        pytest.skip("needs Codex (npm install -g @openai/codex)")
    monkeypatch.setenv("PATH", path)
    return Path(program)


@pytest.fixture
async def responses() -> AsyncIterator[ResponsesStub]:
    """The scripted provider, running."""
    stub = ResponsesStub()
    async with stub.running():
        yield stub


@pytest.fixture
def codex_environment(
    codex_program: Path, responses: ResponsesStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """Variables with which `codex` knows nobody's account and talks to the stub alone."""
    for name in list(os.environ):
        if name.startswith(("OPENAI", "CODEX")):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    (home / ".codex").mkdir(parents=True)
    (home / ".codex" / "config.toml").write_text(configuration(responses.base_url))
    return {
        "HOME": str(home),
        "CODEX_HOME": str(home / ".codex"),
        "OPENAI_API_KEY": "dummy",
        "NO_PROXY": "127.0.0.1",
    }


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    """A linked worktree of a repository with one commit."""
    repository = tmp_path / "repository"
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for command in (
        ["init", "-q", "-b", "main", str(repository)],
        ["-C", str(repository), "commit", "-q", "--allow-empty", "-m", "Begin"],
        ["-C", str(repository), "worktree", "add", "-q", "-b", "work", str(tmp_path / "worktree")],
        ["-C", str(repository), "config", "user.name", "Ada"],
        ["-C", str(repository), "config", "user.email", "ada@example.org"],
    ):
        subprocess.run([*git, *command], check=True, capture_output=True, timeout=30)
    return tmp_path / "worktree"


@pytest.fixture
async def backend(codex_program: Path) -> AsyncIterator[CodexBackend]:
    backend = CodexBackend()
    yield backend
    await backend.close()


@pytest.fixture
async def open_codex(
    backend: CodexBackend, codex_environment: dict[str, str], worktree: Path
) -> AsyncIterator[Open]:
    opened: list[base.Agent] = []

    async def open_codex(**launch: Any) -> Conversation:
        usual = {"model": "gpt-5.5", "thinking": "think", "environment": codex_environment}
        agent = await backend.open(a_launch(worktree, **{**usual, **launch}))
        opened.append(agent)
        return Conversation(agent)

    yield open_codex
    await asyncio.gather(*(agent.close() for agent in opened))


def token(conversation: Conversation) -> str:
    return only(conversation.told, base.ConversationIdentified).resume_token


def contents(worktree: Path) -> list[str]:
    """The names in the worktree, without git's own."""
    return sorted(path.name for path in worktree.iterdir() if path.name != ".git")


async def test_text_and_thinking_stream_and_the_usage_is_told(open_codex: Open) -> None:
    told = await (await open_codex()).turn("think: about looms and threads")
    assert text(told, "thinking") == "about looms and threads"
    assert text(told) == "I thought about it."
    finished = only(told, base.TurnFinished)
    assert finished.stop_reason == "end_turn"
    assert finished.usage == Usage(
        input_tokens=100,
        output_tokens=5,
        cache_creation_input_tokens=20,
        cache_read_input_tokens=3,
    )
    assert finished.context_tokens == 128
    assert (finished.context_window or 0) >= 100_000


async def test_each_turn_is_told_its_own_usage(open_codex: Open) -> None:
    conversation = await open_codex()
    await conversation.turn("say: one")
    second = only(await conversation.turn("write a.txt: two"), base.TurnFinished)
    assert second.usage.input_tokens == 200  # two answers of the model
    assert second.usage.output_tokens == 5


async def test_a_write_happens_on_disk_and_is_told_as_an_edit(
    open_codex: Open, worktree: Path
) -> None:
    told = await (await open_codex()).turn("write a.txt: hi")
    assert (worktree / "a.txt").read_text() == "hi\n"
    edit = [event for event in told if isinstance(event, base.ToolUse)][-1]
    assert edit.name == "edit"
    assert edit.input == {"file_path": "a.txt", "old_content": "", "new_content": "hi\n"}
    result = only(told, base.ToolResult)
    assert (result.tool_use_id, result.is_error) == (edit.id, False)
    assert text(told).endswith("done")


async def test_an_edit_tells_what_it_replaces(open_codex: Open, worktree: Path) -> None:
    (worktree / "a.txt").write_text("one\ntwo\nthree\n")
    told = await (await open_codex()).turn("edit a.txt: two => 2")
    assert (worktree / "a.txt").read_text() == "one\n2\nthree\n"
    edits = [e.input for e in told if isinstance(e, base.ToolUse)]
    assert edits[-1]["file_path"] == "a.txt"
    assert "two\n" in edits[-1]["old_content"]
    assert "2\n" in edits[-1]["new_content"]
