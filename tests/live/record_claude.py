"""Records what the real Claude Code says against the scripted provider, for the tests that play it
without the program: `python -m tests.live.record_claude`. Names, paths and long lists are neutral.
"""

import asyncio
import json
import re
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from model.backends.claude.backend import ClaudeBackend
from model.backends.process import AgentProcess, InvalidLine, JsonLine
from tests.live.cut_off import claude_in, made_known
from tests.live.provider_stub import ProviderStub
from tests.model.backends.agents import Conversation, a_launch
from tests.model.backends.claude_recordings import (
    CONVERSATION,
    FOLDER,
    HOME,
    SCENARIOS,
    Json,
    Scenario,
)

_LEFT_OUT = frozenset(
    {"tools", "slash_commands", "skills", "agents", "plugins", "memory_paths", "capabilities"}
    | {"messaging_socket_path", "user_message_uuids", "owed_rows"}
)
"""Long lists that nobody reads, and what tells of this machine."""


class Recorder(AgentProcess):
    """A running program that writes down what it hears and says."""

    recorded: list[Json]

    async def write(self, value: Mapping[str, Any]) -> None:
        self.recorded.append({"heard": value})
        await super().write(value)

    async def read_lines(self) -> AsyncIterator[JsonLine | InvalidLine]:
        async for line in super().read_lines():
            assert isinstance(line, JsonLine)
            self.recorded.append({"said": line.value})
            yield line


async def record(scenario: Scenario, base_url: str, home: Path) -> list[str]:
    """The conversation's recording, line by line."""
    worktree = home / "worktree"
    worktree.mkdir(parents=True)
    Recorder.recorded = []
    launch = a_launch(
        worktree,
        mode=scenario.mode,
        model=scenario.model,
        thinking="think",
        environment=claude_in(home, base_url),
    )
    with patch("model.backends.claude.backend.AgentProcess", Recorder):
        agent = await ClaudeBackend().open(launch)
        try:
            await scenario.perform(Conversation(agent))
        finally:
            await agent.close()
    return _neutral(Recorder.recorded, home)


def _neutral(recorded: Sequence[Json], home: Path) -> list[str]:
    kept = [_shortened(line) for line in recorded if not _is_setting(line)]
    text = "\n".join(json.dumps(line, separators=(",", ":"), ensure_ascii=False) for line in kept)
    (conversation,) = set(re.findall(r'"subtype":"init".*?"session_id":"([^"]+)"', text))
    text = text.replace(conversation, CONVERSATION).replace(str(home), HOME)
    return text.replace(str(home).replace("/", "-"), HOME.replace("/", "-")).splitlines()


def _is_setting(line: Json) -> bool:
    """The player answers settings by itself."""
    heard, said = line.get("heard", {}), line.get("said", {})
    asked = heard.get("type") == "control_request" and heard["request"]["subtype"] != "interrupt"
    return asked or said.get("type") == "control_response"


def _shortened(line: Json) -> Json:
    said = line.get("said")
    if said is None:
        return line
    return {"said": {key: value for key, value in said.items() if key not in _LEFT_OUT}}


async def main() -> None:
    stub = ProviderStub()
    FOLDER.mkdir(parents=True, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        made_known("claude", patch)
        async with stub.running() as base_url:
            for name, scenario in SCENARIOS.items():
                with tempfile.TemporaryDirectory() as home:
                    lines = await record(scenario, base_url, Path(home).resolve())
                (FOLDER / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
                print(f"{name}: {len(lines)} lines")


if __name__ == "__main__":
    asyncio.run(main())
