"""`make stress`: repeat the suite on a busy machine to find flaky tests.

    make stress                                  ten rounds of every part of the short tier
    make stress TESTS=tests/tui/tree ROUNDS=200  a part, whole: a folder, a file or a test's id
    python -m tests.stress --tier longer tests   tests of the longer tier

Four spinning processes keep the processors busy, and `tests.delays` delays threads and the event
loop, differently in each round. Tests with generated examples try new ones in each round
(SPINNEY_NEW_EXAMPLES=1), while `make test` always tries the same ones. Each part runs in its own
pytest process, so that failures are printed early. The last lines list the failed tests and how
often each failed; the exit code is 1 if there are any.
"""

import argparse
import multiprocessing
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
MARKERS = {"short": "not longer", "longer": "longer", "all": ""}
PART_SECONDS = 3600
"""A part that takes longer is considered hung."""

PASSED = re.compile(r"^(?:.*, )?\d+ passed\b", re.MULTILINE)
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def spin() -> None:
    """Keep a processor busy until the process is terminated."""
    while True:
        pass


@contextmanager
def busy_machine(processes: int) -> Iterator[None]:
    """Run so many spinning processes until the block exits."""
    spinners = [multiprocessing.Process(target=spin, daemon=True) for _ in range(processes)]
    for spinner in spinners:
        spinner.start()
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.terminate()
            spinner.join()


def suite_parts() -> list[str]:
    """The folders of the suite, and the test files outside of them."""
    folders = [path.parent for path in TESTS.glob("*/test_*.py")]
    folders += [path.parent for path in TESTS.glob("*/*/test_*.py")]
    tops = {TESTS / folder.relative_to(TESTS).parts[0] for folder in folders}
    return [str(path) for path in sorted(tops)] + [str(p) for p in sorted(TESTS.glob("test_*.py"))]


def run_part(part: str, jobs: int, marker: str, number: int) -> list[str]:
    """Run one part in round `number` and return the names of the failed tests."""
    workers = "0" if "::" in part else str(jobs)
    command = [sys.executable, "-m", "pytest", part, "-q", "-n", workers, "-m", marker]
    try:
        code, output = _run([*command, "--dist", "loadfile", "-p", "tests.delays"], number)
    except subprocess.TimeoutExpired:
        return [f"{part}: not finished within {PART_SECONDS} s"]
    failed = FAILED.findall(output)
    if failed:
        print(output, flush=True)
    elif code == 0 and not PASSED.search(output):
        return [f"{part}: all tests were skipped"]
    elif code == pytest.ExitCode.NO_TESTS_COLLECTED and marker == MARKERS["all"]:
        return [f"{part}: has no tests"]
    elif code not in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
        return [f"{part}: pytest ended with {code}"]
    return failed


def _run(command: list[str], number: int) -> tuple[int, str]:
    """Return the exit code and the output of pytest; what interrupts this interrupts pytest."""
    switches = {
        "SPINNEY_NEW_EXAMPLES": "1",
        "SPINNEY_DELAYS": str(number),
        "SPINNEY_TESTS_REPEAT": "",  # Each failure counts.
    }
    environ = os.environ | switches
    with subprocess.Popen(
        command, cwd=TESTS.parent, env=environ, stdout=subprocess.PIPE, text=True
    ) as running:
        try:
            output, _ = running.communicate(timeout=PART_SECONDS)
        except BaseException:
            running.send_signal(signal.SIGINT)  # It ends what its tests started.
            try:
                running.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                running.kill()
            raise
    return running.returncode, output


def main() -> int:
    """Run the rounds; 1 if any test failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", help="folders, files or ids of tests (default: all)")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--load", type=int, default=4, help="spinning processes (default: 4)")
    parser.add_argument("--tier", choices=list(MARKERS), help="default: short; of parts, all")
    asked = parser.parse_args()
    if asked.rounds < 1:
        parser.error("at least one round")
    # Otherwise the spinning processes would go on for ever.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    marker = MARKERS[asked.tier or ("all" if asked.parts else "short")]
    failures: Counter[str] = Counter()
    with busy_machine(asked.load):
        for number in range(1, asked.rounds + 1):
            for part in asked.parts or suite_parts():
                failed = run_part(part, asked.jobs, marker, number)
                failures.update(failed)
                print(f"round {number}, {part}: {len(failed)} failed", flush=True)
    for name, times in failures.most_common():
        print(f"{times} of {asked.rounds}: {name}")
    print(f"{sum(failures.values())} failures in {asked.rounds} rounds")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
