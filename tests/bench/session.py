"""Opening a session of 10,000 messages, compared with a short one and with bare Textual."""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.long_session import write_sessions
from tests.bench.programs import ROOT
from tests.bench.tables import Table
from tests.bench.terminal import terminal

SHORT = 100
STEPS = ("page up", "jump to the oldest that is read", "resize", "theme", "focus out", "focus in")
_HERE = ROOT / "tests" / "bench"


def measure(runs: int, messages: int = 10_000) -> Table:
    """Measure each program `runs` times; the table has the best run."""
    table = Table("session", f"a session of {messages:,} messages opened, 120×40")
    best: dict[str, dict[str, Any]] = {}
    steps: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "data").mkdir(mode=0o700)
        sessions = {"long": messages, "short": SHORT, "large": messages}
        asyncio.run(write_sessions(home / "data" / "spinney.db", sessions, "large"))
        names = {key: f"{count:,} messages" for key, count in sessions.items()}
        names["large"] += " of 5 KB each"
        for _ in range(runs):
            for first, *others in (
                ("short", "long"),
                ("long", "large", "short"),
                ("short", "large"),
            ):
                found = _run("opening.py", home, first, *others)
                for key in (first, *others):
                    when = "first after start" if key == first else "after another"
                    kept = {**found["opened"][key], "rss": found["rss"]}
                    _keep(best, f"spinney, {names[key]}, {when}", kept)
                if others[-1] == "long":
                    for step in STEPS:
                        _keep(steps, step, found[step])
            _keep(best, "bare Textual, newest 100", _run("bare_markdown.py", home, str(messages)))
    bare = best["bare Textual, newest 100"]
    for name, found in best.items():
        table.add(
            f"open: {name}",
            painted_ms=found["wall"] * 1e3,
            CPU_ms=found["cpu"] * 1e3,
            of_bare=found["wall"] / bare["wall"],
            widgets=found["widgets"],
            grown_MiB=found["grown"] / 2**20,
            RSS_MiB=found["rss"] / 2**20,
        )
    for name, found in steps.items():
        table.add(f"{name}, long", painted_ms=found["wall"] * 1e3, CPU_ms=found["cpu"] * 1e3)
    opened = best[f"spinney, {messages:,} messages, first after start"]
    for step, limit in (("resize", 50), ("theme", 40)):
        table.at_most(f"{step} within {limit} ms of CPU", steps[step]["cpu"] * 1e3, limit)
    table.at_most("at most 40 widgets", opened["widgets"], 40)
    table.at_most("opened first, within 300 ms", opened["wall"] * 1e3, 300)
    for key in ("long", "large"):
        again = best[f"spinney, {names[key]}, after another"]
        table.at_most(f"{names[key]}: painted within 60 ms", again["wall"] * 1e3, 60)
    top = steps["jump to the oldest that is read"]
    table.at_most("jump to the oldest that is read: within 60 ms of CPU", top["cpu"] * 1e3, 60)
    return table


def _run(program: str, home: Path, *arguments: str) -> dict[str, Any]:
    result = home / "result.json"
    result.unlink(missing_ok=True)
    with terminal([str(_HERE / program), str(result), *arguments], home) as screen:
        screen.wait_for_end(180)
    if not result.exists():
        raise RuntimeError(f"{program} wrote no result; it ended with {screen.shown[-2000:]!r}")
    found: dict[str, Any] = json.loads(result.read_text())
    return found


def _keep(best: dict[str, dict[str, Any]], name: str, found: dict[str, Any]) -> None:
    if name not in best or found["wall"] < best[name]["wall"]:
        best[name] = found
