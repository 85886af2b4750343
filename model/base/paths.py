"""The locations of Spinney's files on this machine, and atomic file replacement."""

import errno
import itertools
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from model.base.errors import SpinneyError

APP_DIR = "spinney"
PRIVATE_FILE = 0o600
PRIVATE_DIRECTORY = 0o700
SERVER_FILE = "server.json"
_MAX_WRITES: Final = 3
"""How often a file is written if its temporary file disappears each time."""
_XDG: Final = {
    "config": ("XDG_CONFIG_HOME", "~/.config"),
    "data": ("XDG_DATA_HOME", "~/.local/share"),
}


@dataclass(frozen=True, slots=True)
class Directories:
    """The folders that Spinney uses, and the files in them."""

    config: Path
    data: Path
    home: Path

    @property
    def preferences(self) -> Path:
        """The settings, which users may edit by hand."""
        return self.config / "preferences.json"

    @property
    def models(self) -> Path:
        """The user's additions to the catalog of models."""
        return self.config / "models.toml"

    @property
    def reported_models(self) -> Path:
        """The models that the agent programs reported."""
        return self.data / "models.json"

    @property
    def agents(self) -> Path:
        """The user's own agents, each with its command."""
        return self.config / "agents.toml"

    @property
    def fonts(self) -> Path:
        """The user's fonts for the browser page."""
        return self.config / "fonts"

    @property
    def database(self) -> Path:
        """Projects, worktrees, sessions and messages."""
        return self.data / "spinney.db"

    @property
    def server(self) -> Path:
        """Address and token of the running server."""
        return self.data / SERVER_FILE

    @property
    def lock(self) -> Path:
        """Held by the one process that uses the database."""
        return self.data / "spinney.lock"

    @property
    def log(self) -> Path:
        """The log of Spinney itself."""
        return self.data / "spinney.log"

    @property
    def outputs(self) -> Path:
        """Long tool results in full."""
        return self.data / "outputs"

    @property
    def raw_logs(self) -> Path:
        """Raw traffic with agents, by session, recorded in debug mode."""
        return self.data / "raw-logs"

    @property
    def pictures(self) -> Path:
        """Images attached to messages from other devices."""
        return self.data / "pictures"

    @property
    def contexts(self) -> Path:
        """The contents of the issues and pull requests that worktrees were created for."""
        return self.data / "contexts"

    @property
    def scripts(self) -> Path:
        """Output and results of the repositories' own scripts."""
        return self.data / "scripts"

    @property
    def access(self) -> Path:
        """What was granted to guests, as hashes of their tokens, and what they did."""
        return self.data / "access"

    @property
    def discarded(self) -> Path:
        """Changes discarded in worktrees, kept so that they can be restored."""
        return self.data / "discarded"

    @property
    def reviews(self) -> Path:
        """Verdicts about changes of worktrees, rejected hunks, and findings of agents."""
        return self.data / "reviews"

    @property
    def comparisons(self) -> Path:
        """What git needs to compare branches and worktrees that a person chose."""
        return self.data / "comparisons"

    @property
    def recovery(self) -> Path:
        """Recovery points of deleted sessions, removed worktrees and projects: a repository."""
        return self.data / "recovery.git"

    @property
    def radar(self) -> Path:
        """What git needs to compare worktrees; deleted at each start."""
        return self.data / "radar"

    @property
    def landing(self) -> Path:
        """What landed, trains, and the worktrees that they are made in."""
        return self.data / "landing"

    @property
    def push(self) -> Path:
        """The browsers that get notices by Web Push, and the key that signs for them."""
        return self.data / "push.json"

    @property
    def worktrees_home(self) -> Path:
        """New worktrees are created at `<worktrees_home>/<project name>/<worktree name>`."""
        return self.home / APP_DIR

    def create(self) -> None:
        """Create missing folders for this user only; existing ones keep their permissions."""
        for path in (self.config, self.data, self.worktrees_home):
            create_private_directory(path)


def resolve_directories(environ: Mapping[str, str] = os.environ) -> Directories:
    """This user's folders; `SPINNEY_CONFIG_DIR` and `SPINNEY_DATA_DIR` override the defaults."""
    home = Path(environ.get("HOME") or expand_home("~"))
    config = environ.get("SPINNEY_CONFIG_DIR")
    data = environ.get("SPINNEY_DATA_DIR")
    return Directories(
        config=_absolute(config) if config else _default_directory("config"),
        data=_absolute(data) if data else _default_directory("data"),
        home=home,
    )


