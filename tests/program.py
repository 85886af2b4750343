"""Spinney as a program: started the way a person starts it, in a home of its own."""

import asyncio
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from model.base.instance import running_here, wait_for_end
from model.base.paths import Directories
from model.cli.arguments import find_spec, parse_arguments
from model.client.local_instance import find_endpoint
from model.client.remote import RemoteClient
from tests.on_terminal import OnTerminal
from tests.patience import PATIENCE
from tests.ports import own_port

ROOT = Path(__file__).resolve().parents[1]
FROM_SOURCE = (sys.executable, str(ROOT / "spinney.py"))


@dataclass
class Serving:
    """A `spinney serve` that has said where it answers."""

    process: "subprocess.Popen[str]"
    base_url: str
    port: int
    token: str
    pid: int
    data: Path
    """Its data directory."""

    def end(self) -> tuple[int, str, str]:
        """SIGTERM; exit code and what was written since."""
        self.process.terminate()
        out, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, errors


def _without_agents(path: str) -> str:
    """A PATH without the agents that are installed for the tests: who drives one puts them back.

    Started with nothing to keep them here, they would talk to their makers.
    """
    return os.pathsep.join(p for p in path.split(os.pathsep) if not p.endswith("node_modules/.bin"))


@dataclass
class Program:
    """One person's Spinney: command, home, directories, and where they stand."""

    place: Path
    command: tuple[str, ...] = FROM_SOURCE
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in (self.home, self.cwd, self.temporary):
            path.mkdir(parents=True, exist_ok=True)
        self.environ = {
            "PATH": _without_agents(os.environ["PATH"]),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.temporary),
            "SPINNEY_CONFIG_DIR": str(self.config),
            "SPINNEY_DATA_DIR": str(self.data),
            "GIT_CONFIG_NOSYSTEM": "1",
            **self.environ,
        }

    @property
    def home(self) -> Path:
        return self.place / "home"

    @property
    def cwd(self) -> Path:
        return self.place / "elsewhere"

    @property
    def temporary(self) -> Path:
        return self.place / "tmp"

    @property
    def config(self) -> Path:
        return self.place / "config"

    @property
    def data(self) -> Path:
        return self.place / "data"

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """The program run to its end, without a terminal or input."""
        return subprocess.run(
            [*self.command, *arguments],
            cwd=self.cwd,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def call(self, name: str, *arguments: str) -> Any:
        """The result of a command that succeeds, asked for as `spinney call` does; from here, which
        takes hundredths of a second where the start of a process takes most of one."""
        return self.call_with(name, parse_arguments(find_spec(name), list(arguments)))

    def call_with(self, name: str, arguments: dict[str, Any]) -> Any:
        """The same, with arguments as JSON has them."""
        places = Directories(self.config, self.data, self.home)

        async def asked() -> Any:
            client = RemoteClient(*find_endpoint(places))
            try:
                async with asyncio.timeout(PATIENCE):
                    return await client.call_raw(name, arguments)
            finally:
                await client.close()

        # A test may have a loop of its own in this thread.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, asked()).result()

    def called(self, name: str, *arguments: str) -> Any:
        """The result of a command that succeeds, as `spinney call` prints it."""
        ran = self.run("call", name, *arguments)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    def ready_worktree(self, repository: Path) -> dict[str, Any]:
        """A worktree of a new project, once agents can work in it."""
        project = self.call("add_project", f"path={repository}")
        made: dict[str, Any] = self.call("create_worktree", f"projectId={project['id']}")
        named = f"worktreeId={made['id']}"
        until(lambda: self.call("get_worktree", named)["status"] == "ready", "it is ready")
        return made

    def made_repository(self, name: str = "alpha") -> Path:
        """A repository with one commit of all that lies in its folder."""
        path = self.place / name
        path.mkdir(exist_ok=True)
        words = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        commit = [*words, "commit", "-q", "--allow-empty", "-m", "Begin"]
        for command in (["init", "-q"], ["add", "."], commit):
            subprocess.run(["git", *command], cwd=path, env=self.environ, check=True)
        return path

    @contextmanager
    def started(self, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
        """The program while it runs; ended if it did not end itself."""
        process = subprocess.Popen(
            [*self.command, *arguments],
            cwd=self.cwd,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            try:
                process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
            except ValueError:
                pass  # `communicate` was called before and has closed the pipes.

    @contextmanager
    def on_a_terminal(
        self,
        *arguments: str,
        command: tuple[str, ...] | None = None,
        columns: int = 120,
        rows: int = 40,
    ) -> Iterator[OnTerminal]:
        """The program, or another command, in a terminal of its own.

        What goes on without it is for the test to end: see `kill`.
        """
        outside, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        process = subprocess.Popen(
            [*(command or self.command), *arguments],
            cwd=self.cwd,
            env=self.environ | {"TERM": "xterm-256color"},
            stdin=inside,
            stdout=inside,
            stderr=inside,
            start_new_session=True,
        )
        terminal = OnTerminal(process, outside, inside, columns, rows)
        try:
            yield terminal
        finally:
            process.kill()
            process.wait()
            for descriptor in {terminal.outside, terminal.inside} - {-1}:
                os.close(descriptor)

    def kill(self) -> None:
        """Kill whoever holds the data directory, if anybody does."""
        running = running_here(self.data / "spinney.lock")
        if running is not None:
            with suppress(ProcessLookupError):
                os.kill(running.pid, signal.SIGKILL)
            assert wait_for_end(self.data / "spinney.lock", running.pid, PATIENCE)

    @contextmanager
    def serving(self, *arguments: str) -> Iterator[Serving]:
        """A server at a port of its own."""
        with self.started("serve", "--port", str(own_port()), "--json", *arguments) as process:
            line = next_line(process, PATIENCE)
            assert line, "it did not answer: " + process.communicate(timeout=PATIENCE)[1]
            yield Serving(process, **json.loads(line), data=self.data)


def pid_of(spinney: Program) -> int:
    """The process that runs here, with or without a screen."""
    running = running_here(spinney.data / "spinney.lock")
    assert running is not None, "nobody runs here"
    return running.pid


def until(condition: Callable[[], object], what: str) -> None:
    """Ask until it holds; for other processes, which tell nothing by themselves."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited in vain until {what}"
        time.sleep(0.05)


def named(name: str, processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Those that have this name, of processes that may end at any time."""
    found = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            if process.name() == name:
                found.append(process)
    return found


def next_line(process: "subprocess.Popen[str]", seconds: float) -> str:
    """The next line of its output; empty when it ended or none came in this time.

    Only for programs that wait after each line: what the pipe's reader holds is not looked at.
    """
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], seconds)
    return process.stdout.readline() if ready else ""


def is_a_sentence(ran: "subprocess.CompletedProcess[str]", code: int = 1) -> bool:
    """Whether it failed with one plain sentence for a person, and nothing else."""
    return (
        ran.returncode == code
        and ran.stdout == ""
        and ran.stderr.startswith("spinney: ")
        and ran.stderr.count("\n") == 1
        and "Traceback" not in ran.stderr
    )
