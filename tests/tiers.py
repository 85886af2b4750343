"""The suite's two tiers: `make test-longer` runs tests marked `longer`, `make test` the others.

The short tier is what a developer waits for after a change. The longer tier drives the real agent
programs, builds packages, repeats against a server process what the short tier checks in process,
and covers lost connections, hostile text and misbehaving agents case by case.

Files and folders in `LONGER` are marked here; single tests are marked in their files. Of a test
with many similar cases that is marked `few(3)`, three stay in the short tier. Of the tests of a
file that start what is in `STARTS`, the first few do.
"""

import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Final
from zlib import crc32

import pytest

from tests.together import longest_first

TESTS = Path(__file__).parent

LONGER = (
    "contract/test_fuzz.py",
    "contract/test_fuzz_bytes.py",
    "contract/test_limits.py",
    "contract/test_server_settings.py",
    "contract/test_versioning.py",
    "live",
    "model/backends/test_acp_life.py",
    "model/backends/test_acp_modes.py",
    "model/turns/test_two_clients.py",
    "page",
    "terminal",
    "test_bench_runs.py",
    "test_doctor_and_faults.py",
    "test_documented_commands.py",
    "test_example.py",
    "test_hang_up.py",
    "test_land_command.py",
    "test_landing_survival.py",
    "test_leaks.py",
    "test_makefile.py",
    "test_media.py",
    "test_needs.py",
    "test_night_away.py",
    "test_outliving.py",
    "test_packaging.py",
    "test_recovery_survival.py",
    "test_repeating.py",
    "test_restart.py",
    "test_selection.py",
    "test_stress.py",
    "test_survival.py",
    "test_terminal_ends.py",
    "test_tiers.py",
    "test_undo_command.py",
    "test_verbs.py",
    "test_why_and_conflicts.py",
    "tui/composer/test_agent_commands.py",
    "tui/diff/test_diff_comments.py",
    "tui/screens/test_full_screens.py",
    "tui/screens/test_safe_choice.py",
    "tui/screens/test_server_screen.py",
    "tui/shell/test_agents_astray.py",
    "tui/shell/test_bounded.py",
    "tui/shell/test_changed_outside.py",
    "tui/shell/test_coming_back.py",
    "tui/shell/test_repeated_keys.py",
    "tui/shell/test_signals.py",
    "tui/shell/test_slow_creation.py",
)
"""Files and folders, relative to tests/. A test in them that is marked `short` stays short."""

STARTS = {
    "start": 2,  # the terminal's application
    "shown": 1,  # the same, on one screen
    "target": 2,  # the commands of the contract
    "workspace": 2,
    "templates": 2,  # repositories
    "spinney": 1,  # a process
    "served": 2,  # the command line on one
    "open_demo": 6,  # the demo agent
    "open_small": 2,  # an ACP agent
}
"""Fixtures that start or make what costs as much as fifty tests of a function, and for how many
tests of a file. Each of these counts with one case; one that is marked `short` stays short."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the longer tier; in an xdist worker, also sort the tests."""
    _cpu_before[0] = sum(os.times()[:4])
    longer = {TESTS / place for place in LONGER}
    for item in items:
        is_below = not longer.isdisjoint((item.path, *item.path.parents))
        if is_below and not item.get_closest_marker("short"):
            item.add_marker(pytest.mark.longer)
    _leave_few(items)
    _leave_first(items)
    if hasattr(config, "workerinput"):
        longest_first(items)


def _leave_few(items: list[pytest.Item]) -> None:
    """Mark the cases in excess of `few`; the same ones in each run."""
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("few") and not item.get_closest_marker("longer"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for alike in cases.values():
        few: pytest.Mark | None = alike[0].get_closest_marker("few")
        assert few is not None
        for item in sorted(alike, key=lambda item: crc32(item.name.encode()))[few.args[0] :]:
            item.add_marker(pytest.mark.longer)


def _leave_first(items: list[pytest.Item]) -> None:
    """Mark the tests of each file that start something, but for the first few."""
    started: dict[Path, set[str]] = defaultdict(set)
    for item in items:
        if item.get_closest_marker("longer") or item.get_closest_marker("short"):
            continue
        allowed = [STARTS[name] for name in getattr(item, "fixturenames", ()) if name in STARTS]
        if not allowed:
            continue
        test = item.nodeid.partition("[")[0]
        first = started[item.path]
        if test in first or len(first) >= min(allowed):
            item.add_marker(pytest.mark.longer)
        first.add(test)


_CPU: Final = "cpu seconds"
_cpu_before: list[float] = [0.0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the processor time since the last report, that of ended child processes included."""
    report = yield
    now = sum(os.times()[:4])
    report.user_properties.append((_CPU, now - _cpu_before[0]))
    _cpu_before[0] = now
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the processor time and the duration of each folder's tests, over all processes."""
    costs: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    counts: dict[str, int] = defaultdict(int)
    for reports in terminalreporter.stats.values():
        for report in (one for one in reports if isinstance(one, pytest.TestReport)):
            folder = folder_of(report.nodeid)
            costs[folder][0] += dict(report.user_properties).get(_CPU, 0.0)
            costs[folder][1] += report.duration
            counts[folder] += report.when == "call"
    if sum(counts.values()) < 100:
        return  # a few files only
    terminalreporter.section("CPU seconds and minutes by folder")
    for folder in sorted(costs, key=lambda name: -costs[name][0]):
        seconds, duration = costs[folder]
        terminalreporter.write_line(
            f"{seconds:7.0f} {duration / 60:6.1f}  {folder} ({counts[folder]} tests)"
        )


def folder_of(nodeid: str) -> str:
    """The folder below `tests/` that contains a test; `tests` for those in none."""
    parts = nodeid.partition("::")[0].split("/")
    return parts[1] if len(parts) > 2 else parts[0]
