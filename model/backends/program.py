"""An agent's program on this machine: where it is, which version, and what to do where it is
missing, broken or too old.
"""

import asyncio
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.backends.base import Probe
from model.backends.process import ExitCode, agent_environment, output_of
from model.base.errors import SpinneyError

PATIENCE: Final = 9.0
"""Seconds for one of the commands of a probe."""

Answer = tuple[ExitCode, str]
"""Exit code and output of a short command, as `output_of` tells them."""

_VERSION: Final = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,9}")


@dataclass(frozen=True, slots=True)
class Program:
    """A program that people install themselves, and the commands that mend it."""

    label: str
    command: str
    install: str
    update: str
    oldest: tuple[int, int, int]
    """The oldest version that its adapter was tried with."""

    async def find(self, path: str | None) -> str:
        """Where it is on the search path. Raises `backend_unavailable` when it is nowhere."""
        program = await asyncio.to_thread(_which, self.command, path)
        if program is None:
            text = f"{self.label} is not installed. Install it with: {self.install}"
            raise SpinneyError(text, "backend_unavailable")
        return program

    def files(self) -> list[Path]:
        """The program's file, whose change is another version; none where it is nowhere."""
        program = _which(self.command, None)
        return [Path(program).resolve()] if program else []

    async def look(
        self, *questions: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> tuple[Probe, list[Answer]]:
        """What is found, with a `problem` where it cannot be driven; takes at most 10 seconds.

        The answers are those to `questions`, the words of its own commands; where there is a
        problem there may be none.
        """
        try:
            program = await self.find(None)
        except SpinneyError as error:
            return Probe(None, problem=error.message, fix=self.install), []
        variables = agent_environment(environment or {})
        (code, told), *answers = await asyncio.gather(
            *(
                output_of([program, *words], Path(os.sep), variables, PATIENCE)
                for words in (["--version"], *questions)
            )
        )
        return self._judged(program, code, told), answers

    def _judged(self, program: str, code: ExitCode, told: str) -> Probe:
        if code == "at work":
            return Probe(program)  # which is no fault of it
        if code is None:
            text = hangs(self.label, self.command, PATIENCE)
            return Probe(program, problem=text)
        found = _VERSION.search(told)
        if code != 0 or found is None:
            text = f"{program} does not run. Install it again: {self.install}"
            return Probe(program, problem=text, fix=self.install)
        version = found[0]
        if self.drives(version):
            return Probe(program, version, supported=True)
        return Probe(
            program, version, problem=self.too_old(version), fix=self.update, supported=False
        )

    def drives(self, version: str) -> bool:
        """Whether this version is not too old; one that is not known yet is taken to work."""
        found = _VERSION.search(version)
        return found is None or tuple(map(int, found[0].split("."))) >= self.oldest

    def too_old(self, version: str = "") -> str:
        """The sentence about a version that is not driven."""
        oldest = ".".join(map(str, self.oldest))
        return (
            f"{f'{self.label} {version}'.strip()} is older than {oldest} and does not work with"
            f" Spinney. Run: {self.update}"
        )


def hangs(label: str, command: str, patience: float) -> str:
    """The sentence about a program that says nothing in that many seconds."""
    return (
        f"{label} did not say its version within {patience:g} seconds."
        f" Look whether this ends: {command} --version"
    )


def _which(command: str, path: str | None) -> str | None:
    program = shutil.which(command, path=path)
    # It is started elsewhere, where a relative path would mean something else.
    return str(Path(program).absolute()) if program else None
