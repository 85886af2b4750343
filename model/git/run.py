"""Run git: environment, safety options, time limits, retries, and error messages.

Every git command on a repository runs through this module. Reads never take locks and never run
programs named in a repository's configuration. Writes are started by the user, so hooks run as they
do in a shell; a lock held by another process is waited for.

Processes are started by GitPython's `Git.execute`; nothing else of GitPython is used. Its objects
take two to three times as long for what is needed here (`is_dirty(untracked_files=True)` beside
`git status`), block their thread without a time limit that ends hooks, and pass options on to git.
"""

import asyncio
import contextlib
import math
import os
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from model.base.errors import SpinneyError, worktree_directory_missing
from model.base.git_layout import is_bare_repository
from model.base.inherited import drop_variables
from model.git import named_pipes, transient_failures
from model.git.error_messages import clean_output, extract_error
from model.git.safe_config import build_overrides, disable_filters

OLDEST_GIT: Final = (2, 30)
"""`rev-parse --end-of-options` came with 2.30; anything newer that is used has a fallback."""
LARGE_FILE: Final = 5_000_000
"""Bytes; larger files count as binary, and git reads them in chunks."""

# Two pools, so that a slow push or checkout never delays polling, nor the other way round. Few
# reads run at a time, but a read on an unresponsive disk keeps its thread, and so does a commit
# whose hooks take minutes.
_READS: Final = ThreadPoolExecutor(16, thread_name_prefix="git-read")
_WRITES: Final = ThreadPoolExecutor(32, thread_name_prefix="git-write")

_ENVIRONMENT: Final = {
    "LC_ALL": "C",
    "LANGUAGE": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": ":",
    "GIT_MERGE_AUTOEDIT": "no",
}
# Disable transports that are commands or inherited pipes, and bare repositories in a checkout.
_SAFE_OPTIONS: Final = (
    "-c", "protocol.ext.allow=never",
    "-c", "protocol.fd.allow=never",
    "-c", "safe.bareRepository=explicit",
)  # fmt: skip
# `core.fsmonitor` may name a program that `status` and `diff` would run. Git compresses a large
# file only to compute its id: without compression that takes 0.9 s instead of 5 s for 200 MB.
_READ_OPTIONS: Final = (
    "-c", "core.fsmonitor=false",
    "-c", f"core.bigFileThreshold={LARGE_FILE}",
    "-c", "pack.compression=0",
)  # fmt: skip

_UNKNOWN_FORMAT: Final = re.compile(
    r"unknown repository extension|Expected git repo version|invalid value for 'extensions\."
    r"|unknown ref storage format"
)
"""How git says that the repository was made for a newer one."""
_RETRY_SECONDS: Final = 2.0
_CHUNK_SIZE: Final = 1 << 16
_GRACE_SECONDS: Final = 1.0
"""Seconds between SIGTERM and SIGKILL for a git that exceeded its limit."""


@dataclass(frozen=True, slots=True)
class GitResult:
    """The output and exit code of one git command."""

    raw_stdout: bytes
    stderr: str
    returncode: int
    is_truncated: bool = False
    """Whether standard output was cut off at `max_bytes`."""

    @property
    def stdout(self) -> str:
        """Standard output as text without its last newline; invalid UTF-8 becomes U+FFFD."""
        return self.raw_stdout.decode("utf-8", "replace").removesuffix("\n")

    @property
    def fields(self) -> list[str]:
        """The entries of `-z` output, decoded so that `os` accepts file names of any encoding."""
        return [os.fsdecode(field) for field in self.raw_stdout.split(b"\0") if field]

    @property
    def message(self) -> str:
        """Git's error message without the `fatal: ` label, or else its standard output."""
        said = extract_error(self.stderr) or clean_output(self.stdout).strip()
        if _UNKNOWN_FORMAT.search(self.stderr):
            said += (
                f"\nThe repository needs a newer git than the installed {_require_git()}. Update "
                "git, then try again."
            )
        return said


