"""Undoing turns and forking with every backend: what the agent knows afterwards."""

from pathlib import Path

import pytest

from tests.live.every_backend.conftest import Begin
from tests.live.every_backend.kinds import KINDS
from tests.live.every_backend.talk import Json, Talk

pytestmark = [
    pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys(), scope="module"),
    pytest.mark.timeout(300),
]


async def last_turn(talk: Talk) -> Json:
    turn: Json = (await talk.do("list_turns"))[-1]
    return turn


async def test_the_agent_does_not_know_the_undone_turn_until_it_is_redone(begin: Begin) -> None:
    talk = await begin("yolo")
    await talk.say("say: apples")
    await talk.say("write pears.txt: pears")
    undone = await last_turn(talk)
    await talk.call("undo_turn", turnId=undone["turn_id"], what="both")
    assert not (Path(talk.worktree["path"]) / "pears.txt").exists()
    await talk.call("redo_turn", turnId=undone["turn_id"])
    assert (Path(talk.worktree["path"]) / "pears.txt").exists()
    await talk.say("remember?")
    assert "pears" in await talk.last_text()
    await talk.call("undo_turn", turnId=undone["turn_id"], what="both")
    await talk.say("remember?")
    assert "pears" not in await talk.last_text()


async def test_a_fork_continues_by_itself(begin: Begin) -> None:
    talk = await begin("yolo")
    await talk.say("say: apples")
    first = await last_turn(talk)
    await talk.say("say: pears")
    session = await talk.do("fork_session", turnId=first["turn_id"], name="Another way")
    fork = Talk(talk.kind, talk.socket, talk.call, session, talk.worktree)
    await fork.say("remember?")
    assert "pears" not in await fork.last_text()
    await talk.say("remember?")
    assert "pears" in await talk.last_text()
