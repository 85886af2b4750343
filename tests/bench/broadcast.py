"""Events published to the bus and sent to many clients, compared with a bare ring buffer."""

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from model.domain.events.program import TaskCompleted
from server.fanout import text_frame
from tests.bench.programs import Program, Progress, program
from tests.bench.serving import make_detail
from tests.bench.tables import Table, format_clients

SIZES = {1: 20_000, 10: 10_000, 100: 4_000}
"""Events by number of clients, with one event in each iteration of the loop."""

PER_TURN = (1, 20)
TIMES_AT_20 = {1: 5, 10: 10, 100: 10}
"""Factors for the number of events at twenty a turn, so that a run is long enough."""


def frame_of(number: int) -> bytes:
    """Return the frame that each client receives for event `number` from both servers."""
    event = TaskCompleted(task="bench", ok=True, detail=make_detail(number))
    return text_frame(event.frame().encode())


def broadcast(
    server: Program, clients: Program, place: Path, *, count: int, events: int, per_turn: int
) -> dict[str, Any]:
    """Run once; raises `RuntimeError` if a client did not receive exactly what was published."""
    frame, progress = frame_of(events), str(place / "progress")
    Progress(progress).set(0)
    clients.ask("connect", port=server.ask("port")["port"], path="/ws", clients=count)
    clients.say("count", each=events * len(frame), last=frame[-100:].decode(), progress=progress)
    cost = server.ask(
        "publish", events=events, per_turn=per_turn, frame_size=len(frame), progress=progress
    )
    counted = clients.answer()
    clients.ask("close")
    if not counted["complete"]:
        raise RuntimeError(f"{count} clients did not get {events} events each: {counted}")
    return {**cost, "deliveries": events * count}


def measure(runs: int, scale: float = 1.0) -> Table:
    """Measure both servers `runs` times; the table has the best run of each."""
    table = Table("broadcast", "events to WebSocket clients, deliveries a second")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        place = Path(folder)
        servers = {
            "bare ring": stack.enter_context(program("bare_ring")),
            "spinney": stack.enter_context(program("served", folder)),
        }
        clients = stack.enter_context(program("clients"))
        for per_turn in PER_TURN:
            for count, events in SIZES.items():
                events = int(events * scale) // per_turn * per_turn or per_turn
                events *= TIMES_AT_20[count] if per_turn > 1 else 1
                best: dict[str, dict[str, Any]] = {}
                for _ in range(runs):
                    for name, server in servers.items():
                        ran = broadcast(
                            server, clients, place, count=count, events=events, per_turn=per_turn
                        )
                        if name not in best or ran["seconds"] < best[name]["seconds"]:
                            best[name] = ran
                _add(table, best, count, per_turn)
    return table


def _add(table: Table, best: dict[str, dict[str, Any]], count: int, per_turn: int) -> None:
    rates = {name: ran["deliveries"] / ran["seconds"] for name, ran in best.items()}
    case = f"{format_clients(count)}, {per_turn} a turn"
    ratio = rates["spinney"] / rates["bare ring"]
    for name, ran in best.items():
        table.add(
            f"{name}, {case}",
            deliveries_per_s=rates[name],
            CPU_us_per_delivery=ran["cpu"] / ran["deliveries"] * 1e6,
            of_the_bare_ring=ratio if name == "spinney" else 1.0,
        )
    table.at_least(f"at least half of the bare ring's deliveries, {case}", ratio, 0.5)
