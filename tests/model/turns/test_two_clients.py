"""Two clients that undo, delete and restore at once: one sentence for the loser, one state."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from model.api.turns import TurnSummary
from model.base.errors import SpinneyError
from model.client.remote import RemoteClient
from model.domain.sessions import Session
from model.preferences.apply import apply_changes
from server.app import Server
from tests.model.turns.conftest import Desk
from tests.server.conftest import TOKEN, base_url

Call = tuple[str, dict[str, Any]]


@pytest.fixture
async def clients(desk: Desk) -> AsyncIterator[list[RemoteClient]]:
    """Two WebSocket clients of one server."""
    workspace = desk.workspace
    preferences = workspace.store.state.preferences
    await workspace.change_preferences(apply_changes(preferences, {"http_server_token": TOKEN}))
    server = Server(workspace)
    async with AsyncExitStack() as stack:
        await server.start(0, localhost_only=True, token_required=True)
        stack.push_async_callback(server.stop)
        made = [RemoteClient(base_url(server), TOKEN) for _ in range(2)]
        for client in made:
            stack.push_async_callback(client.close)
            await client.connect()
        yield made


async def call_both(clients: list[RemoteClient], *calls: Call) -> list[str]:
    """Let each client make a call in the same moment; return the error or an empty text of each."""

    async def call(client: RemoteClient, name: str, args: dict[str, Any]) -> str:
        try:
            await client.call_raw(name, args)
        except SpinneyError as error:
            assert error.error_type in ("conflict", "not_found"), error.message
            assert error.message.endswith(".")
            return error.message
        return ""

    pairs = zip(clients, calls, strict=True)
    return list(await asyncio.gather(*(call(client, *each) for client, each in pairs)))


async def play_two(desk: Desk) -> tuple[Session, TurnSummary, TurnSummary]:
    session = await desk.add_session()

    def work(root: Path) -> None:
        text = root / "read.me"
        text.write_text(f"{text.read_text()}of the agent\n")
        (root / f"{len(list(root.iterdir()))}").write_text("new\n")

    return session, await desk.play(session, work, "one"), await desk.play(session, work, "two")


def undo(turn: TurnSummary, what: str = "files") -> Call:
    return "undo_turn", {"turnId": turn.turn_id, "what": what}


def list_files(root: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in root.iterdir()}


async def test_a_turn_that_both_undo_is_undone_once_and_comes_back_whole(
    desk: Desk, clients: list[RemoteClient]
) -> None:
    before = list_files(desk.root)
    _, _, turn = await play_two(desk)
    after = list_files(desk.root)

    errors = await call_both(clients, undo(turn), undo(turn))
    assert sorted(errors) == ["", "This turn was undone already."]
    assert list_files(desk.root).keys() - before.keys() == {"2"}

    redo: Call = ("redo_turn", {"turnId": turn.turn_id})
    errors = await call_both(clients, redo, redo)
    assert sorted(errors) == ["", "This turn is not undone."]
    assert list_files(desk.root) == after


@pytest.mark.parametrize("first", [0, 1])
async def test_an_undo_beside_an_edited_message(
    desk: Desk, clients: list[RemoteClient], first: int
) -> None:
    before = list_files(desk.root)
    session, one, two = await play_two(desk)
    calls = [undo(two), undo(one, "both")]

    errors = await call_both(clients, calls[first], calls[1 - first])

    assert set(errors) <= {"", "This turn was undone already."}
    assert list_files(desk.root) == before
    receiver = await desk.begin(session, "one, better")
    errors = await call_both(clients, undo(one), ("redo_turn", {"turnId": two.turn_id}))
    assert all("Stop the session" in error or "undone already" in error for error in errors)
    await desk.finish(session, receiver)


@pytest.mark.parametrize("first", [0, 1])
async def test_an_undo_beside_the_deletion_of_the_worktree(
    desk: Desk, clients: list[RemoteClient], first: int
) -> None:
    session, _, turn = await play_two(desk)
    before = list_files(desk.root)
    calls = [undo(turn), ("remove_worktree", {"worktreeId": desk.worktree.id, "force": True})]

    errors = await call_both(clients, calls[first], calls[1 - first])

    undo_error, deletion_error = errors[first], errors[1 - first]
    assert deletion_error == "" and not desk.root.exists()
    (point,) = await clients[0].call_raw("list_recovery_points", {})
    await clients[0].call_raw("restore_worktree", {"recoveryId": point["recovery_id"]})
    if not undo_error:
        redo: Call = ("redo_turn", {"turnId": turn.turn_id})
        assert await call_both(clients[:1], redo) == [""]
    assert list_files(desk.root) == before
    turns = await clients[1].call_raw("list_turns", {"sessionId": session.id})
    assert [each["undone"] for each in turns] == [None, None]


@pytest.mark.parametrize("first", [0, 1])
async def test_a_point_that_one_restores_while_the_other_deletes_it(
    desk: Desk, clients: list[RemoteClient], first: int
) -> None:
    await play_two(desk)
    before = list_files(desk.root)
    await clients[0].call_raw("remove_worktree", {"worktreeId": desk.worktree.id, "force": True})
    (point,) = await clients[0].call_raw("list_recovery_points", {})
    named = {"recoveryId": point["recovery_id"]}
    calls: list[Call] = [("restore_worktree", named), ("delete_recovery_point", named)]

    errors = await call_both(clients, calls[first], calls[1 - first])

    restored, deleted = errors[first], errors[1 - first]
    assert deleted == "" and await clients[1].call_raw("list_recovery_points", {}) == []
    if restored:
        assert "Recovery point not found" in restored and not desk.root.exists()
    else:
        assert list_files(desk.root) == before
