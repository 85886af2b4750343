"""Fails tests that are skipped for a missing program, where all programs must be installed.

A test that cannot run without a program skips with a reason that begins with "needs ". With
SPINNEY_TESTS_NEED_PROGRAMS=1, as in `.ci/run`, such a skip is a failure.
"""

import os
from collections.abc import Generator
from typing import Final

import pytest

_ARE_NEEDED: Final = os.environ.get("SPINNEY_TESTS_NEED_PROGRAMS") == "1"
"""Read once: a test may run in an environment of its own, and its report is made within it."""
_SKIPPED_FOR_A_PROGRAM: Final = "Skipped: needs "


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and _ARE_NEEDED:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        if reason.startswith(_SKIPPED_FOR_A_PROGRAM):
            report.outcome = "failed"
            report.longrepr = f"{reason}; all programs must be there (SPINNEY_TESTS_NEED_PROGRAMS)"
    return report
