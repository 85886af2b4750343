"""Codex's skills as commands: a recording of the real program with added lists of skills."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from model.backends import agent_events
from model.backends.codex.backend import CodexBackend
from model.domain.agent_commands import AgentCommand
from tests.model.backends.agents import Conversation, make_launch, only
from tests.model.backends.codex_player import Player, load_recording

Json = dict[str, Any]
Start = Callable[[Json], Awaitable[Conversation]]


def make_skill(name: str, **fields: Any) -> Json:
    return {"name": name, "path": f"/skills/{name}", "enabled": True, **fields}


SHOWN = {"shortDescription": "Spin yarn"}
SKILLS = [
    make_skill("wind", description="Wind yarn"),
    make_skill("spin", description="Spin yarn, at length", interface=SHOWN),
    make_skill("off", enabled=False),
    make_skill("nowhere", path=None),
    "garbage",
    {},
]


@pytest.fixture
async def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Start]:
    """Starts a conversation whose program answers requests for its skills with `answer`."""
    backend, opened = CodexBackend(), []
    worktree = tmp_path / "worktree"
    worktree.mkdir()

    async def start(answer: Json) -> Conversation:
        player = Player(tmp_path / "bin")
        monkeypatch.setenv("PATH", str(player.folder))
        lines = load_recording("text", tmp_path)
        turn = next(n for n, x in enumerate(lines) if x["msg"].get("method") == "turn/start")
        asked = {"dir": "in", "msg": {"id": 900, "method": "skills/list"}}
        listed = [asked, {"dir": "out", "msg": {"id": 900, **answer}}]
        player.prepare([*lines[:turn], *listed, *listed, *lines[turn:]])
        opened.append(await backend.open(make_launch(worktree, model="gpt-5.5", thinking="think")))
        return Conversation(opened[-1])

    yield start
    for agent in opened:
        await agent.close()
    await backend.close()


def read_turn_input(tmp_path: Path) -> list[Json]:
    """The input that the turn was started with."""
    player = Player.__new__(Player)
    player.folder = tmp_path / "bin"
    (turn,) = player.read_requests("turn/start")
    return list(turn["input"])


async def test_usable_skills_are_listed_as_commands(start: Start) -> None:
    conversation = await start({"result": {"data": [{"skills": SKILLS}, {"skills": 3}, None]}})
    commands = (await conversation.until(agent_events.CommandsListed)).commands
    assert [command.name for command in commands[:4]] == ["compact", "review", "init", "status"]
    assert list(commands[4:]) == [
        AgentCommand(name="wind", description="Wind yarn"),
        AgentCommand(name="spin", description="Spin yarn"),
    ]


async def test_a_message_that_begins_with_a_skill_calls_it(start: Start, tmp_path: Path) -> None:
    conversation = await start({"result": {"data": [{"skills": SKILLS}]}})
    only(await conversation.turn("/wind it tight\nplease"), agent_events.TurnFinished)
    assert read_turn_input(tmp_path) == [
        {"type": "text", "text": "$wind it tight\nplease"},
        {"type": "skill", "name": "wind", "path": "/skills/wind"},
    ]


@pytest.mark.parametrize("message", ["/off now", "/nowhere", "/winder", "/", "/etc/hosts"])
async def test_unknown_skills_are_sent_as_text(start: Start, tmp_path: Path, message: str) -> None:
    conversation = await start({"result": {"data": [{"skills": SKILLS}]}})
    only(await conversation.turn(message), agent_events.TurnFinished)
    assert read_turn_input(tmp_path) == [{"type": "text", "text": message}]


async def test_without_a_list_of_skills_a_message_is_sent_as_text(
    start: Start, tmp_path: Path
) -> None:
    conversation = await start({"error": {"code": -32601, "message": "Unknown method"}})
    only(await conversation.turn("/wind it"), agent_events.TurnFinished)
    assert read_turn_input(tmp_path) == [{"type": "text", "text": "/wind it"}]
