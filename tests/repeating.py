"""Repeats a test that failed in a whole tier, alone, so that chance neither refuses nor hides.

A run of thousands of tests on a busy machine has a chance failure now and then. With
SPINNEY_TESTS_REPEAT=1, as `make test` sets it for a whole tier, a failed test runs again after all
others, in a new process, up to twice. One that passes there is *yellow*: it does not make the run
red, but the closing lines name it, how it failed and under which circumstances, and what it left is
kept in `.tools/failures`. One that fails again stays red. If a fixture failed, which other tests
may have spoiled, the whole file is repeated.

Never repeated are tests of what must not be lost, decided or shown by chance, tests with generated
examples, and tests that the change itself touches or adds: red is red there. At most two tests of a
run may be yellow, besides those in `flaky.toml`.
"""

import inspect
import os
import re
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from tests.artefacts import describe_output, keep_artefacts
from tests.changes import read_touched_lines
from tests.flaky import FlakyTests, read_flaky_tests

_SWITCH: Final = "SPINNEY_TESTS_REPEAT"
_IS_ON: Final = os.environ.get(_SWITCH) == "1"
"""Read once: a test may run in an environment of its own, and its report is made within it."""
_SEEDS: Final = {
    what: value
    for what, name in (
        ("delays", "SPINNEY_DELAYS"),
        ("order", "SPINNEY_TESTS_ORDER"),
        ("new examples", "SPINNEY_NEW_EXAMPLES"),
    )
    if (value := os.environ.get(name))
}
_MOST: Final = 2
_TRIES: Final = 2
_ONE_PASSED: Final = re.compile(rb"^1 passed(?:, \d+ warnings?)? in ", re.MULTILINE)
_SOME_PASSED: Final = re.compile(rb"^\d+ passed\b", re.MULTILINE)
_TRY_SECONDS: Final = 300.0
_MOST_LINES: Final = 20
_MOST_OUTPUT: Final = 4_000

_STRICT: Final = re.compile(
    r"journey|surviv|outliv|decid|decision|approv|question|asked|polic|permission"
    r"|typed|type_ahead|draft|composer|queue|landing|land_|undo|redo|recover|restor"
    r"|secret|mask|guest|grant|access"
)
"""Names of files and tests that are never repeated."""

_CIRCUMSTANCES: Final = "circumstances"
_YELLOW: Final = "passed when repeated"
_VERDICT: Final = pytest.StashKey["Verdict"]()
_recent: Final[deque[str]] = deque(maxlen=5)
"""The tests that ran last in this process."""


@dataclass
class Verdict:
    """Which of the failed tests passed when repeated, and why the others are red."""

    yellow: list[str] = field(default_factory=list)
    red: dict[str, str] = field(default_factory=dict)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """Note in the report of a failure its circumstances, and whether it may be repeated."""
    report: pytest.TestReport = yield
    if report.failed and _IS_ON:
        circumstances = {
            "why_not": _why_not(item),
            "load": f"{os.getloadavg()[0]:.1f}",
            "seeds": " ".join(f"{what} {value}" for what, value in _SEEDS.items()) or "none",
            "before": ", ".join(_recent) or "none",
            "kept": keep_artefacts(item, report),
        }
        report.user_properties.append((_CIRCUMSTANCES, circumstances))
    if report.when == "teardown":
        _recent.append(item.nodeid)
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Repeat what failed, once everything else has ended; not in a worker."""
    config = session.config
    if not _IS_ON or hasattr(config, "workerinput"):
        return
    flaky = _read_flaky(config)
    # With `-x`, what did not run could have failed as well.
    was_stopped = session.shouldfail or session.shouldstop
    if session.exitstatus == pytest.ExitCode.TESTS_FAILED and not was_stopped:
        stats = config.pluginmanager.get_plugin("terminalreporter").stats
        failures = [*stats.get("failed", []), *stats.get("error", [])]
        around = {failure.nodeid for failure in failures if _is_around(failure)}
        verdict = judge(
            _find_reasons(failures),
            flaky.kinds,
            lambda name: passes_alone(name, config.rootpath, with_its_file=name in around),
        )
        config.stash[_VERDICT] = verdict
        _move_yellow(stats, verdict)
        if verdict.yellow and not verdict.red:
            session.exitstatus = pytest.ExitCode.OK
    if flaky.problems and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def judge(
    reasons: Mapping[str, str], listed: Collection[str], passes_alone: Callable[[str], bool]
) -> Verdict:
    """Repeat failed tests, given why each may not be; an empty reason says that it may.

    If more tests failed than may be yellow, the run is red however often they are repeated.
    """
    verdict = Verdict()
    counted = [name for name, reason in reasons.items() if not reason and name not in listed]
    for name, reason in reasons.items():
        if reason:
            verdict.red[name] = f"never repeated: {reason}"
        elif name in counted and len(counted) > _MOST:
            verdict.red[name] = f"not repeated: more than {_MOST} failed"
        elif passes_alone(name):
            verdict.yellow.append(name)
        else:
            verdict.red[name] = "did not pass when repeated alone"
    return verdict


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name each test that passed when repeated, with its failure, and why the others are red."""
    config = terminalreporter.config
    if not _IS_ON:
        return
    flaky = _read_flaky(config)
    verdict = config.stash.get(_VERDICT, Verdict())
    lines = [f"RED flaky.toml: {problem}" for problem in flaky.problems]
    lines += [f"RED {name}: {why}" for name, why in list(verdict.red.items())[:_MOST_LINES]]
    if len(verdict.red) > _MOST_LINES:
        lines.append(f"RED {len(verdict.red) - _MOST_LINES} more")
    yellow = terminalreporter.stats.get(_YELLOW, [])
    if yellow:
        terminalreporter.section(f"{_YELLOW} alone")
        lines += [line for report in yellow for line in _describe(report, flaky)]
    for report in yellow:
        terminalreporter.write_line(describe_output(report, _MOST_OUTPUT))
    for line in lines:
        terminalreporter.write_line(line)


