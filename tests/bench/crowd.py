"""Many concurrent sessions: memory of an idle one, and loop delays while all work."""

import tempfile

from tests.bench.programs import program
from tests.bench.tables import Table


def measure(runs: int, sessions: int = 20, events: int = 2000) -> Table:
    """Measure agents that emit events at full speed, compared with only counting the events."""
    table = Table("crowd", f"{sessions} sessions at once, {events:,} events each")
    total = sessions * events
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder, program("working", folder) as working:
            bare = working.ask("bare", agents=sessions, events=events)
            ran = working.ask("crowd", sessions=sessions, events=events)
        table.add("bare count", us_cpu_per_event=bare["cpu"] / total * 1e6)
        table.add(
            "spinney",
            us_cpu_per_event=ran["cpu"] / total * 1e6,
            events_per_s=total / ran["seconds"],
            idle_KiB_per_session=ran["idle"] / 1024,
            late_ms_p99=ran["late_p99"] * 1e3,
            late_ms_max=ran["late_max"] * 1e3,
            busy_ms_p99=ran["busy_p99"] * 1e3,
            busy_ms_max=ran["busy_max"] * 1e3,
        )
    return table
