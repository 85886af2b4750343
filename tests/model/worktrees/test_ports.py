"""Each worktree has ten ports of its own, for its scripts, shells and agents."""

import asyncio
import contextlib
import socket
import uuid
from collections.abc import Iterator

import pytest

from model.base.ports import is_port_in_use
from model.commands.worktrees import (
    adopt_worktree,
    create_worktree,
    open_base_worktree,
)
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.worktree_variables import PORT_COUNT
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from model.worktrees import ports
from model.worktrees.ports import assign_missing, choose_port
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import Maker


@contextlib.contextmanager
def listening(address: str, port: int) -> Iterator[None]:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind((address, port))
        except OSError:
            pytest.skip(f"needs an address of the kind {address}")
        server.listen()
        yield


async def test_worktrees_that_are_created_at_once_get_different_blocks(
    make: Maker, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ports, "_FIRST", 28_000)
    monkeypatch.setattr(ports, "_BLOCKS", 8)
    made = await asyncio.gather(
        *(create_worktree(workspace, make.project.id, custom_name=f"w{n}") for n in range(5))
    )
    for each in made:
        await make.wait_until_settled(each.id)
    chosen = {worktree.port for worktree in workspace.store.state.worktrees.values()}
    assert len(chosen) == 5
    assert all(port is not None and (port - 28_000) % PORT_COUNT == 0 for port in chosen)


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", "::1", "::"])
def test_a_block_in_which_something_listens_is_not_given(address: str) -> None:
    key = str(uuid.uuid4())
    first = choose_port((), key)
    assert first is not None
    with listening(address, first + PORT_COUNT - 1):
        assert is_port_in_use(first + PORT_COUNT - 1)
        assert choose_port((), key) not in (None, first)
    assert not is_port_in_use(first + PORT_COUNT - 1)
    assert choose_port((), key) == first


def test_when_all_blocks_are_taken_a_worktree_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_BLOCKS", 3)
    taken = [12_000, 12_010, 12_020]
    assert choose_port(taken[:2], "x") == 12_020
    assert choose_port(taken, "x") is None


async def test_the_main_checkout_and_adopted_worktrees_have_ports_too(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    path = repository.root.parent / "outside"
    repository.git("worktree", "add", "--quiet", "-b", "outside", str(path))
    base = await open_base_worktree(workspace, make.project.id)
    adopted = await adopt_worktree(workspace, make.project.id, str(path))
    assert None not in (base.port, adopted.port)
    assert base.port != adopted.port


async def test_a_worktree_of_an_older_version_gets_ports_at_the_next_start(
    make: Maker, workspace: Workspace
) -> None:
    one, two = await make("one"), await make("two")

    def without_port(worktree: Worktree) -> WorktreeUpdated:
        return WorktreeUpdated(worktree=worktree.model_copy(update={"port": None}))

    await workspace.store.accept(without_port(one))
    await assign_missing(workspace.store)
    found = workspace.store.state.worktrees
    assert (found[one.id].port, found[two.id].port) == (one.port, two.port)
