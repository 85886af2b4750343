"""A small agent of the Agent Client Protocol, checked by the protocol's own package: how it is
opened, and what it was told.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from model.agents.agents_file import AgentRow
from model.backends import base
from model.backends.acp.backend import AcpBackend
from model.domain.resources import Usage
from tests.model.backends.agents import Conversation, Open, a_launch, only

Json = dict[str, Any]

AGENT = Path(__file__).with_name("acp_agent.py")
ROW = AgentRow("acp:small", "Small", sys.executable, (), args=(str(AGENT),))

TURN_USAGE = Usage(
    input_tokens=10,
    output_tokens=4,
    cache_creation_input_tokens=2,
    cache_read_input_tokens=3,
)


@pytest.fixture
def heard_file(tmp_path: Path) -> Path:
    folder = tmp_path / "agent"
    folder.mkdir()
    return folder / "heard.jsonl"


@pytest.fixture
async def open_small(worktree: Path, heard_file: Path) -> AsyncIterator[Open]:
    """Opens a conversation with the agent; `can` says what it is able to do."""
    opened: list[base.Agent] = []

    async def open_small(row: AgentRow = ROW, can: Json | None = None, **launch: Any) -> Any:
        environment = {"ACP_AGENT": json.dumps(can or {}), "ACP_HEARD": str(heard_file)}
        agent = await AcpBackend(row).open(a_launch(worktree, environment=environment, **launch))
        opened.append(agent)
        return Conversation(agent)

    yield open_small
    await asyncio.gather(*(agent.close() for agent in opened))


def heard(file: Path, method: str) -> list[Json]:
    """What the agent was asked under this name."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return [line for line in lines if line["method"] == method]


def prompts(file: Path) -> list[list[str]]:
    """The texts of the messages that the agent got."""
    return [
        [block["text"] for block in line["prompt"] if block["type"] == "text"]
        for line in heard(file, "session/prompt")
    ]


def token(conversation: Conversation) -> str:
    return only(conversation.told, base.ConversationIdentified).resume_token
