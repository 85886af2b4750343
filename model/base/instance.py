"""The single-instance lock of a data directory, and how to find and wait for its holder."""

import fcntl
import json
import os
import shlex
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from model import PROTOCOL, __version__
from model.base.errors import NotRunningError, SpinneyError
from model.base.notification import notify_supervisor
from model.base.paths import PRIVATE_FILE, SERVER_FILE, file_error, is_alive

START_TIMEOUT = 20.0
"""Seconds without CPU use after which a starting instance that published no address is hung."""
_POLL_INTERVAL = 0.05
_WAIT_INTERVAL = 2.0
"""Seconds between two attempts to take over from another instance, which may run for days."""
_EXIT_GRACE = 5.0
_HANDED_OVER = "SPINNEY_LOCK"
"""Environment variable with the descriptor of the lock, for a process that replaces itself."""
_BUSY_FACTOR = 6.0
"""Factor by which the timeout is extended while the process uses CPU, for busy machines."""


@dataclass(frozen=True, slots=True)
class RunningInstance:
    """What an instance writes about itself to its lock file, readable by its own user only."""

    pid: int
    version: str = __version__
    protocol: int = PROTOCOL
    port: int = 0
    """Local port that this user's other terminals connect to; 0 while it starts."""
    token: str = ""

    @property
    def base_url(self) -> str:
        """The URL of its local endpoint."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def has_ended(self) -> bool:
        """Whether it was killed: what it was starting holds the lock, or one that starts now."""
        return not self.port and not is_alive(self.pid)

    @property
    def timeout_error(self) -> SpinneyError:
        """The error to raise if it does not respond."""
        text = "Spinney is running here but does not respond."
        if self.pid:
            text = (
                f"Spinney (process {self.pid}) is running but does not respond. Stop it with"
                f" `kill {self.pid}`, or `kill -9 {self.pid}` if that fails; everything it had"
                " accepted is kept."
            )
        return NotRunningError(text, "timeout")


class InstanceLock:
    """The held lock of a data directory."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor = descriptor
        self._path = path

    def write_instance(self, port: int = 0, token: str = "") -> None:
        """Record this process and its local endpoint in the lock file."""
        content = json.dumps(asdict(RunningInstance(os.getpid(), port=port, token=token))).encode()
        try:
            # Overwritten, then truncated: a concurrent reader finds the old text or invalid JSON.
            os.pwrite(self._descriptor, content, 0)
            os.ftruncate(self._descriptor, len(content))
        except OSError as error:
            raise file_error(self._path, error, "saved") from error

    def remove_stale_server_file(self) -> None:
        """Remove a killed instance's server file: this process may have got the same pid."""
        with suppress(OSError):  # missing, or not a file
            self._path.with_name(SERVER_FILE).unlink()

    def hand_over(self) -> None:
        """Keep the lock for the program that replaces this process, and wait for its address."""
        with suppress(SpinneyError):
            self.write_instance()
        os.set_inheritable(self._descriptor, True)
        os.environ[_HANDED_OVER] = str(self._descriptor)

    def close(self) -> None:
        """Release the lock."""
        os.close(self._descriptor)


def acquire_lock(path: Path) -> InstanceLock | None:
    """Acquire the lock, or return `None` if another instance holds it.

    The system releases it when the process dies in any way; if that was while it started another
    program, only once that program has begun, as it inherits the lock until then.
    """
    descriptor = _take_handed_over(path)
    if descriptor is None:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        except OSError as error:
            raise file_error(path, error, "opened") from error
    lock = InstanceLock(descriptor, path)
    end = time.monotonic() + _EXIT_GRACE
    try:
        while not _try_flock(descriptor, fcntl.LOCK_EX):
            # A process that only checks the lock also holds it for a moment.
            if (running := find_running_instance(path)) is None:
                continue
            # Until then what it started may also hold its port, and seem to be one out of sight.
            if is_alive(running.pid) or time.monotonic() > end:
                lock.close()
                return None
            time.sleep(_POLL_INTERVAL)
        lock.remove_stale_server_file()
        lock.write_instance()
    except BaseException:
        lock.close()
        raise
    return lock


def _take_handed_over(path: Path) -> int | None:
    """Return the descriptor of this lock that the replaced process has kept, if there is one."""
    try:
        descriptor = int(os.environ.pop(_HANDED_OVER))
        if not os.path.samestat(os.fstat(descriptor), path.stat()):
            return None
        os.set_inheritable(descriptor, False)
    except (KeyError, ValueError, OSError):
        return None
    return descriptor


def _try_flock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _say_who_holds(path: Path, running: RunningInstance | None) -> str:
    if running is not None and running.has_ended:
        return (
            f"Spinney (process {running.pid}) has ended, but a program that it was starting has not"
            f" and still holds {path}. `fuser {shlex.quote(str(path))}` names it:"
            " end it, then start Spinney again."
        )
    return (
        f"Spinney is already running (process {running.pid if running else 'unknown'})."
        " Attach to it with `spinney`, or stop it with `spinney stop`."
    )


