"""A repository whose setup script lasts as long as a journey wants it to."""

import json
from typing import Final

from tests.program import Program

_RUNS: Final = "setup-runs"
_FAILS: Final = "setup-fails"
"""Files by which the script is told how long it lasts, and how it ends."""


def configuration(program: Program) -> str:
    """What the repository's file says of it."""
    runs, fails = program.place / _RUNS, program.place / _FAILS
    script = f"while test -e {runs}; do sleep 0.05; done; test ! -e {fails}"
    return json.dumps({"scripts": {"setup": script}})


def hold(program: Program) -> None:
    """Let the setup of the next worktree go on."""
    (program.place / _RUNS).touch()


def let_go(program: Program, *, well: bool = True) -> None:
    """Let it end."""
    fails = program.place / _FAILS
    if well:
        fails.unlink(missing_ok=True)
    else:
        fails.touch()
    (program.place / _RUNS).unlink(missing_ok=True)
