"""Where things live on this machine, and how a file is replaced without ever being half written."""

import errno
import itertools
import logging
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from model.base.errors import SpinneyError

APP_DIR = "spinney"
PRIVATE_FILE = 0o600
PRIVATE_DIRECTORY = 0o700
SERVER_FILE = "server.json"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Directories:
    """The folders Spinney uses, and the files in them."""

    config: Path
    data: Path
    home: Path

    @property
    def preferences(self) -> Path:
        """The settings, made to be read and edited by people too."""
        return self.config / "preferences.json"

    @property
    def models(self) -> Path:
        """A person's own additions to the catalogue of models."""
        return self.config / "models.toml"

    @property
    def told_models(self) -> Path:
        """What the agents' programs told of their models."""
        return self.data / "models.json"

    @property
    def agents(self) -> Path:
        """A person's own agents, each with how it is started."""
        return self.config / "agents.toml"

    @property
    def fonts(self) -> Path:
        """A person's fonts for the browser page."""
        return self.config / "fonts"

    @property
    def database(self) -> Path:
        """Projects, worktrees, sessions and messages."""
        return self.data / "spinney.db"

    @property
    def server(self) -> Path:
        """Where a running server says its address and token."""
        return self.data / SERVER_FILE

    @property
    def lock(self) -> Path:
        """Held by the one program that uses the database."""
        return self.data / "spinney.lock"

    @property
    def log(self) -> Path:
        """What happened, for finding faults."""
        return self.data / "spinney.log"

    @property
    def outputs(self) -> Path:
        """Long results of tools, whole."""
        return self.data / "outputs"

    @property
    def raw_logs(self) -> Path:
        """What agents were sent and said, by session, while a person wanted it."""
        return self.data / "raw-logs"

    @property
    def pictures(self) -> Path:
        """Pictures that go with messages and came from another device."""
        return self.data / "pictures"

    @property
    def contexts(self) -> Path:
        """What the issues and pull requests of worktrees say."""
        return self.data / "contexts"

    @property
    def scripts(self) -> Path:
        """What the repositories' own scripts printed, and how they ended."""
        return self.data / "scripts"

    @property
    def discarded(self) -> Path:
        """What was discarded in worktrees and can be brought back."""
        return self.data / "discarded"

    @property
    def worktrees_home(self) -> Path:
        """New worktrees go to `<worktrees_home>/<project name>/<worktree name>`."""
        return self.home / APP_DIR

    def create(self) -> None:
        """Make what is missing, for this user only; what exists keeps its permissions."""
        for path in (self.config, self.data, self.worktrees_home):
            create_private_directory(path)


def directories(environ: Mapping[str, str] = os.environ) -> Directories:
    """This user's folders; `SPINNEY_CONFIG_DIR` and `SPINNEY_DATA_DIR` override the system's."""
    home = Path(environ.get("HOME") or Path.home())
    config = environ.get("SPINNEY_CONFIG_DIR")
    data = environ.get("SPINNEY_DATA_DIR")
    return Directories(
        config=_absolute(config) if config else platformdirs.user_config_path(APP_DIR, False),
        data=_absolute(data) if data else platformdirs.user_data_path(APP_DIR, False),
        home=home,
    )


def create_private_directory(path: Path) -> None:
    """Make `path` and its parents; only `path` itself is made private, and only when it is new."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=PRIVATE_DIRECTORY)
    except FileExistsError as error:
        file = next((one for one in (*reversed(path.parents), path) if one.is_file()), None)
        if file is not None or not path.is_dir():
            raise SpinneyError(
                f"{file or path} should be a folder but is a file. Move it away and start again."
            ) from error
    except OSError as error:
        raise unsaved(path, error, "created") from error


def write_atomically(
    path: Path,
    data: bytes,
    mode: int = PRIVATE_FILE,
    *,
    before_rename: Callable[[], None] | None = None,
) -> None:
    """Replace `path` by `data`; readers and crashes find the old file or the new one, whole.

    `before_rename` is called when everything is on disk under another name; what it raises stops
    the write. Any failure leaves the old file as it was and raises `SpinneyError`.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    try:
        _remove_stale(path)
        try:
            _write_and_sync(temporary, data, mode)
            if before_rename:
                before_rename()
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise unsaved(path, error, "saved") from error
    _sync_directory(path.parent)


def free_name_aside(path: Path) -> Path:
    """A dated name beside a broken file, for keeping it, that nothing has yet."""
    dated = f"{path.name}.broken-{time.strftime('%Y%m%d-%H%M%S')}"
    names = (dated if n == 1 else f"{dated}-{n}" for n in itertools.count(1))
    return path.with_name(next(n for n in names if not os.path.lexists(path.with_name(n))))


def _absolute(text: str) -> Path:
    return Path(text).expanduser().absolute()


def _write_and_sync(path: Path, data: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        os.fchmod(descriptor, mode)  # the umask may have taken bits away
        rest = memoryview(data)
        while rest:
            # A full disk first shows as a short count, and only then as an error.
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_directory(path: Path) -> None:
    """Make the rename durable. Not fatal: the new file is complete and already in its place."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems cannot sync a directory
            _log.warning("The folder %s could not be synced: %s", path, error)


def _remove_stale(path: Path) -> None:
    """Remove what a killed program left behind beside `path`; a living writer's file stays."""
    name = re.compile(rf"\.{re.escape(path.name)}\.(\d+)\.[0-9a-f]+\.tmp")
    for entry in os.scandir(path.parent):
        match = name.fullmatch(entry.name)
        if match and not is_alive(int(match[1])):
            Path(entry).unlink(missing_ok=True)


def is_alive(pid: int) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def unsaved(path: Path, error: OSError, verb: str) -> SpinneyError:
    """The sentence for a file or folder that could not be `verb` (saved, created, opened)."""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            text = f"The disk is full: {path} could not be {verb}. Free some space and try again."
        case errno.EACCES | errno.EPERM | errno.EROFS:
            text = (
                f"{path} could not be {verb}: writing in {path.parent} is not allowed. "
                "Change its permissions and try again."
            )
        case _:
            reason = error.strerror or type(error).__name__
            text = f"{path} could not be {verb}: {reason}. Check the disk and try again."
    return SpinneyError(text, "internal_error")
