"""Starts Spinney without a new import: a process that has imported all of it forks.

Importing takes a second of processor time, as much as a whole short test, and the tests start
Spinney hundreds of times. What they start is a process like any other: with its own environment,
directory, streams, signals, memory and exit code. Only its start is shorter. Tests of the imports,
the memory or what the system shows of a process's start begin as users do: see `Program.is_warm`.
"""

import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tests.leaks import outliving_the_test

_ROOT: Final = Path(__file__).resolve().parents[1]
_PACKAGES: Final = ("model", "server", "tui", "themes")
_LANG: Final = "C.UTF-8"
STARTED_AT: Final = (("model.git.replacing", "_STARTED_AT"),)
"""What the program notes of the time when it is imported."""
_LENGTH: Final = struct.Struct("=I")
_NUMBER: Final = struct.Struct("=i")


@dataclass(frozen=True)
class _Request:
    command: list[str]
    """The command line: Python, the program's file, its arguments."""
    directory: str
    environ: dict[str, str]
    has_new_session: bool


def has_same_interpreter(environ: Mapping[str, str]) -> bool:
    """Whether Python would start with `environ` as it did in the process that forks."""
    settings = {name for name in environ if name.startswith(("LC_", "PYTHON"))}
    return not settings and environ.get("LANG") == _LANG


# In the process of the tests ----------------------------------------------------------------------


class WarmProcess(subprocess.Popen[Any]):
    """A Spinney; takes the arguments `cwd`, `env`, streams and `start_new_session` of `Popen`.

    It is not a child of this process, so its exit status comes through a pipe.
    """

    _status_pipe = -1

    def _execute_child(self, *given: Any) -> None:
        # In the order in which `Popen.__init__` passes them, from Python 3.11 to 3.14.
        (command, _, _, _, _, directory, environ, *_) = given
        streams = (given[10], given[13], given[15])  # the child's ends, -1 for ours
        request = _Request(list(command), os.fspath(directory), dict(environ), bool(given[21]))
        self._status_pipe, theirs = os.pipe()
        inherited = [own if end == -1 else end for own, end in enumerate(streams)]
        try:
            _find_server().send(request, [*inherited, theirs])
        finally:
            os.close(theirs)
            self._close_pipe_fds(*given[10:16])  # type: ignore[attr-defined]
        (self.pid,) = _NUMBER.unpack(os.read(self._status_pipe, _NUMBER.size))
        self._child_created = True

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        seconds = 0 if wait_flags & os.WNOHANG else None
        if not select.select([self._status_pipe], [], [], seconds)[0]:
            return 0, 0
        status = os.read(self._status_pipe, _NUMBER.size)
        os.close(self._status_pipe)
        # Without a status the process that forks has ended, and this one outlives the tests.
        return self.pid, _NUMBER.unpack(status)[0] if status else 0

    def _internal_poll(self, _deadstate: int | None = None, *_: Any) -> int | None:
        lock = self._waitpid_lock  # type: ignore[attr-defined]
        if self.returncode is None and lock.acquire(False):
            try:
                if self.returncode is None:
                    pid, status = self._try_wait(os.WNOHANG)
                    if pid:
                        self._handle_exitstatus(status)  # type: ignore[attr-defined]
            finally:
                lock.release()
        return self.returncode  # type: ignore[no-any-return]


class _Server:
    """This process's connection to the one that forks; that ends when the connection does."""

    def __init__(self) -> None:
        self._sending = threading.Lock()
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.warm_start", str(theirs.fileno())],
                cwd=_ROOT,
                env={"PATH": os.environ["PATH"], "LANG": _LANG},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    def send(self, request: _Request, descriptors: list[int]) -> None:
        content = json.dumps(asdict(request)).encode()
        with self._sending:
            socket.send_fds(self._channel, [_LENGTH.pack(len(content))], descriptors)
            self._channel.sendall(content)

    def end(self) -> None:
        self._channel.close()
        self._process.wait()


_servers: list[_Server] = []


def _find_server() -> _Server:
    if not _servers:
        with outliving_the_test():
            _servers.append(_Server())
        atexit.register(_servers[0].end)
    return _servers[0]


# In the process that forks ------------------------------------------------------------------------


def _import_everything() -> None:
    for package in _PACKAGES:
        imported = importlib.import_module(package)
        for module in pkgutil.walk_packages(imported.__path__, package + "."):
            importlib.import_module(module.name)
    if threading.active_count() > 1:
        raise RuntimeError(f"importing started threads: {threading.enumerate()}")
    gc.collect()
    gc.freeze()


def _fork_on_request(channel: int) -> _Request | None:
    """Fork for each request; returns its request in a new process, None when none will come."""
    ended, woken = os.pipe()
    for descriptor in (ended, woken):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    status_pipes: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([channel, ended], [], [])
        if ended in ready:
            os.read(ended, 4096)
            _report_ended(status_pipes)
        if channel not in ready:
            continue
        received = _receive(channel)
        if received is None:
            for pid in status_pipes:  # The tests were killed.
                os.kill(pid, signal.SIGTERM)
            return None
        request, (*streams, status_pipe) = received
        pid = os.fork()
        if not pid:
            _become(request, streams)
            return request
        for stream in streams:
            os.close(stream)
        status_pipes[pid] = status_pipe
        os.write(status_pipe, _NUMBER.pack(pid))


def _report_ended(status_pipes: dict[int, int]) -> None:
    for pid in list(status_pipes):
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            continue
        _, status = os.waitpid(pid, 0)
        pipe = status_pipes.pop(pid)
        try:
            os.write(pipe, _NUMBER.pack(status))
        except BrokenPipeError:
            pass  # no test waits for it
        os.close(pipe)


def _receive(channel: int) -> tuple[_Request, list[int]] | None:
    with socket.socket(fileno=os.dup(channel)) as connection:
        head, descriptors, _, _ = socket.recv_fds(connection, _LENGTH.size, 4)
        if not head:
            return None
        (length,) = _LENGTH.unpack(head)
        content = connection.recv(length, socket.MSG_WAITALL)
    return _Request(**json.loads(content)), descriptors


def _become(request: _Request, streams: list[int]) -> None:
    """Turn a forked process into one that looks as if it had just been started."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX") if sys.platform == "darwin" else 65_536)
    if request.has_new_session:
        os.setsid()
    os.chdir(request.directory)
    os.environ.clear()
    os.environ.update(request.environ)
    time.tzset()
    for module, name in STARTED_AT:
        setattr(sys.modules[module], name, time.time())
    _open_streams()
    sys.argv[:] = request.command[1:]
    sys.orig_argv[:] = request.command
    sys.path[0] = str(_ROOT)  # as Python does for a file that it runs


def _open_streams() -> None:
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        before: io.TextIOWrapper = getattr(sys, name)
        stream = open(  # noqa: SIM115
            number,
            "r" if number == 0 else "w",
            encoding=before.encoding,
            errors=before.errors,
            closefd=False,
        )
        if number:
            stream.reconfigure(line_buffering=number == 2 or stream.isatty())
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _run(program: str) -> None:
    """Run a file and end, without taking apart what was imported: that copies all of its memory."""
    code: Any = 0
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        code = end.code
    except BaseException:
        code = 1
        traceback.print_exc()
    if isinstance(code, str):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code or 0)


if __name__ == "__main__":
    _import_everything()
    requested = _fork_on_request(int(sys.argv[1]))
    if requested is not None:
        _run(requested.command[1])
