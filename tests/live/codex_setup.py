"""The real Codex, cut off from the world: its provider is a stub on loopback."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from model.backends import base
from model.backends.codex.backend import CodexBackend
from tests.live.cut_off import codex_in, made_known
from tests.live.responses_stub import ResponsesStub
from tests.model.backends.agents import Conversation, Open, a_launch, only
from tests.patience import PATIENCE

LONG_ENOUGH = "sleep 0.5"
"""Of a command that is over at once the program sometimes tells nothing (0.169)."""


@pytest.fixture
def codex_program(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The real `codex`, found by Spinney from now on."""
    return made_known("codex", monkeypatch)


@pytest.fixture
async def responses() -> AsyncIterator[ResponsesStub]:
    """The scripted provider, running."""
    stub = ResponsesStub()
    async with stub.running():
        yield stub


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that is no temporary one to Codex: its sandbox lets everybody write in those."""
    with TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as place:
        yield Path(place)


@pytest.fixture
def codex_environment(codex_program: Path, responses: ResponsesStub, place: Path) -> dict[str, str]:
    """Variables with which `codex` knows nobody's account and talks to the stub alone."""
    return codex_in(place / "home", responses.base_url)


@pytest.fixture
def worktree(place: Path) -> Path:
    """A linked worktree of a repository with one commit."""
    repository = place / "repository"
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for command in (
        ["init", "-q", "-b", "main", str(repository)],
        ["-C", str(repository), "commit", "-q", "--allow-empty", "-m", "Begin"],
        ["-C", str(repository), "worktree", "add", "-q", "-b", "work", str(place / "worktree")],
        ["-C", str(repository), "config", "user.name", "Ada"],
        ["-C", str(repository), "config", "user.email", "ada@example.org"],
    ):
        subprocess.run([*git, *command], check=True, capture_output=True, timeout=PATIENCE)
    return place / "worktree"


@pytest.fixture
async def codex_backend(codex_program: Path, place: Path) -> AsyncIterator[CodexBackend]:
    """The backend; its programs end before the place where they write is removed."""
    backend = CodexBackend()
    yield backend
    await backend.close()


@pytest.fixture
async def open_codex(
    codex_backend: CodexBackend, codex_environment: dict[str, str], worktree: Path
) -> AsyncIterator[Open]:
    """Opens a conversation with the real Codex; its session is closed at the end."""
    opened: list[base.Agent] = []

    async def open_codex(**launch: Any) -> Conversation:
        usual = {"model": "gpt-5.5", "thinking": "think", "environment": codex_environment}
        agent = await codex_backend.open(a_launch(worktree, **{**usual, **launch}))
        opened.append(agent)
        return Conversation(agent)

    yield open_codex
    await asyncio.gather(*(agent.close() for agent in opened))


def token(conversation: Conversation) -> str:
    return only(conversation.told, base.ConversationIdentified).resume_token


def contents(worktree: Path) -> list[str]:
    """The names in the worktree, without git's own."""
    return sorted(path.name for path in worktree.iterdir() if path.name != ".git")
