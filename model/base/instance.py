"""One Spinney per data directory: the lock, and where and how long a running one is looked for."""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from model import PROTOCOL, __version__
from model.base.errors import NobodyThereError, SpinneyError
from model.base.paths import PRIVATE_FILE, SERVER_FILE, is_alive, unsaved

START_TIME = 20.0
"""Seconds without a sign of work after which a Spinney that starts and tells no address is hung."""
_LOOK_AGAIN = 0.05
_LAST_MOMENT = 5.0
_STARVED = 6.0
"""How often as long one waits for a process that works: on a busy machine that takes its time."""


@dataclass(frozen=True, slots=True)
class Running:
    """What a Spinney says of itself in its lock, which only its own user can read."""

    pid: int
    version: str = __version__
    protocol: int = PROTOCOL
    port: int = 0
    """Where it lets this user's other terminals in, on this machine; 0 while it starts."""
    token: str = ""

    @property
    def base_url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def hung(self) -> SpinneyError:
        """What to tell when it says nothing."""
        return NobodyThereError(
            f"Spinney (process {self.pid}) runs here and does not answer. End it with"
            f" `kill {self.pid}`, and if it is still there with `kill -9 {self.pid}`; what it had"
            " accepted is kept.",
            "timeout",
        )


class Lock:
    """The held lock of a data directory."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor = descriptor
        self._path = path

    def tell(self, port: int = 0, token: str = "") -> None:
        """Say who holds it and where other terminals may come in."""
        note = json.dumps(asdict(Running(os.getpid(), port=port, token=token))).encode()
        try:
            # Written over and then cut: whoever reads meanwhile finds the old text or no JSON.
            os.pwrite(self._descriptor, note, 0)
            os.ftruncate(self._descriptor, len(note))
        except OSError as error:
            raise unsaved(self._path, error, "saved") from error

    def forget_address(self) -> None:
        """Remove what a killed Spinney said of its server: this process may have its number."""
        with suppress(OSError):  # none there, or no file at all
            self._path.with_name(SERVER_FILE).unlink()

    def close(self) -> None:
        """Let others have it."""
        os.close(self._descriptor)


def take_lock(path: Path) -> Lock | None:
    """The lock, or `None` while another Spinney holds it. Freed by the system on any death."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
    except OSError as error:
        raise unsaved(path, error, "opened") from error
    lock = Lock(descriptor, path)
    try:
        while not _locked(descriptor, fcntl.LOCK_EX):
            # Whoever only looks holds it for a moment, too.
            if running_here(path) is not None:
                lock.close()
                return None
        lock.forget_address()
        lock.tell()
    except BaseException:
        lock.close()
        raise
    return lock


def _locked(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def hold_lock(path: Path) -> Iterator[Lock]:
    """Keep other Spinneys off this data directory.

    Raises `SpinneyError` that names the process which holds it.
    """
    lock = take_lock(path)
    if lock is None:
        running = running_here(path)
        raise SpinneyError(
            f"Spinney is already running here (process {running.pid if running else 'unknown'})."
            " Look into it with `spinney`, or end it with `spinney stop`.",
            "conflict",
        )
    try:
        yield lock
    finally:
        lock.close()


def running_here(path: Path) -> Running | None:
    """Whoever holds the lock; `None` when nobody does, whatever the file says."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unsaved(path, error, "opened") from error
    try:
        if _locked(descriptor, fcntl.LOCK_SH):
            return None
        return _noted(os.pread(descriptor, 4096, 0))
    finally:
        os.close(descriptor)


def _noted(note: bytes) -> Running:
    try:
        found = json.loads(note)
        if isinstance(found, int):  # Before it said more, it said its process alone.
            return Running(found, version="0.1.0", protocol=0)
        known = {name: found[name] for name in Running.__slots__ if name in found}
        return Running(**known)
    except (ValueError, TypeError):
        return Running(0)


def answering_here(path: Path, patience: float = START_TIME) -> Running | None:
    """As `running_here`, once it answers. Raises `SpinneyError` if it cannot be talked to."""
    waited: Patience | None = None
    while (running := running_here(path)) is not None:
        if running.protocol != PROTOCOL:
            raise other_protocol(running.version, f" (process {running.pid})")
        if running.port:
            return running
        if waited is None or waited.pid != running.pid:
            waited = Patience(running.pid, patience)
        if waited.is_over:
            raise running.hung
        time.sleep(_LOOK_AGAIN)
    return None


class Patience:
    """How long one waits for a process, by what it does and not by the clock alone."""

    def __init__(self, pid: int, seconds: float) -> None:
        self.pid = pid
        self._seconds = seconds
        self._begun = self._idle_since = time.monotonic()
        self._spent = _spent_by(pid)

    @property
    def is_over(self) -> bool:
        """Whether it did nothing for so many seconds, or has taken many times as long."""
        now, spent = time.monotonic(), _spent_by(self.pid)
        if spent > self._spent:
            self._idle_since, self._spent = now, spent
        waited = now - self._begun
        return now - self._idle_since > self._seconds or waited > self._seconds * _STARVED


def _spent_by(pid: int) -> int:
    """Processor time that a process has used, in ticks; 0 where the system does not tell."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
        user, system = stat.rpartition(b")")[2].split()[11:13]
    except (OSError, ValueError):
        return 0
    return int(user) + int(system)


def other_protocol(version: str, who: str = "") -> SpinneyError:
    """What to tell of a Spinney that is too different to be looked into."""
    return SpinneyError(
        f"The Spinney that runs there{who} is version {version} and speaks another protocol than"
        f" this one, {__version__}. Use the same version here, or end that one and start it anew.",
        "conflict",
    )


def wait_for_end(path: Path, pid: int, patience: float) -> bool:
    """Wait until this process has ended and holds no lock; whether it did in time (seconds).

    One that works on a busy machine has longer (`Patience`).
    """
    waited = Patience(pid, patience)
    while (running := running_here(path)) is not None and running.pid == pid:
        if waited.is_over:
            return False
        time.sleep(_LOOK_AGAIN)
    # The lock is free a moment before the process is gone. Nobody may have asked what became of it.
    end = time.monotonic() + _LAST_MOMENT
    while time.monotonic() < end and is_alive(pid):
        time.sleep(_LOOK_AGAIN)
    return True


def server_of(path: Path, running: Running) -> tuple[str, str] | None:
    """Address and token of the server of whoever runs here, if it has one.

    What another process left in the file is nobody's address: a stranger may have taken its port.
    """
    try:
        found = json.loads(path.read_bytes())
        return (found["base_url"], found["token"]) if found["pid"] == running.pid else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
