"""The real Codex, isolated: its provider is a stub on loopback."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from model.backends import base
from model.backends.codex.backend import CodexBackend
from tests.live.isolation import isolate_codex, make_place, put_on_path
from tests.live.responses_stub import ResponsesStub
from tests.model.backends.agents import Conversation, Open, make_launch
from tests.patience import PATIENCE

LONG_ENOUGH = "sleep 0.5"
"""For commands that would end at once: the program sometimes does not report those (0.169)."""


@pytest.fixture
def codex_program(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The real `codex`, on PATH."""
    return put_on_path("codex", monkeypatch)


@pytest.fixture
async def responses() -> AsyncIterator[ResponsesStub]:
    """The running scripted provider."""
    stub = ResponsesStub()
    async with stub.running():
        yield stub


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder for a test's settings and worktrees."""
    with make_place() as place:
        yield place


@pytest.fixture
def codex_environment(codex_program: Path, responses: ResponsesStub, place: Path) -> dict[str, str]:
    """Environment with which `codex` has no account and connects only to the stub."""
    return isolate_codex(place / "home", responses.base_url)


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
    """The backend; its programs end before the folder in which they write is removed."""
    backend = CodexBackend()
    yield backend
    await backend.close()


@pytest.fixture
async def open_codex(
    codex_backend: CodexBackend, codex_environment: dict[str, str], worktree: Path
) -> AsyncIterator[Open]:
    """Opens a conversation with the real Codex, which is closed after the test."""
    opened: list[base.Agent] = []

    async def open_codex(**launch: Any) -> Conversation:
        defaults = {"model": "gpt-5.5", "thinking": "think", "environment": codex_environment}
        agent = await codex_backend.open(make_launch(worktree, **{**defaults, **launch}))
        opened.append(agent)
        return Conversation(agent)

    yield open_codex
    await asyncio.gather(*(agent.close() for agent in opened))


def contents(worktree: Path) -> list[str]:
    """The names of the files in the worktree, except `.git`."""
    return sorted(path.name for path in worktree.iterdir() if path.name != ".git")
