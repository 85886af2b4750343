"""Codex's skills as commands: a recording of the real program in which it also lists them."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from model.backends import base
from model.backends.codex.backend import CodexBackend
from model.domain.resources import AgentCommand
from tests.model.backends.agents import Conversation, a_launch, only
from tests.model.backends.codex_player import Player, recording

Json = dict[str, Any]
Start = Callable[[Json], Awaitable[Conversation]]


def a_skill(name: str, **told: Any) -> Json:
    return {"name": name, "path": f"/skills/{name}", "enabled": True, **told}


SHOWN = {"shortDescription": "Spin yarn"}
SKILLS = [
    a_skill("wind", description="Wind yarn"),
    a_skill("spin", description="Spin yarn, at length", interface=SHOWN),
    a_skill("off", enabled=False),
    a_skill("nowhere", path=None),
    "garbage",
    {},
]


@pytest.fixture
async def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Start]:
    """A conversation whose program gives this answer when it is asked for its skills."""
    backend, opened = CodexBackend(), []
    worktree = tmp_path / "worktree"
    worktree.mkdir()

    async def start(answer: Json) -> Conversation:
        player = Player(tmp_path / "bin")
        monkeypatch.setenv("PATH", str(player.folder))
        lines = recording("text", tmp_path)
        turn = next(n for n, x in enumerate(lines) if x["msg"].get("method") == "turn/start")
        asked = {"dir": "in", "msg": {"id": 900, "method": "skills/list"}}
        listed = [asked, {"dir": "out", "msg": {"id": 900, **answer}}]
        player.prepare([*lines[:turn], *listed, *listed, *lines[turn:]])
        opened.append(await backend.open(a_launch(worktree, model="gpt-5.5", thinking="think")))
        return Conversation(opened[-1])

    yield start
    for agent in opened:
        await agent.close()
    await backend.close()


def sent(tmp_path: Path) -> list[Json]:
    """The input of the turn."""
    player = Player.__new__(Player)
    player.folder = tmp_path / "bin"
    (turn,) = player.heard("turn/start")
    return list(turn["input"])


async def test_skills_that_can_be_used_are_told_as_commands(start: Start) -> None:
    conversation = await start({"result": {"data": [{"skills": SKILLS}, {"skills": 3}, None]}})
    told = (await conversation.until(base.CommandsListed)).commands
    assert [command.name for command in told[:4]] == ["compact", "review", "init", "status"]
    assert list(told[4:]) == [
        AgentCommand(name="wind", description="Wind yarn"),
        AgentCommand(name="spin", description="Spin yarn"),
    ]


async def test_a_message_that_begins_with_a_skill_calls_it(start: Start, tmp_path: Path) -> None:
    conversation = await start({"result": {"data": [{"skills": SKILLS}]}})
    only(await conversation.turn("/wind it tight\nplease"), base.TurnFinished)
    assert sent(tmp_path) == [
        {"type": "text", "text": "$wind it tight\nplease"},
        {"type": "skill", "name": "wind", "path": "/skills/wind"},
    ]


@pytest.mark.parametrize("message", ["/off now", "/nowhere", "/winder", "/", "/etc/hosts"])
async def test_what_is_no_skill_is_text(start: Start, tmp_path: Path, message: str) -> None:
    conversation = await start({"result": {"data": [{"skills": SKILLS}]}})
    only(await conversation.turn(message), base.TurnFinished)
    assert sent(tmp_path) == [{"type": "text", "text": message}]


async def test_a_program_that_lists_no_skills_takes_the_message_as_text(
    start: Start, tmp_path: Path
) -> None:
    conversation = await start({"error": {"code": -32601, "message": "Unknown method"}})
    only(await conversation.turn("/wind it"), base.TurnFinished)
    assert sent(tmp_path) == [{"type": "text", "text": "/wind it"}]
