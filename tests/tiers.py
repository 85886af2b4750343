"""What `make test` leaves to `make test-longer`: tests with the marker `longer`.

Some are given it by their path, below; the others in their files, as where one screen, theme or
pair of hands of several stays in the short tier.

Of a test with many cases alike, marked `few(3)`, three stay in the short tier.

The short tier is what a person waits for after a change. What drives the real agent programs,
builds packages, asks a served program what was just asked in process, or goes through lost lines,
hostile text and agents gone astray case by case is in the longer one.
"""

from collections import defaultdict
from pathlib import Path
from zlib import crc32

import pytest

from tests.together import longest_first

TESTS = Path(__file__).parent

LONGER = (
    "contract/test_fuzz.py",
    "contract/test_fuzz_bytes.py",
    "live",
    "model/backends/test_acp_life.py",
    "model/backends/test_acp_modes.py",
    "page/diff",
    "page/test_accessible.py",
    "page/test_alerts.py",
    "page/test_connection.py",
    "page/test_foreign_text.py",
    "page/test_hostile_page.py",
    "page/test_offline.py",
    "terminal/test_foreign_text.py",
    "terminal/test_slow_lines.py",
    "test_bench_runs.py",
    "test_documented_commands.py",
    "test_media.py",
    "test_outliving.py",
    "test_packaging.py",
    "tui/shell/test_agents_astray.py",
    "tui/shell/test_bounded.py",
)
"""Folders and files, from here. A test in them that is marked `short` stays in the short tier."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is of the longer tier; in one process of several, bring it in their order."""
    longer = {TESTS / place for place in LONGER}
    for item in items:
        is_below = not longer.isdisjoint((item.path, *item.path.parents))
        if is_below and not item.get_closest_marker("short"):
            item.add_marker(pytest.mark.longer)
    _leave_few(items)
    if hasattr(config, "workerinput"):
        longest_first(items)


def _leave_few(items: list[pytest.Item]) -> None:
    """Mark the cases that are more than their test's `few`: the same ones in each run."""
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("few") and not item.get_closest_marker("longer"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for alike in cases.values():
        few: pytest.Mark | None = alike[0].get_closest_marker("few")
        assert few is not None
        for item in sorted(alike, key=lambda item: crc32(item.name.encode()))[few.args[0] :]:
            item.add_marker(pytest.mark.longer)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how long the tests of each room took, summed over the processes that ran them."""
    seconds: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    for reports in terminalreporter.stats.values():
        for report in (one for one in reports if isinstance(one, pytest.TestReport)):
            room = room_of(report.nodeid)
            seconds[room] += report.duration
            counts[room] += report.when == "call"
    if sum(counts.values()) < 100:
        return  # Somebody runs a file or two.
    terminalreporter.section("minutes by room")
    for room in sorted(seconds, key=lambda name: -seconds[name]):
        terminalreporter.write_line(f"{seconds[room] / 60:6.1f}  {room} ({counts[room]} tests)")


def room_of(nodeid: str) -> str:
    """The folder under `tests/` that a test lies in; `tests` for those in none."""
    parts = nodeid.partition("::")[0].split("/")
    return parts[1] if len(parts) > 2 else parts[0]
