"""`list_agent_commands`: what an agent can be told by commands of its own."""

from typing import Any

import pytest

from tests.contract.conftest import Call, refusal
from tests.contract.place import Place
from tests.model.git.made_repository import Repository
from tests.server.conftest import Socket


@pytest.fixture
def place(call: Call, listener: Socket, project: Any, with_remote: Repository) -> Place:
    return Place(call, listener, project["id"], with_remote)


async def test_it_gives_those_of_the_agent_that_a_new_session_would_have(place: Place) -> None:
    made = await place.create()
    (command,) = await place.call("list_agent_commands", worktreeId=made["id"])
    assert command["name"] == "demo"
    assert set(command) == {"name", "description", "argument_hint"}


async def test_it_refuses_a_worktree_that_is_not_there(place: Place) -> None:
    told = await refusal(place.call, "list_agent_commands", worktreeId="nowhere")
    assert told == "Worktree not found: nowhere"
