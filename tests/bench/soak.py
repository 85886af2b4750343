"""Long-running sessions: growth of memory, and memory after they are deleted."""

import tempfile

from tests.bench.programs import program
from tests.bench.tables import Table

_MIB = 1024 * 1024


def measure(runs: int, sessions: int = 10, turns: int = 100, events: int = 1000) -> Table:
    """Measure sessions that run `turns` turns; the first tenth is a warm-up."""
    total = turns * events
    table = Table("soak", f"{sessions} sessions of {total:,} events each")
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder, program("working", folder) as working:
            ran = working.ask("soak", sessions=sessions, turns=turns, events=events)
        table.add(
            "spinney",
            start_MiB=ran["start"] / _MIB,
            warm_MiB=ran["warm"] / _MIB,
            end_MiB=ran["end"] / _MIB,
            deleted_MiB=ran["closed"] / _MIB,
        )
        grown = (ran["end"] - ran["warm"]) / _MIB
        table.at_most("less than 50 MiB more at the end than when warm", grown, 50)
    return table
