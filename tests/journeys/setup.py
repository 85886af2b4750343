"""A setup script that runs until the test ends it, with success or failure."""

import json
from typing import Final

from tests.program import Program

_RUNS: Final = "setup-runs"
_FAILS: Final = "setup-fails"
"""Files that control the script: it runs while the first exists, and fails if the second does."""


def make_configuration(program: Program) -> str:
    """The content of a `spinney.json` with that script."""
    runs, fails = program.place / _RUNS, program.place / _FAILS
    script = f"while test -e {runs}; do sleep 0.05; done; test ! -e {fails}"
    return json.dumps({"scripts": {"setup": script}})


def block_setup(program: Program) -> None:
    """Make the setup of the next worktree run until `finish_setup` is called."""
    (program.place / _RUNS).touch()


def finish_setup(program: Program, *, succeeds: bool = True) -> None:
    """End the running setup script."""
    fails = program.place / _FAILS
    if succeeds:
        fails.unlink(missing_ok=True)
    else:
        fails.touch()
    (program.place / _RUNS).unlink(missing_ok=True)