async def git(
    cwd: Path,
    *args: str,
    write: bool = False,
    timeout: float = 30,
    check: bool = True,
    discover: bool = False,
    max_bytes: int | None = None,
    on_stderr: Callable[[bytes], None] | None = None,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    filters: bool = True,
) -> GitResult:
    """Run git in `cwd`, in a thread.

    Args:
        cwd: The root of a working tree or a bare repository.
        args: Subcommand and arguments.
        write: Allow hooks and locks. A lock held by another process is waited for, for about 2 s; a
            read of a file that is being written is retried for as long.
        timeout: Seconds until git and its child processes are terminated.
        check: Raise when git fails.
        discover: Accept a `cwd` inside a repository, not only its root.
        max_bytes: Bytes of standard output after which git is terminated; for reads.
        on_stderr: Called with each chunk of standard error, in a thread of the pool.
        stdin: What git reads from standard input.
        environment: Variables added to git's environment, such as `GIT_INDEX_FILE`.
        filters: Let git convert contents by the filters that the user configured (Git LFS).

    Raises:
        SpinneyError: `git_error` with git's own message, `timeout`, `not_found` for a missing
            directory, `backend_unavailable` without a usable git.
    """
    deadline = time.monotonic() + _RETRY_SECONDS
    pause = 0.05
    while True:
        call = _Call(
            cwd,
            args,
            write=write,
            timeout=timeout,
            discover=discover,
            max_bytes=max_bytes,
            on_stderr=on_stderr,
            stdin=stdin,
            environment=environment or {},
            filters=filters,
        )
        result = await _run_in_thread(call)
        if not _is_transient(result, write=write) or time.monotonic() + pause > deadline:
            break
        await asyncio.sleep(pause)
        pause *= 2
    if check and result.returncode != 0:
        raise SpinneyError(
            result.message or _describe_silent_failure(args, result, write), "git_error"
        )
    return result


async def git_version() -> str:
    """The version of the installed git, such as `2.39.5`; raises `SpinneyError` without one."""
    return await asyncio.to_thread(_require_git)


def _describe_silent_failure(args: tuple[str, ...], result: GitResult, write: bool) -> str:
    message = (
        f"git {_subcommand(args)} failed without an error message (exit code {result.returncode})."
    )
    return f"{message} A repository hook may have rejected it." if write else message


def _is_transient(result: GitResult, *, write: bool) -> bool:
    """Whether a retry may help because another process is using the repository."""
    if not write and result.returncode == -signal.SIGBUS:
        return True  # Another process truncated a file that git had mapped into memory.
    stderr = result.stderr
    return result.returncode != 0 and (
        transient_failures.is_worktree_changing(stderr)
        or (transient_failures.is_lock_held if write else transient_failures.has_file_changed)(
            stderr
        )
    )


def _subcommand(args: tuple[str, ...]) -> str:
    """The first argument that is not part of a `-c name=value` pair."""
    remaining = iter(args)
    return next(
        (argument for argument in remaining if argument != "-c" or not next(remaining, "")), ""
    )


async def _run_in_thread(call: "_Call") -> GitResult:
    pool = _WRITES if call.write else _READS
    running = asyncio.get_running_loop().run_in_executor(pool, call.run)
    try:
        if not call.write:
            await named_pipes.stop_if_blocked(running, call.cwd, call.stop)
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        # What follows a canceled call (a rollback, an exit) must not overlap with a running git.
        call.stop()
        await asyncio.wait((running,), timeout=_GRACE_SECONDS)
        call.stop(signal.SIGKILL)  # A hook or a signer may not obey.
        with contextlib.suppress(Exception):
            await running
        raise


def _open_input(content: bytes) -> contextlib.AbstractContextManager[BinaryIO | None]:
    """Return a file with this content, or `None` for no content."""
    if not content:
        return contextlib.nullcontext()
    file = tempfile.TemporaryFile()  # noqa: SIM115 (the caller closes it)
    file.write(content)
    file.seek(0)
    return file


