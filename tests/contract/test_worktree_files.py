"""`list_worktree_files`: a worktree's files for clients on any machine."""

from typing import Any

import pytest

from tests.contract.conftest import Call, refusal
from tests.contract.place import Place
from tests.model.git.made_repository import Repository
from tests.server.conftest import Socket


@pytest.fixture
def place(call: Call, listener: Socket, project: Any, with_remote: Repository) -> Place:
    return Place(call, listener, project["id"], with_remote)


async def test_it_gives_the_best_paths_within_the_worktree(place: Place) -> None:
    made = await place.create()
    place.write(made, "src/deep/parser.py")
    place.write(made, "notes.txt")
    answer = await place.call("list_worktree_files", worktreeId=made["id"], query="prs")
    assert answer == {"files": ["src/deep/parser.py"]}
    answer = await place.call("list_worktree_files", worktreeId=made["id"], limit=2)
    assert len(answer["files"]) == 2


async def test_it_refuses_what_makes_no_sense(place: Place) -> None:
    told = await refusal(place.call, "list_worktree_files", worktreeId="nowhere")
    assert told == "Worktree not found: nowhere"
    made = await place.create()
    told = await refusal(place.call, "list_worktree_files", worktreeId=made["id"], limit=0)
    assert told == "Invalid field 'limit': must be from 1 to 1000"
