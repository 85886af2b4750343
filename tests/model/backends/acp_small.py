"""Opens conversations with the small agent of `acp_agent.py` and reads what it received."""

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
from model.domain.usage import Usage
from tests.model.backends.agents import Conversation, Open, make_launch

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
def request_log(tmp_path: Path) -> Path:
    folder = tmp_path / "agent"
    folder.mkdir()
    return folder / "requests.jsonl"


@pytest.fixture
async def open_small(worktree: Path, request_log: Path) -> AsyncIterator[Open]:
    """Opens a conversation with the agent; `can` lists its capabilities."""
    opened: list[base.Agent] = []

    async def open_small(row: AgentRow = ROW, can: Json | None = None, **launch: Any) -> Any:
        environment = {"ACP_AGENT": json.dumps(can or {}), "ACP_REQUEST_LOG": str(request_log)}
        agent = await AcpBackend(row).open(make_launch(worktree, environment=environment, **launch))
        opened.append(agent)
        return Conversation(agent)

    yield open_small
    await asyncio.gather(*(agent.close() for agent in opened))


def read_requests(file: Path, method: str) -> list[Json]:
    """The requests of this method that the agent received."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return [line for line in lines if line["method"] == method]


def read_prompts(file: Path) -> list[list[str]]:
    """The texts of the messages that the agent received."""
    return [
        [block["text"] for block in line["prompt"] if block["type"] == "text"]
        for line in read_requests(file, "session/prompt")
    ]
