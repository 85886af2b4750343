"""Repeats a test that failed in a whole tier, alone, so that chance neither refuses nor hides.

A run of thousands of tests on a busy machine has a chance failure now and then. With
SPINNEY_TESTS_REPEAT=1, as `make test` sets it for a whole tier, a failed test runs again after all
others, in a new process, up to twice. If it passes there, the run is not red, but the closing lines
name the test and show how it failed.

Never repeated are tests of what must not be lost, decided or shown by chance, tests with generated
examples, and tests that the change itself touches or adds: red is red there. Nor is anything
repeated if more than `_MOST` tests failed.
"""

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

_ROOT: Final = Path(__file__).resolve().parents[1]
_SWITCH: Final = "SPINNEY_TESTS_REPEAT"
_IS_ON: Final = os.environ.get(_SWITCH) == "1"
"""Read once: a test may run in an environment of its own, and its report is made within it."""
_MOST: Final = 2
_TRIES: Final = 2
_TRY_SECONDS: Final = 300.0

_STRICT: Final = re.compile(
    r"journey|surviv|decid|decision|typed|type_ahead|draft|landing|land_|undo|redo|recover|restor"
    r"|secret|guest"
)
"""Names of files and tests that are never repeated."""

_PROPERTY: Final = "why_not_repeated"
_PASSED: Final = "passed when repeated"
_REASON: Final = pytest.StashKey[str]()
_HUNK: Final = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """Note in the report of a failure whether the test may be repeated."""
    report: pytest.TestReport = yield
    if report.failed and _IS_ON:
        report.user_properties.append((_PROPERTY, _why_not(item)))
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Repeat what failed, once everything else has ended; not in a worker."""
    config = session.config
    if not _IS_ON or hasattr(config, "workerinput"):
        return
    if session.exitstatus != pytest.ExitCode.TESTS_FAILED:
        return
    stats = config.pluginmanager.get_plugin("terminalreporter").stats
    failures = [*stats.get("failed", []), *stats.get("error", [])]
    names = list(dict.fromkeys(failure.nodeid for failure in failures))
    reason = _find_reason(failures, names)
    if reason:
        config.stash[_REASON] = reason
        return
    if all(_passes_alone(name, config.rootpath) for name in names):
        stats[_PASSED] = failures
        stats.pop("failed", None)
        stats.pop("error", None)
        session.exitstatus = pytest.ExitCode.OK


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that passed when repeated, each with its failure."""
    if reason := terminalreporter.config.stash.get(_REASON, ""):
        terminalreporter.write_line(f"No test was repeated: {reason}.")
    repeated = terminalreporter.stats.get(_PASSED, [])
    if not repeated:
        return
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    terminalreporter.section(f"{_PASSED} alone; load {load}")
    for report in repeated:
        worker = getattr(report, "worker_id", "the only process")
        terminalreporter.write_line(report.longreprtext)
        terminalreporter.write_line(f"REPEATED {report.nodeid} ({report.when}, {worker})")


def _find_reason(failures: list[Any], names: list[str]) -> str:
    """Return why nothing is repeated; empty if everything may be."""
    if len(names) > _MOST:
        return f"more than {_MOST} failed"
    for failure in failures:
        # A test that ended its worker has no such property.
        reason = dict(getattr(failure, "user_properties", ())).get(_PROPERTY, "it did not end")
        if reason:
            return f"{failure.nodeid}: {reason}"
    return ""


def _passes_alone(name: str, root: Path) -> bool:
    environ = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    for _ in range(_TRIES):
        try:
            done = subprocess.run(
                [*command, name],
                cwd=root,
                env=environ | {_SWITCH: ""},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TRY_SECONDS,
            )
        except subprocess.TimeoutExpired:
            continue
        if done.returncode == pytest.ExitCode.OK:
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
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    last = max((line for *_, line in code.co_lines() if line), default=first) if code else first
    touched = _read_touched_lines(item.path)
    if touched is None or any(first < line <= last for line in touched):
        return "the change touches it" if touched else "what the change touches is not known"
    return ""


@cache
def _read_touched_lines(file: Path) -> set[int] | None:
    """Return the lines of a file that the change touches; `None` if git does not know the change.

    The change is what is not in `origin/main`, or, where everything is, what was committed in the
    last day before HEAD: tests that are new have to be trustworthy first.
    """
    base = _find_base(file.parent)
    if base is None:
        return None
    difference = _git(file.parent, "diff", "--unified=0", "--no-ext-diff", base, "--", str(file))
    if difference is None or not _git(file.parent, "ls-files", "--", str(file)):
        return None
    return {
        line
        for start, lines in _HUNK.findall(difference)
        for line in range(int(start), int(start) + int(lines or 1))
    }


@cache
def _find_base(folder: Path) -> str | None:
    shared = _git(folder, "merge-base", "HEAD", "origin/main")
    if shared and shared != _git(folder, "rev-parse", "HEAD"):
        return shared
    committed = _git(folder, "log", "-1", "--format=%ct", "HEAD")
    if not committed:
        return None
    before = f"--before={int(committed) - 86_400}"
    return _git(folder, "rev-list", "-1", before, "HEAD") or None


def _git(folder: Path, *arguments: str) -> str | None:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None
