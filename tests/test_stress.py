"""`make stress` counts each failure, refuses a part that never ran, and ends what it started."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.program import ROOT

ONCE = """\
from pathlib import Path

def test_once():
    ran = Path(__file__).with_suffix(".ran")
    is_first = not ran.exists()
    ran.touch()
    assert not is_first
"""
HANGS = """\
import time
from pathlib import Path

def test_hangs():
    Path(__file__).with_suffix(".ran").touch()
    time.sleep(600)
"""


@contextmanager
def rounds(place: Path, suite: str, number: int = 1) -> Iterator["subprocess.Popen[str]"]:
    """Rounds of a file's tests, in a process group of their own."""
    part = place / "test_part.py"
    part.write_text(suite)
    options = f"--rounds {number} --jobs 1 --load 1".split()
    running = subprocess.Popen(
        [sys.executable, "-m", "tests.stress", *options, str(part)],
        cwd=ROOT,
        env=os.environ | {"SPINNEY_TESTS_REPEAT": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    with running:
        try:
            yield running
        finally:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)


def find_group(leader: int) -> set[int]:
    """The pids of a process group that run; a zombie does not."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, _, group = (process / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(group) == leader and state not in ("Z", "X"):
                found.add(int(process.name))
    return found


@pytest.mark.parametrize(
    ("suite", "said"),
    [
        (ONCE, "test_part.py::test_once\n1 failures in 2 rounds"),
        ("import pytest\ndef test_skipped(): pytest.skip('needs a program')", "were skipped"),
        ("", "has no tests"),
    ],
)
def test_one_failure_or_a_part_that_never_ran_refuses(
    tmp_path: Path, suite: str, said: str
) -> None:
    with rounds(tmp_path, suite, 2) as running:
        output, _ = running.communicate(timeout=200)
    assert running.returncode == 1, output
    assert said in output


def test_rounds_in_which_all_passed_are_a_proof(tmp_path: Path) -> None:
    with rounds(tmp_path, "def test_passes(): pass") as running:
        output, _ = running.communicate(timeout=200)
    assert running.returncode == 0 and "0 failures in 1 rounds" in output, output


@pytest.mark.parametrize(
    ("send", "how"),
    [
        (os.kill, signal.SIGTERM),
        (os.kill, signal.SIGINT),
        (os.killpg, signal.SIGINT),  # As a terminal does.
    ],
)
def test_what_it_started_ends_with_it(
    tmp_path: Path, send: Callable[[int, int], None], how: signal.Signals
) -> None:
    with rounds(tmp_path, HANGS) as running:
        end = time.monotonic() + PATIENCE
        while not (tmp_path / "test_part.ran").exists():
            assert time.monotonic() < end
            time.sleep(0.05)
        send(running.pid, how)
        running.communicate(timeout=100)
        assert running.returncode != 0
        end = time.monotonic() + PATIENCE
        while left := find_group(running.pid):
            assert time.monotonic() < end, left
            time.sleep(0.05)
