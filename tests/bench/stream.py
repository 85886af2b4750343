"""An answer streamed at 2,000 pieces a second through agent, chat, store, bus and server."""

import tempfile
from contextlib import ExitStack
from typing import Any

from tests.bench.programs import Program, program
from tests.bench.tables import Table, format_clients

RATE = 2000.0
SECONDS = 5
CLIENTS = (1, 10, 100)


def stream(
    server: Program, clients: Program, *, count: int, pieces: int, rate: float
) -> dict[str, Any]:
    """Stream one answer; raises `RuntimeError` if a client did not receive every piece in order."""
    clients.ask("connect", port=server.ask("port")["port"], path="/ws", clients=count)
    clients.say("follow", pieces=pieces)
    cost = server.ask("stream", count=pieces, rate=rate)
    received = clients.answer()
    clients.ask("close")
    if received["pieces"] != [pieces] * count or not received["in_order"]:
        raise RuntimeError(f"{count} clients did not get {pieces} pieces each: {received}")
    return {**cost, **received, "rate": pieces / received["seconds"]}


def measure(runs: int, pieces: int = int(RATE) * SECONDS) -> Table:
    """Measure both servers `runs` times; the table has the runs with the lowest median delay."""
    table = Table("stream", f"one answer of {pieces:,} pieces at {RATE:,.0f} a second")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        servers = {
            "bare ring": stack.enter_context(program("bare_ring")),
            "spinney": stack.enter_context(program("served", folder)),
        }
        clients = stack.enter_context(program("clients"))
        for count in CLIENTS:
            best: dict[str, dict[str, Any]] = {}
            for _ in range(runs):
                for name, server in servers.items():
                    ran = stream(server, clients, count=count, pieces=pieces, rate=RATE)
                    if name not in best or ran["p50"] < best[name]["p50"]:
                        best[name] = ran
            for name, ran in best.items():
                _add(table, f"{name}, {format_clients(count)}", ran, pieces * count)
            ratio = best["spinney"]["rate"] / RATE
            table.at_least(f"at least 98% of the asked rate, {format_clients(count)}", ratio, 0.98)
    return table


def _add(table: Table, name: str, ran: dict[str, Any], deliveries: int) -> None:
    table.add(
        name,
        pieces_per_s=ran["rate"],
        delay_p50_ms=ran["p50"] * 1e3,
        delay_p99_ms=ran["p99"] * 1e3,
        CPU_us_per_delivery=ran["cpu"] / deliveries * 1e6,
        CPU_of_a_core=f"{ran['cpu'] / ran['seconds']:.0%}",
        frames_per_client=ran["frames"] / len(ran["pieces"]),
        stall_p99_ms=ran["late_p99"] * 1e3,
        stall_max_ms=ran["late_max"] * 1e3,
        busy_max_ms=ran["busy_max"] * 1e3,
        grown_MiB=ran["grown"] / 2**20,
    )
