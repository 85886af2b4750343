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
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TESTS = Path(__file__).parent
SPINNERS = 4
MARKERS = {"short": "not longer", "longer": "longer", "all": ""}
PART_SECONDS = 3600
"""A part that takes longer is considered hung."""

FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def spin() -> None:
    """Keep a processor busy until the process is terminated."""
    while True:
        pass


@contextmanager
def busy_machine() -> Iterator[None]:
    """Run spinning processes until the block exits."""
    spinners = [multiprocessing.Process(target=spin, daemon=True) for _ in range(SPINNERS)]
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
        done = subprocess.run(
            [*command, "--dist", "loadfile", "-p", "tests.delays"],
            cwd=TESTS.parent,
            env={**os.environ, "SPINNEY_NEW_EXAMPLES": "1", "SPINNEY_DELAYS": str(number)},
            stdout=subprocess.PIPE,
            text=True,
            timeout=PART_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return [f"{part}: not finished within {PART_SECONDS} s"]
    failed = FAILED.findall(done.stdout)
    if failed:
        print(done.stdout, flush=True)
    if not failed and done.returncode not in (0, 5):  # 5: no test of this part is in the tier
        return [f"{part}: pytest ended with {done.returncode}"]
    return failed


def main() -> int:
    """Run the rounds; 1 if any test failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", help="folders, files or ids of tests (default: all)")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--tier", choices=list(MARKERS), help="default: short; of parts, all")
    asked = parser.parse_args()
    marker = MARKERS[asked.tier or ("all" if asked.parts else "short")]
    failures: Counter[str] = Counter()
    with busy_machine():
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
