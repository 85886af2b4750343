"""The scripts of the repositories, which run until the test ends them, with success or failure."""

import json
from typing import Final, Literal

from tests.program import Program

Script = Literal["setup", "check"]
SCRIPTS: Final[tuple[Script, ...]] = ("setup", "check")


def make_configuration(program: Program, scripts: tuple[Script, ...]) -> str:
    """The content of a `spinney.json` with these scripts."""
    return json.dumps({"scripts": {script: _command(program, script) for script in scripts}})


def _command(program: Program, script: Script) -> str:
    """A command that runs while the first of two files exists, and fails if the second does."""
    runs, fails = program.place / f"{script}-runs", program.place / f"{script}-fails"
    return f"while test -e {runs}; do sleep 0.05; done; test ! -e {fails}"


def block_script(program: Program, script: Script) -> None:
    """Make the script run until `finish_script` is called."""
    (program.place / f"{script}-runs").touch()


def finish_script(program: Program, script: Script, *, succeeds: bool = True) -> None:
    """End the running script; from now on it succeeds or fails."""
    fails = program.place / f"{script}-fails"
    if succeeds:
        fails.unlink(missing_ok=True)
    else:
        fails.touch()
    (program.place / f"{script}-runs").unlink(missing_ok=True)