def _describe(report: pytest.TestReport, flaky: FlakyTests) -> list[str]:
    found = dict(report.user_properties)[_CIRCUMSTANCES]
    assert isinstance(found, dict)
    worker = getattr(report, "worker_id", "the only process")
    kind = flaky.kinds.get(report.nodeid)
    listed = f"; in flaky.toml: {kind}" if kind else ""
    return [
        f"REPEATED {report.nodeid} ({report.when}, {worker}; load {found['load']};"
        f" seeds: {found['seeds']}{listed})",
        f"    before it: {found['before']}",
        f"    kept: {found['kept']}",
    ]


def _read_flaky(config: pytest.Config) -> FlakyTests:
    return read_flaky_tests(config.rootpath / "tests/flaky.toml", datetime.now(UTC).date())


def _find_reasons(failures: list[Any]) -> dict[str, str]:
    """Return for each failed test why it is never repeated; empty if it may be."""
    reasons: dict[str, str] = {}
    for failure in failures:
        # A test that ended its worker, and a file that cannot be imported, have no such property.
        found = dict(getattr(failure, "user_properties", ())).get(_CIRCUMSTANCES, {})
        reason = found.get("why_not", "it did not end")
        reasons[failure.nodeid] = reasons.get(failure.nodeid) or reason
    return reasons


def _move_yellow(stats: dict[str, list[Any]], verdict: Verdict) -> None:
    for outcome in ("failed", "error"):
        reports = stats.pop(outcome, [])
        yellow = [report for report in reports if report.nodeid in verdict.yellow]
        red = [report for report in reports if report.nodeid not in verdict.yellow]
        if yellow:
            stats.setdefault(_YELLOW, []).extend(yellow)
        if red:
            stats[outcome] = red


def _is_around(failure: Any) -> bool:
    """Whether it failed in a fixture, which the other tests of its file may share or spoil."""
    return getattr(failure, "when", "call") != "call"


def passes_alone(name: str, root: Path, *, with_its_file: bool = False) -> bool:
    """Repeat a test, or its file, in new processes; whether it passed once."""
    part, passed = name, _ONE_PASSED
    if with_its_file:
        part, passed = name.partition("::")[0], _SOME_PASSED
    environ = os.environ | {_SWITCH: "", "PYTEST_ADDOPTS": ""}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    for _ in range(_TRIES):
        try:
            done = subprocess.run(
                [*command, part],
                cwd=root,
                env=environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TRY_SECONDS,
            )
        except subprocess.TimeoutExpired:
            continue
        # One that is skipped, or fails as expected, has not passed.
        if done.returncode == pytest.ExitCode.OK and passed.search(done.stdout):
            return True
    return False


def _why_not(item: pytest.Item) -> str:
    """Return why a test is never repeated; empty if it may be."""
    if _STRICT.search(item.nodeid):
        return "tests of its kind are never repeated"
    function = getattr(item, "obj", None)
    if getattr(function, "is_hypothesis_test", False):
        return "tests with generated examples are never repeated"
    first = item.location[1] or 0
    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
    last = max((line for *_, line in code.co_lines() if line), default=first) if code else first
    touched = read_touched_lines(item.path)
    if touched is None or any(first < line <= last for line in touched):
        return "the change touches it" if touched else "what the change touches is not known"
    return ""
