"""Records conversations of the real Claude Code with the scripted provider, for tests that replay
them without the program: `python -m tests.live.record_claude`.

Names and paths are replaced by neutral ones, and long lists are left out.
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
from tests.live.isolation import isolate_claude, put_on_path
from tests.live.provider_stub import ProviderStub
from tests.model.backends.agents import Conversation, make_launch
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
"""Long lists that are not needed, and details of this machine."""


class Recorder(AgentProcess):
    """A running program whose input and output are recorded."""

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
    """Record a conversation and return its lines."""
    worktree = home / "worktree"
    worktree.mkdir(parents=True)
    Recorder.recorded = []
    launch = make_launch(
        worktree,
        mode=scenario.mode,
        model=scenario.model,
        thinking="think",
        environment=isolate_claude(home, base_url),
    )
    with patch("model.backends.claude.backend.AgentProcess", Recorder):
        agent = await ClaudeBackend().open(launch)
        try:
            await scenario.perform(Conversation(agent))
        finally:
            await agent.close()
    return _anonymize(Recorder.recorded, home)


def _anonymize(recorded: Sequence[Json], home: Path) -> list[str]:
    kept = [_shorten(line) for line in recorded if not _is_setting(line)]
    text = "\n".join(json.dumps(line, separators=(",", ":"), ensure_ascii=False) for line in kept)
    (conversation,) = set(re.findall(r'"subtype":"init".*?"session_id":"([^"]+)"', text))
    text = text.replace(conversation, CONVERSATION).replace(str(home), HOME)
    return text.replace(str(home).replace("/", "-"), HOME.replace("/", "-")).splitlines()


def _is_setting(line: Json) -> bool:
    """Whether a line is about settings, which the player answers by itself."""
    received, said = line.get("heard", {}), line.get("said", {})
    asked = (
        received.get("type") == "control_request" and received["request"]["subtype"] != "interrupt"
    )
    return asked or said.get("type") == "control_response"


def _shorten(line: Json) -> Json:
    said = line.get("said")
    if said is None:
        return line
    return {"said": {key: value for key, value in said.items() if key not in _LEFT_OUT}}


async def main() -> None:
    stub = ProviderStub()
    FOLDER.mkdir(parents=True, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        put_on_path("claude", patch)
        async with stub.running() as base_url:
            for name, scenario in SCENARIOS.items():
                with tempfile.TemporaryDirectory() as home:
                    lines = await record(scenario, base_url, Path(home).resolve())
                (FOLDER / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
                print(f"{name}: {len(lines)} lines")


if __name__ == "__main__":
    asyncio.run(main())
