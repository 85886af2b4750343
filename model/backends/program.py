"""An agent's program on this machine: its path, its version, and what to do if it is missing,
broken, too old or too new.
"""

import asyncio
import os
import re
import shutil
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from model.backends.base import Probe
from model.backends.process import AgentProcess, build_agent_environment
from model.base.errors import SpinneyError

COMMAND_TIMEOUT: Final = 9.0
"""Seconds for each command of a probe."""

ExitCode = int | None | Literal["busy"]
"""Exit code of a short command: `None` if it hangs, `busy` if it is still working, such as the
first start of a program on a busy machine."""

CommandResult = tuple[ExitCode, str]
"""Exit code and output of a short command, as returned by `run_command`."""

_VERSION_OPTION: Final = ("--version",)
_VERSION: Final = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,9}")


@dataclass(frozen=True, slots=True)
class AgentProgram:
    """A program that users install themselves, and the commands to install and update it."""

    label: str
    command: str
    install: str
    update: str
    min_version: tuple[int, int, int]
    """The oldest version that its adapter was tested with."""
    end_version: tuple[int, int, int] | None = None
    """The first newer version that is known not to work: only asked for its version, never started.
    `install` and `update` lead to an earlier one."""

    async def find(self, path: str | None) -> str:
        """Find it on the search path. Raises `backend_unavailable` if it is not there."""
        program = await asyncio.to_thread(_which, self.command, path)
        if program is None:
            text = f"{self.label} is not installed. Install it with: {self.install}"
            raise SpinneyError(text, "backend_unavailable")
        return program

    async def find_supported(self, path: str | None) -> str:
        """Find it on the search path. Raises `backend_unavailable` also if its version is known not
        to work.
        """
        program = await self.find(path)
        version = await _read_version(program)
        if not self.supports(version):
            raise SpinneyError(self.unsupported_message(version), "backend_unavailable")
        return program

    def list_files(self) -> list[Path]:
        """The program's file, which changes with its version; empty if it is not installed."""
        program = _which(self.command, None)
        return [Path(program).resolve()] if program else []

    async def probe(
        self, *commands: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> tuple[Probe, list[CommandResult]]:
        """Probe the program, with a `problem` if it cannot be used; takes at most 10 seconds.

        Also returns the results of `commands`, argument lists for the program; if there is a
        problem there may be none.
        """
        try:
            program = await self.find(None)
        except SpinneyError as error:
            return Probe(None, problem=error.message, fix=self.install), []
        variables = build_agent_environment(environment or {})

        def run(arguments: Sequence[str], timeout: float) -> Awaitable[CommandResult]:
            return run_command([program, *arguments], Path(os.sep), variables, timeout)

        if self.end_version is None:
            (code, output), *results = await asyncio.gather(
                *(run(arguments, COMMAND_TIMEOUT) for arguments in (_VERSION_OPTION, *commands))
            )
            return self._evaluate(program, code, output), results
        begun = time.monotonic()
        code, output = await run(_VERSION_OPTION, COMMAND_TIMEOUT)
        probe = self._evaluate(program, code, output)
        if probe.problem is not None:
            return probe, []
        if code == "busy":
            return probe, [("busy", "")] * len(commands)
        left = max(1.0, COMMAND_TIMEOUT - (time.monotonic() - begun))
        return probe, await asyncio.gather(*(run(arguments, left) for arguments in commands))

    def _evaluate(self, program: str, code: ExitCode, output: str) -> Probe:
        if code == "busy":
            return Probe(program)  # a slow machine is not a problem of the program
        if code is None:
            text = timeout_message(self.label, self.command, COMMAND_TIMEOUT)
            return Probe(program, problem=text)
        found = _VERSION.search(output)
        if code != 0 or found is None:
            text = f"{program} does not run. Install it again: {self.install}"
            return Probe(program, problem=text, fix=self.install)
        version = found[0]
        if self.supports(version):
            return Probe(program, version, supported=True)
        return Probe(
            program,
            version,
            problem=self.unsupported_message(version),
            fix=self.install if self._is_too_new(version) else self.update,
            supported=False,
        )

    def supports(self, version: str) -> bool:
        """Whether this version is known to work; an unreadable version is assumed to."""
        numbers = _parse_version(version)
        return numbers is None or (numbers >= self.min_version and not self._is_too_new(version))

    def _is_too_new(self, version: str) -> bool:
        numbers = _parse_version(version)
        return numbers is not None and self.end_version is not None and numbers >= self.end_version

    def unsupported_message(self, version: str) -> str:
        """The error message for a version that does not work."""
        if not self._is_too_new(version):
            return self.outdated_message(version)
        return (
            f"{self.label} {version} does not work with Spinney yet, only earlier versions do."
            f" Install one with: {self.install}"
        )

    def outdated_message(self, version: str = "") -> str:
        """The error message for a version that is too old."""
        oldest = ".".join(map(str, self.min_version))
        return (
            f"{f'{self.label} {version}'.strip()} is older than {oldest} and does not work with"
            f" Spinney. Run: {self.update}"
        )


def _parse_version(text: str) -> tuple[int, ...] | None:
    found = _VERSION.search(text)
    return None if found is None else tuple(map(int, found[0].split(".")))


_versions: Final[dict[tuple[str, int, int], str]] = {}
"""The versions of programs, by path, time and size of their files."""


def _identify(program: str) -> tuple[str, int, int]:
    file = Path(program).resolve()
    state = file.stat()
    return str(file), state.st_mtime_ns, state.st_size


async def _read_version(program: str) -> str:
    """The version that a program prints; empty if it prints none in time."""
    key = await asyncio.to_thread(_identify, program)
    if key not in _versions:
        argv, variables = [program, *_VERSION_OPTION], build_agent_environment({})
        code, output = await run_command(argv, Path(os.sep), variables, COMMAND_TIMEOUT)
        found = _VERSION.search(output) if code == 0 else None
        if found is None:
            return ""
        _versions[key] = found[0]
    return _versions[key]


async def run_command(
    argv: Sequence[str], cwd: Path, environment: Mapping[str, str], timeout: float
) -> tuple[ExitCode, str]:
    """Run a short command; return its exit code and stdout, or stderr if it fails without stdout.

    A command that cannot be started gives exit code 1. No process is left behind.
    """
    try:
        process = await AgentProcess.start(argv, cwd, environment)
    except SpinneyError:
        return 1, ""
    try:
        async with asyncio.timeout(timeout):
            output = await process.read_output()
            await process.wait()
    except TimeoutError:
        return ("busy" if await process.is_busy() else None), ""
    else:
        if process.returncode and not output:
            await process.wait_settled()
            output = process.stderr_tail
        return process.returncode, output
    finally:
        await process.kill()


def timeout_message(label: str, command: str, timeout: float) -> str:
    """The error message for a program that prints no version in time."""
    return (
        f"{label} did not report its version within {timeout:g} seconds."
        f" Check whether this command finishes: {command} --version"
    )


def _which(command: str, path: str | None) -> str | None:
    program = shutil.which(command, path=path)
    # It is started in another directory, where a relative path would not resolve.
    return str(Path(program).absolute()) if program else None