def expand_home(text: str) -> Path:
    """The path with the home directory for `~`. Raises `SpinneyError` if that is unknown."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise SpinneyError(
            f"The home directory of {text} is unknown. Write the whole path, or set HOME.",
            "not_found",
        ) from None


def resolve_links(path: Path) -> Path:
    """As `Path.resolve`, which until Python 3.13 raises `RuntimeError` for a loop of links."""
    return Path(os.path.realpath(path))


def _default_directory(kind: Literal["config", "data"]) -> Path:
    """Where the system keeps such files of this user.

    On Linux by the rules of platformdirs, whose import takes a sixth of the time of `spinney ls`.
    """
    if os.uname().sysname == "Linux":
        variable, default = _XDG[kind]
        chosen = os.environ.get(variable, "")
        return (Path(chosen) if chosen.strip() else expand_home(default)) / APP_DIR
    import platformdirs

    choose = {"config": platformdirs.user_config_path, "data": platformdirs.user_data_path}[kind]
    return choose(APP_DIR, False)


def create_private_directory(path: Path) -> None:
    """Create `path` and its parents; only `path` itself is private, and only if it is new."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=PRIVATE_DIRECTORY)
    except FileExistsError as error:
        file = next(
            (parent for parent in (*reversed(path.parents), path) if parent.is_file()), None
        )
        if file is not None or not path.is_dir():
            raise SpinneyError(
                f"{file or path} should be a folder but is a file. Move the file and start again."
            ) from error
    except OSError as error:
        raise file_error(path, error, "created") from error


def create_private_folders(path: Path) -> None:
    """Create `path`, in the data directory, and what is missing above it; all are private."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)


def write_atomically(
    path: Path,
    data: bytes,
    mode: int = PRIVATE_FILE,
    *,
    before_rename: Callable[[], None] | None = None,
) -> None:
    """Replace the content of `path` by `data` through a temporary file and a rename.

    `before_rename` is called when the data is on disk under the temporary name; an exception it
    raises aborts the write. On failure the old file is unchanged and `SpinneyError` is raised.
    """
    try:
        _remove_stale(path)
        for attempt in range(1, _MAX_WRITES + 1):
            try:
                _replace(path, data, mode, before_rename)
                break
            except FileNotFoundError:
                # What git does not track can be cleared away meanwhile, as by `git stash -u`.
                if attempt == _MAX_WRITES or not path.parent.is_dir():
                    raise
    except OSError as error:
        raise file_error(path, error, "saved") from error
    _sync_directory(path.parent)


def write_or_shorten(path: Path, data: bytes) -> None:
    """As `write_atomically`; on a full disk a shorter text is written over the old one, which needs
    no space, and filled up with spaces. Interrupted in this, it leaves a file that is damaged.

    For lists of what is allowed: what was taken out of one has to stay out.
    """
    try:
        write_atomically(path, data)
    except SpinneyError:
        try:
            with path.open("r+b") as file:
                size = os.fstat(file.fileno()).st_size
                if len(data) > size:
                    raise
                file.write(data.ljust(size))
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            pass
        else:
            return
        raise


def find_backup_path(path: Path) -> Path:
    """An unused, dated name in the same folder, for keeping a broken file."""
    dated = f"{path.name}.broken-{time.strftime('%Y%m%d-%H%M%S')}"
    names = (dated if n == 1 else f"{dated}-{n}" for n in itertools.count(1))
    return path.with_name(next(n for n in names if not os.path.lexists(path.with_name(n))))


def _absolute(text: str) -> Path:
    return expand_home(text).absolute()


def _replace(path: Path, data: bytes, mode: int, before_rename: Callable[[], None] | None) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    try:
        _write_and_sync(temporary, data, mode)
        if before_rename:
            before_rename()
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _write_and_sync(path: Path, data: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        os.fchmod(descriptor, mode)  # the umask may have cleared bits
        rest = memoryview(data)
        while rest:
            # A full disk shows as a short write first, and as an error only after that.
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_directory(path: Path) -> None:
    """Make the rename durable. Failure is not fatal: the new file is complete and renamed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems cannot sync a directory
            import logging  # It takes longer to import than some commands of the command line.

            log = logging.getLogger(__name__)
            log.warning("The folder %s could not be synced: %s", path, error)


def _remove_stale(path: Path) -> None:
    """Remove temporary files of killed processes for `path`; those of running ones are kept."""
    name = re.compile(rf"\.{re.escape(path.name)}\.(\d+)\.[0-9a-f]+\.tmp")
    for entry in os.scandir(path.parent):
        match = name.fullmatch(entry.name)
        if match and not is_alive(int(match[1])):
            Path(entry).unlink(missing_ok=True)


def is_alive(pid: int) -> bool:
    """Whether a process with this pid exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def file_error(path: Path, error: OSError, verb: str) -> SpinneyError:
    """The error for a file or folder that could not be `verb` (saved, created, opened)."""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            text = f"The disk is full: {path} could not be {verb}. Free some space and try again."
        case errno.EACCES | errno.EPERM | errno.EROFS:
            text = (
                f"{path} could not be {verb}: no permission to write to {path.parent}. "
                "Change its permissions and try again."
            )
        case _:
            reason = error.strerror or type(error).__name__
            text = f"{path} could not be {verb}: {reason}. Check the disk and try again."
    return SpinneyError(text, "internal_error")


def open_without_waiting(path: str, flags: int) -> int:
    """Open a file for `open(…, opener=…)`, a named pipe without waiting for its other end."""
    return os.open(path, flags | os.O_NONBLOCK)


def open_itself(path: str, flags: int) -> int:
    """As `open_without_waiting`; a symbolic link is an error (`ELOOP`)."""
    return open_without_waiting(path, flags | os.O_NOFOLLOW)
