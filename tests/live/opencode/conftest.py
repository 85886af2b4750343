"""The real OpenCode behind its adapter, answered by a scripted provider on loopback.

One server of OpenCode is for all tests here, as it is for all sessions of a person.
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
from tests.live.cut_off import made_known, opencode_in
from tests.model.backends.agents import Conversation, Open, a_launch, only


@pytest.fixture(scope="package")
def program() -> Iterator[Path]:
    """The real `opencode`, found by Spinney from now on."""
    with pytest.MonkeyPatch.context() as patch:
        yield made_known("opencode", patch)


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def provider() -> AsyncIterator[CompletionsStub]:
    """The scripted provider, running."""
    stub = CompletionsStub()
    async with stub.running():
        yield stub


@pytest.fixture(scope="package")
def environment(
    program: Path, provider: CompletionsStub, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """Variables with which `opencode` knows nobody's account and talks to the stub alone."""
    home = tmp_path_factory.mktemp("home")
    return opencode_in(home, configuration(provider.base_url))


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
        usual = {"model": f"{PROVIDER}/{MODEL}", "thinking": "think", "environment": environment}
        where = launch.pop("worktree", worktree)
        agent = await backend.open(a_launch(where, **{**usual, **launch}))
        opened.append(agent)
        return Conversation(agent)

    yield open_opencode
    await asyncio.gather(*(agent.close() for agent in opened))


def files(worktree: Path) -> list[str]:
    """The names in the worktree."""
    return sorted(entry.name for entry in worktree.iterdir())


def token(conversation: Conversation) -> str:
    return only(conversation.told, base.ConversationIdentified).resume_token