@contextmanager
def hold_lock(path: Path, *, wait: bool = False) -> Iterator[InstanceLock]:
    """Hold the lock of this data directory.

    Raises `SpinneyError` naming the process that holds it already, or waits until that one ends.
    """
    while (lock := acquire_lock(path)) is None:
        running = find_running_instance(path)
        if not wait:
            raise SpinneyError(_say_who_holds(path, running), "conflict")
        if running is not None:
            notify_supervisor(
                f"READY=1\nSTATUS=Waits for Spinney (process {running.pid}) to end", is_last=False
            )
        time.sleep(_WAIT_INTERVAL)
    try:
        yield lock
    finally:
        lock.close()


def find_running_instance(path: Path) -> RunningInstance | None:
    """The instance that holds the lock; `None` if it is not held, whatever the file says.

    It has the pid of a killed process, and no address, while a program that this one was starting
    holds the lock, and at the start of its successor, which has the lock before it writes.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise file_error(path, error, "opened") from error
    try:
        if _try_flock(descriptor, fcntl.LOCK_SH):
            return None
        running = _parse_instance(os.pread(descriptor, 4096, 0))
    finally:
        os.close(descriptor)
    # In a container that shares the folder and the network, the process cannot be seen.
    is_there = is_alive(running.pid) or _is_listening(running.port)
    return running if is_there else RunningInstance(running.pid)


def _is_listening(port: int) -> bool:
    """Whether something on this machine accepts connections at this port, or is too busy to."""
    if not port:
        return False
    try:
        socket.create_connection(("127.0.0.1", port), timeout=0.5).close()
    except TimeoutError:
        return True
    except OSError:
        return False
    return True


def _parse_instance(content: bytes) -> RunningInstance:
    """Return what an instance wrote; one without an address if that is incomplete or damaged."""
    try:
        fields = json.loads(content)
        if type(fields) is int:  # Early versions wrote only the pid.
            return RunningInstance(fields, version="0.1.0", protocol=0)
        known = {name: fields[name] for name in RunningInstance.__slots__ if name in fields}
        found = RunningInstance(**known)
        types = [type(value) for value in (found.pid, found.protocol, found.port, found.token)]
    except (ValueError, TypeError, RecursionError):
        return RunningInstance(0)
    is_whole = types == [int, int, int, str] and found.pid > 0 and 0 <= found.port < 65_536
    return found if is_whole else RunningInstance(0)


def wait_until_ready(path: Path, patience: float = START_TIMEOUT) -> RunningInstance | None:
    """Wait until the running instance accepts connections; `None` if none runs.

    Raises `SpinneyError` if it hangs or has another protocol version.
    """
    timeout: ActivityTimeout | None = None
    while (running := find_running_instance(path)) is not None:
        if running.protocol != PROTOCOL:
            raise protocol_mismatch(running.version, f" (process {running.pid})")
        if running.port:
            return running
        if timeout is None or timeout.pid != running.pid:
            timeout = ActivityTimeout(running.pid, patience)
        if timeout.is_expired:
            if running.has_ended:
                raise NotRunningError(_say_who_holds(path, running), "timeout")
            raise running.timeout_error
        time.sleep(_POLL_INTERVAL)
    return None


class ActivityTimeout:
    """A timeout for another process, extended as long as the process uses CPU time."""

    def __init__(self, pid: int, seconds: float) -> None:
        self.pid = pid
        self._seconds = seconds
        self._started = self._idle_since = time.monotonic()
        self._ticks = _cpu_ticks(pid)

    @property
    def is_expired(self) -> bool:
        """Whether the process was idle for the given seconds, or took many times as long."""
        now, ticks = time.monotonic(), _cpu_ticks(self.pid)
        if ticks > self._ticks:
            self._idle_since, self._ticks = now, ticks
        waited = now - self._started
        return now - self._idle_since > self._seconds or waited > self._seconds * _BUSY_FACTOR


def _cpu_ticks(pid: int) -> int:
    """The CPU time of a process in ticks; 0 where the system does not provide it."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
        user, system = stat.rpartition(b")")[2].split()[11:13]
    except (OSError, ValueError):
        return 0
    return int(user) + int(system)


def protocol_mismatch(version: str, process: str = "") -> SpinneyError:
    """The error for an instance whose protocol version differs from this one."""
    return SpinneyError(
        f"The running Spinney{process} is version {version}, which uses another protocol than this"
        f" version, {__version__}. Use the same version here, or restart the running one.",
        "conflict",
    )


def wait_for_exit(path: Path, pid: int, patience: float) -> bool:
    """Wait until this process has released the lock and exited; return whether it did in time.

    `patience` is in seconds, and is extended while the process uses CPU time (`ActivityTimeout`).
    """
    timeout = ActivityTimeout(pid, patience)
    while (running := find_running_instance(path)) is not None and running.pid == pid:
        if timeout.is_expired:
            return False
        time.sleep(_POLL_INTERVAL)
    # The lock is released just before the process exits; unless reaped, it then stays a zombie.
    deadline = time.monotonic() + _EXIT_GRACE
    while time.monotonic() < deadline and is_alive(pid):
        time.sleep(_POLL_INTERVAL)
    return True


def read_server_address(path: Path, running: RunningInstance) -> tuple[str, str] | None:
    """Address and token of the running instance's server, if it has one.

    A file left by another process is ignored: its port may belong to an unrelated program now.
    """
    try:
        fields = json.loads(path.read_bytes())
        is_its_own = fields["pid"] == running.pid and not running.has_ended
        address = str(fields["base_url"]), str(fields["token"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return address if is_its_own else None
