"""The command line of the benchmarks: `python -m tests.bench [NAME…] [--json] [--runs N]`."""

import argparse
import os
import platform
import sys
from collections.abc import Callable

from tests.bench import (
    agents,
    attached,
    broadcast,
    busy,
    crowd,
    landing,
    line,
    living,
    page,
    round_trip,
    service,
    session,
    snapshots,
    soak,
    start,
    store,
    stream,
    tree,
    usage,
)
from tests.bench.tables import Table, as_json

BENCHMARKS: dict[str, Callable[[int], Table]] = {
    "start": start.measure,
    "attached": attached.measure,
    "living": living.measure,
    "busy": busy.measure,
    "stream": stream.measure,
    "broadcast": broadcast.measure,
    "session": session.measure,
    "snapshots": snapshots.measure,
    "landing": landing.measure,
    "store": store.measure,
    "roundtrip": round_trip.measure,
    "service": service.measure,
    "usage": usage.measure,
    "crowd": crowd.measure,
    "soak": soak.measure,
    "agents": agents.measure,
    "tree": tree.measure,
    "page": page.measure,
    "line": line.measure,
}

RUNS = {
    "landing": 5,
    "start": 10,
    "attached": 5,
    "living": 2,
    "busy": 1,
    "stream": 2,
    "broadcast": 3,
    "session": 3,
    "store": 3,
    "roundtrip": 8,
    "service": 2,
    "usage": 3,
    "crowd": 2,
    "soak": 1,
    "agents": 1,
    "tree": 3,
    "page": 2,
    "line": 1,
}


def main() -> None:
    """Run the given benchmarks, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--runs", type=int, help="runs of each program; the best one is shown")
    options = parser.parse_args()
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        parser.error(
            f"there is no benchmark {', '.join(sorted(unknown))}; choose {', '.join(BENCHMARKS)}"
        )
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, {sys.platform}"
    if not options.json:
        print(f"{machine}; load {os.getloadavg()[0]:.1f} at the start\n", flush=True)
    tables = []
    for name in options.names or BENCHMARKS:
        tables.append(BENCHMARKS[name](options.runs or RUNS[name]))
        if not options.json:
            print(tables[-1].text(), end="\n\n", flush=True)
    if options.json:
        print(as_json(tables))


if __name__ == "__main__":
    main()
