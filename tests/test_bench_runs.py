"""The benchmarks run and count correctly; their timings are not checked."""

import asyncio
from pathlib import Path

import pytest

from model.store.database import Database
from tests.bench import agents, broadcast, crowd, round_trip, soak, store, stream
from tests.bench.clients import Follower
from tests.bench.long_session import write_sessions
from tests.bench.programs import Program, program


@pytest.mark.parametrize("server", ["bare_ring", "served"])
def test_every_client_gets_every_piece_of_a_stream_once_and_in_order(
    server: str, tmp_path: Path
) -> None:
    with program(server, str(tmp_path)) as serving, program("clients") as clients:
        ran = stream.stream(serving, clients, count=3, pieces=200, rate=2000)
    assert ran["pieces"] == [200, 200, 200]


@pytest.mark.parametrize("per_turn", [1, 20])
@pytest.mark.parametrize("server", ["bare_ring", "served"])
def test_every_client_gets_every_byte_of_a_broadcast(
    server: str, per_turn: int, tmp_path: Path
) -> None:
    with program(server, str(tmp_path)) as serving, program("clients") as clients:
        ran = _broadcast(serving, clients, tmp_path, per_turn)
    assert ran["deliveries"] == 6000


def _broadcast(
    serving: Program, clients: Program, directory: Path, per_turn: int
) -> dict[str, float]:
    # More than the ring buffer holds: publishing must have waited for the clients.
    return broadcast.broadcast(serving, clients, directory, count=3, events=2000, per_turn=per_turn)


def test_the_store_benchmark_measures_all_inserts() -> None:
    table = store.measure(runs=1, inserts=32, messages=300)
    assert [row.name for row in table.rows][:2] == ["bare sqlite3", "one after the other"]


def test_round_trips_end_with_a_reply_of_each_command() -> None:
    rows = round_trip.measure(runs=1, count=8, sessions=3).rows
    assert [row.name.split(",")[0] for row in rows] == [
        "list_projects", "get_session", "create_session", "list_sessions", "list_all_sessions",
    ]  # fmt: skip


def test_many_sessions_run_at_once_and_are_deleted() -> None:
    together = crowd.measure(runs=1, sessions=3, events=100)
    assert [row.name for row in together.rows] == ["bare count", "spinney"]
    (row,) = soak.measure(runs=1, sessions=2, turns=2, events=100).rows
    assert set(row.figures) == {"start_MiB", "warm_MiB", "end_MiB", "deleted_MiB"}


def test_agents_answer_at_once_and_leave_no_process() -> None:
    table = agents.measure(runs=1, sessions=2, kinds=["demo"])
    (row,) = table.rows
    assert (row.figures["processes_idle"], row.figures["processes_left"]) == (2, 0)
    assert table.notes == []  # each session answered with the requested text


def test_a_generated_session_has_the_requested_length(tmp_path: Path) -> None:
    async def write_and_count() -> list[int]:
        await write_sessions(tmp_path / "spinney.db", {"one": 601, "two": 3})
        database, _ = await Database.open(tmp_path / "spinney.db")
        try:
            pages = [await database.messages(key, limit=1) for key in ("one", "two")]
            return [page.total for page in pages]
        finally:
            await database.close()

    assert asyncio.run(write_and_count()) == [601, 3]


def test_frames_are_read_however_they_are_split() -> None:
    short, long = b"x" * 100, b"y" * 300
    frames = b"\x81\x64" + short + b"\x89\x00" + b"\x81\x7e\x01\x2c" + long
    for size in (1, 7, 103, len(frames)):
        follower = Follower()
        pieces = [frames[at : at + size] for at in range(0, len(frames), size)]
        assert [payload for piece in pieces for payload in follower.feed(piece)] == [short, long]
