"""The real OpenCode behind its adapter, answered by a scripted provider on loopback.

All tests here share one OpenCode server, as all sessions of a user do.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from model.backends import base
from model.backends.opencode.backend import OpenCodeBackend
from tests.live.completions_stub import MODEL, PROVIDER, CompletionsStub, configuration
from tests.live.isolation import isolate_opencode, put_on_path
from tests.model.backends.agents import Conversation, Open, make_launch


@pytest.fixture(scope="package")
def program() -> Iterator[Path]:
    """The real `opencode`, on PATH."""
    with pytest.MonkeyPatch.context() as patch:
        yield put_on_path("opencode", patch)


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def provider() -> AsyncIterator[CompletionsStub]:
    """The running scripted provider."""
    stub = CompletionsStub()
    async with stub.running():
        yield stub


@pytest.fixture(scope="package")
def environment(
    program: Path, provider: CompletionsStub, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """Environment with which `opencode` has no account and connects only to the stub."""
    home = tmp_path_factory.mktemp("home")
    return isolate_opencode(home, configuration(provider.base_url))


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def backend(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OpenCodeBackend]:
    backend = OpenCodeBackend(tmp_path_factory.mktemp("data"))
    yield backend
    await backend.close()


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    path = tmp_path / "worktree"
    path.mkdir()
    return path


@pytest_asyncio.fixture(loop_scope="package")
async def open_opencode(
    backend: OpenCodeBackend, environment: dict[str, str], worktree: Path
) -> AsyncIterator[Open]:
    opened: list[base.Agent] = []

    async def open_opencode(**launch: Any) -> Conversation:
        defaults = {"model": f"{PROVIDER}/{MODEL}", "thinking": "think", "environment": environment}
        where = launch.pop("worktree", worktree)
        agent = await backend.open(make_launch(where, **{**defaults, **launch}))
        opened.append(agent)
        return Conversation(agent)

    yield open_opencode
    await asyncio.gather(*(agent.close() for agent in opened))


def files(worktree: Path) -> list[str]:
    """The names of the files in the worktree."""
    return sorted(entry.name for entry in worktree.iterdir())