class _Call:
    """One run of git in its own process group; another thread may stop it."""

    def __init__(
        self,
        cwd: Path,
        args: tuple[str, ...],
        *,
        write: bool,
        timeout: float,
        discover: bool,
        max_bytes: int | None,
        on_stderr: Callable[[bytes], None] | None,
        stdin: bytes,
        environment: Mapping[str, str],
        filters: bool,
    ) -> None:
        self.write = write
        self.cwd = cwd
        self._args = args
        self._timeout = timeout
        self._discover = discover
        self._max_bytes = max_bytes
        self._on_stderr = on_stderr
        self._stdin = stdin
        self._added_environment = environment
        self._filters = filters
        self._stopped = threading.Event()
        self._process: Any = None
        self._ended = False

    def run(self) -> GitResult:
        """Run until git exits or the time limit; called in a thread of the pool."""
        _require_git()
        if self._stopped.is_set():
            return GitResult(b"", "stopped", 1)
        self._process = process = self._start()
        if self._stopped.is_set():
            self._signal_group(signal.SIGTERM)
        try:
            out, err, truncated = self._read_output(process)
        except subprocess.TimeoutExpired:
            self._kill()
            raise SpinneyError(
                f"git {_subcommand(self._args)} took longer than {self._timeout:g} seconds in "
                f"{self.cwd} and was stopped. {self._suggest_cause()}, then try again.",
                "timeout",
            ) from None
        finally:
            self._ended = True
        return GitResult(
            out,
            err.decode("utf-8", "replace"),
            0 if truncated else process.returncode,
            is_truncated=truncated,
        )

    def _suggest_cause(self) -> str:
        cause = "Check whether the disk or the remote responds"
        if not self.write:
            return cause
        return (
            f"{cause}, and whether a hook, a filter or a program that signs (gpg, ssh) waits for a "
            "passphrase: give it to its agent in a shell"
        )

    def _read_output(self, process: Any) -> tuple[bytes, bytes, bool]:
        """Return standard output, standard error, and whether the output was truncated."""
        if self._max_bytes is None and self._on_stderr is None:
            return (*process.communicate(timeout=self._timeout), False)
        deadline = time.monotonic() + self._timeout
        limit = math.inf if self._max_bytes is None else self._max_bytes
        out, err = bytearray(), bytearray()
        with selectors.DefaultSelector() as open_pipes:
            open_pipes.register(process.stdout, selectors.EVENT_READ, out)
            open_pipes.register(process.stderr, selectors.EVENT_READ, err)
            while open_pipes.get_map() and len(out) <= limit:
                for key, _ in open_pipes.select(max(0, deadline - time.monotonic())):
                    chunk = os.read(key.fd, _CHUNK_SIZE)
                    key.data.extend(chunk)
                    if self._on_stderr is not None and key.data is err:
                        self._on_stderr(chunk)
                    if not chunk:
                        open_pipes.unregister(key.fileobj)
                if time.monotonic() > deadline:
                    raise subprocess.TimeoutExpired("git", self._timeout)
        truncated = len(out) > limit
        if truncated:
            self._kill()
        process.communicate(timeout=_GRACE_SECONDS)
        return bytes(out[: self._max_bytes]), bytes(err), truncated

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End git with its child processes. Asked to exit (SIGTERM), it removes its own locks."""
        self._stopped.set()
        if self._process is not None and not self._ended:
            self._signal_group(number)

    def _start(self) -> Any:
        from git.cmd import Git
        from git.exc import GitCommandNotFound

        drop_variables()  # GitPython passes all others on.
        try:
            with _open_input(self._stdin) as stdin:
                return Git(self.cwd).execute(
                    self._command(),
                    as_process=True,
                    env=self._environment(),
                    start_new_session=True,
                    istream=stdin,
                )
        except GitCommandNotFound:
            raise _not_installed_error() from None
        except (ValueError, UnicodeError):
            raise SpinneyError("The text contains characters that git does not accept.") from None

    def _command(self) -> list[str]:
        # GitPython would run the command in Spinney's own directory if this one is missing: hence
        # the check, and `-C` in case it disappears right after it.
        if not self.cwd.is_dir():
            raise worktree_directory_missing(str(self.cwd))
        bare = ("--git-dir=.",) if is_bare_repository(self.cwd) else ()
        options = () if self.write else (*_READ_OPTIONS, *build_overrides(self.cwd))
        if not self._filters:
            options += disable_filters(self.cwd)
        return ["git", "-C", str(self.cwd), *bare, *_SAFE_OPTIONS, *options, *self._args]

    def _environment(self) -> dict[str, str]:
        environment = dict(_ENVIRONMENT)
        if not self.write:
            environment["GIT_OPTIONAL_LOCKS"] = "0"
        if not self._discover:
            # A worktree that lost its `.git` must not resolve to a repository around it.
            environment["GIT_CEILING_DIRECTORIES"] = str(self.cwd.parent)
        return {**environment, **self._added_environment}

    def _signal_group(self, number: signal.Signals) -> None:
        # The whole group: a remote helper or a hook would keep running and hold the pipes open.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _kill(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            self._signal_group(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.communicate(timeout=_GRACE_SECONDS)
                return


_versions: dict[str, str] = {}
_versions_lock = threading.Lock()


def _require_git() -> str:
    """Load GitPython and check the installed git once; raise if it is missing or too old."""
    program = shutil.which("git")
    if program is None:
        raise _not_installed_error()
    with _versions_lock:
        if program not in _versions:
            _versions[program] = _read_version()
    version = _versions[program]
    numbers = tuple(int(part) for part in version.split(".")[:2])
    if numbers < OLDEST_GIT:
        required = ".".join(map(str, OLDEST_GIT))
        raise SpinneyError(
            f"git {version} is too old: Spinney needs git {required} or newer.",
            "backend_unavailable",
        )
    return version


def _read_version() -> str:
    # Without this the import raises if git is missing. It takes 31-33 ms of CPU time when warm and
    # 70 ms cold, hence not at the top.
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    from git.cmd import Git

    _, text, _ = Git().execute(
        ["git", "--version"], with_extended_output=True, with_exceptions=False
    )
    found = re.search(r"\d{1,9}\.\d{1,9}(?:\.\d{1,9})*", str(text))
    if found is None:
        raise SpinneyError(
            "The program 'git' did not report a git version: "
            f"{clean_output(str(text)) or 'no output'}",
            "backend_unavailable",
        )
    return found.group()


def _not_installed_error() -> SpinneyError:
    return SpinneyError(
        "git is not installed or not on the PATH. Install git, then restart Spinney.",
        "backend_unavailable",
    )
