"""Tests skipped for a missing program fail where all programs must be installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.program import ROOT

SUITE = """\
import pytest

def test_that_lacks_a_program():
    pytest.skip("needs a program that is not here")

def test_that_does_not_apply_here():
    pytest.skip("permissions do not bind root")
"""


@pytest.mark.parametrize(("asked", "outcome"), [("", "2 skipped"), ("1", "1 failed, 1 skipped")])
def test_a_skip_for_a_missing_program_fails_where_all_are_required(
    tmp_path: Path, asked: str, outcome: str
) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    environ = os.environ | {"PYTHONPATH": str(ROOT), "SPINNEY_TESTS_NEED_PROGRAMS": asked}
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.needs", "-p", "no:xdist", str(tmp_path)],
        cwd=tmp_path,
        env={k: v for k, v in environ.items() if not k.startswith("PYTEST_")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert outcome in ran.stdout.splitlines()[-1], ran.stdout
