"""Which tests `make test` leaves to the longer tier."""

import os
import subprocess
import sys
from pathlib import Path

from tests.program import ROOT
from tests.tiers import STARTS

SUITE = f"""\
import pytest

@pytest.fixture
def start():
    pass

@pytest.mark.parametrize("n", range(3))
def test_cases(start, n):
    pass

@pytest.mark.short
@pytest.mark.parametrize("n", range(2))
def test_kept(start, n):
    pass

for number in range({STARTS["start"] + 2}):
    exec(f"def test_started_{{number}}(start): pass")

@pytest.mark.few(1)
@pytest.mark.parametrize("n", range(3))
def test_few(n):
    pass

def test_of_a_function():
    pass
"""


def test_of_tests_that_start_something_the_first_few_are_short_with_one_case(
    tmp_path: Path,
) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    options = ["-p", "tests.tiers", "-p", "no:xdist", "-m", "not longer", "--collect-only", "-q"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    found = [line.partition("::")[2] for line in ran.stdout.splitlines() if "::" in line]
    few = [name for name in found if name.startswith("test_few")]
    assert len(few) == 1
    assert [name for name in found if name not in few] == [
        "test_cases[0]",
        "test_kept[0]",
        "test_kept[1]",
        *(f"test_started_{number}" for number in range(STARTS["start"] - 1)),
        "test_of_a_function",
    ], ran.stdout + ran.stderr
