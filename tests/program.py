"""Runs Spinney as a process, as a user starts it, with a home directory of its own."""

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

from model.base.instance import find_running_instance, wait_for_exit
from model.base.paths import Directories
from model.cli.arguments import find_spec, parse_arguments
from model.client.endpoint import find_endpoint
from model.client.remote import RemoteClient
from tests.on_terminal import OnTerminal
from tests.patience import PATIENCE
from tests.ports import find_free_port
from tests.warm_start import WarmProcess, has_same_interpreter

ROOT = Path(__file__).resolve().parents[1]
FROM_SOURCE = (sys.executable, str(ROOT / "spinney.py"))


@dataclass
class Serving:
    """A running `spinney serve`, with the address that it printed."""

    process: "subprocess.Popen[str]"
    base_url: str
    port: int
    token: str
    pid: int
    data: Path
    """Its data directory."""

    def end(self) -> tuple[int, str, str]:
        """Send SIGTERM; return the exit code and the rest of stdout and stderr."""
        self.process.terminate()
        out, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, errors


def _without_agents(path: str) -> str:
    """A PATH without the agent programs installed for the tests; live tests add them again.

    Without the live tests' restrictions, these programs would connect to their vendors.
    """
    return os.pathsep.join(p for p in path.split(os.pathsep) if not p.endswith("node_modules/.bin"))


@dataclass
class Program:
    """A Spinney installation of one user: command, environment and directories."""

    place: Path
    command: tuple[str, ...] = FROM_SOURCE
    environ: dict[str, str] = field(default_factory=dict)
    is_warm: bool = True
    """Whether it may start from a process that has imported it: see `tests.warm_start`."""

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

    def open_process(self, command: tuple[str, ...], **options: Any) -> "subprocess.Popen[Any]":
        """Start a command line, as `subprocess.Popen` does, in this program's environment."""
        environ = self.environ | options.pop("env", {})
        options.setdefault("cwd", self.cwd)
        is_spinney = command[: len(FROM_SOURCE)] == FROM_SOURCE
        is_warm = self.is_warm and is_spinney and has_same_interpreter(environ)
        start = WarmProcess if is_warm else subprocess.Popen
        return start(command, env=environ, **options)

    def run(
        self, *arguments: str, at: str | Path = "", given: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """Run the program to its end without a terminal, in `at`, with `given` as its input."""
        command = (*self.command, *arguments)
        with self.open_process(
            command,
            cwd=at or self.cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                out, errors = process.communicate(given, timeout=PATIENCE)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(command, process.returncode, out, errors)

    def call(self, name: str, *arguments: str) -> Any:
        """Call a command that succeeds, with arguments as `spinney call` takes them.

        The call is made in this process, which takes hundredths of a second; starting
        `spinney call` takes most of a second.
        """
        return self.call_with(name, parse_arguments(find_spec(name), list(arguments)))

    def call_with(self, name: str, arguments: dict[str, Any]) -> Any:
        """Call a command that succeeds, with JSON values as arguments."""
        directories = Directories(self.config, self.data, self.home)

        async def request() -> Any:
            client = RemoteClient(*find_endpoint(directories))
            try:
                async with asyncio.timeout(PATIENCE):
                    return await client.call_raw(name, arguments)
            finally:
                await client.close()

        # The test may already run an event loop in this thread.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, request()).result()

    def run_call(self, name: str, *arguments: str) -> Any:
        """Run `spinney call`, which must succeed, and return the result it prints."""
        ran = self.run("call", name, *arguments)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    def create_ready_worktree(self, repository: Path) -> dict[str, Any]:
        """Create a worktree in a new project and wait until it is ready."""
        project = self.call("add_project", f"path={repository}")
        worktree: dict[str, Any] = self.call("create_worktree", f"projectId={project['id']}")
        argument = f"worktreeId={worktree['id']}"
        until(lambda: self.call("get_worktree", argument)["status"] == "ready", "it is ready")
        return worktree

    def create_ready_worktree_named(self, repository: Path, name: str) -> dict[str, Any]:
        """As `create_ready_worktree`, of this name; the project is added the first time."""
        known = {one["path"]: one for one in self.call("list_projects")}
        project = known.get(str(repository)) or self.call("add_project", f"path={repository}")
        worktree: dict[str, Any] = self.call(
            "create_worktree", f"projectId={project['id']}", f"customName={name}"
        )
        argument = f"worktreeId={worktree['id']}"
        until(lambda: self.call("get_worktree", argument)["status"] == "ready", "it is ready")
        ready: dict[str, Any] = self.call("get_worktree", argument)
        return ready

    def make_repository(self, name: str = "alpha") -> Path:
        """Create a repository whose only commit contains all files already in its folder."""
        path = self.place / name
        path.mkdir(exist_ok=True)
        words = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        commit = [*words, "commit", "-q", "--allow-empty", "-m", "Begin"]
        for command in (["init", "-q"], ["add", "."], commit):
            subprocess.run(["git", *command], cwd=path, env=self.environ, check=True)
        return path

    @contextmanager
    def start(self, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
        """Run the program in the background until the block exits."""
        process = self.open_process(
            (*self.command, *arguments),
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
        """Run the program, or another command, on a pseudo-terminal of its own.

        Processes that outlive the terminal must be ended by the test: see `kill`.
        """
        outside, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        process = self.open_process(
            (*(command or self.command), *arguments),
            env={"TERM": "xterm-256color"},
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
        """Kill the Spinney process that has locked the data directory, if there is one."""
        running = find_running_instance(self.data / "spinney.lock")
        if running is not None:
            with suppress(ProcessLookupError):
                os.kill(running.pid, signal.SIGKILL)
            assert wait_for_exit(self.data / "spinney.lock", running.pid, PATIENCE)

    @contextmanager
    def serving(self, *arguments: str) -> Iterator[Serving]:
        """Run `spinney serve` on a free port until the block exits."""
        with self.start("serve", "--port", str(find_free_port()), "--json", *arguments) as process:
            line = next_line(process, PATIENCE)
            assert line, "it did not start: " + process.communicate(timeout=PATIENCE)[1]
            yield Serving(process, **json.loads(line), data=self.data)


def pid_of(spinney: Program) -> int:
    """The ID of the Spinney process, whether or not a terminal shows it."""
    running = find_running_instance(spinney.data / "spinney.lock")
    assert running is not None, "no Spinney is running"
    return running.pid


def until(condition: Callable[[], object], what: str, patience: float = PATIENCE) -> None:
    """Poll `condition` until it is true; for other processes, which send no notification."""
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, f"timeout while waiting until {what}"
        time.sleep(0.05)


def filter_by_name(name: str, processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """The processes with this name; processes that end meanwhile are skipped."""
    found = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            if process.name() == name:
                found.append(process)
    return found


def next_line(process: "subprocess.Popen[str]", seconds: float) -> str:
    """The next line of its output; empty if it ended or printed none within `seconds`.

    Only for programs that pause after each line: lines already in the reader's buffer are missed.
    """
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], seconds)
    return process.stdout.readline() if ready else ""


def is_error_sentence(ran: "subprocess.CompletedProcess[str]", code: int = 1) -> bool:
    """Whether it failed with a one-line error message and no other output."""
    return (
        ran.returncode == code
        and ran.stdout == ""
        and ran.stderr.startswith("spinney: ")
        and ran.stderr.count("\n") == 1
        and "Traceback" not in ran.stderr
    )
