"""The one place that runs git: environment, safety switches, time limits, retries, git's words.

Reads never take locks and never run what a repository's configuration names. Writes are started
by people, so hooks run as they do in a shell; a lock that somebody else holds is waited for.
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
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from model.base.errors import SpinneyError
from model.base.git_layout import looks_bare
from model.base.text import make_output_visible
from model.git import named_pipes, transient_failures
from model.git.safe_config import overrides

OLDEST_GIT: Final = (2, 30)
"""`rev-parse --end-of-options` came with 2.30; nothing that is newer goes without another way."""
LARGE_FILE: Final = 5_000_000
"""Bytes; what is larger counts as binary, and git reads it piece by piece."""

# Two pools, so that a slow push or checkout never holds up the polling, nor the other way round.
# Reads are few at a time, but one on a disk that does not answer keeps its thread, and so does
# a commit whose hooks take their minutes.
_READS: Final = ThreadPoolExecutor(16, thread_name_prefix="git-read")
_WRITES: Final = ThreadPoolExecutor(32, thread_name_prefix="git-write")

_ENVIRONMENT: Final = {
    "LC_ALL": "C",
    "LANGUAGE": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": ":",
    "GIT_MERGE_AUTOEDIT": "no",
}
# `git rev-parse --local-env-vars`: set when Spinney starts from a hook or a git alias, they would
# turn every call to that one repository.
_OTHER_REPOSITORY: Final = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE", "GIT_REPLACE_REF_BASE", "GIT_IMPLICIT_WORK_TREE", "GIT_CONFIG",
)  # fmt: skip
# Transports that are commands or inherited pipes; bare repositories hidden inside a checkout.
_NEVER: Final = (
    "-c", "protocol.ext.allow=never",
    "-c", "protocol.fd.allow=never",
    "-c", "safe.bareRepository=explicit",
)  # fmt: skip
# `core.fsmonitor` may name a program, and `status` and `diff` would run it. Git compresses a large
# file only to know its id: without compression that is 0.9 s instead of 5 s for 200 MB.
_READ_PROFILE: Final = (
    "-c", "core.fsmonitor=false",
    "-c", f"core.bigFileThreshold={LARGE_FILE}",
    "-c", "pack.compression=0",
)  # fmt: skip

_NAMELESS: Final = "Please tell me who you are"
_NAMELESS_WORDS: Final = (
    "Git does not know who you are. Tell it in a shell, and try again:"
    ' git config --global user.name "Your Name";'
    " git config --global user.email you@example.com"
)
_HOMELESS: Final = (
    "fatal: not a git repository", "warning: Not a git repository", "fatal: invalid gitfile",
)  # fmt: skip
_HOMELESS_WORDS: Final = (
    "This directory is no git worktree any more: its .git is gone, or leads to nothing. Move what "
    "you need out of it, delete it, and recreate the worktree."
)
_PATIENCE: Final = 2.0
_CREDENTIALS: Final = re.compile(r"://[^/@\s]*@")
_LABELS: Final = ("fatal: ", "error: ")
_LABEL: Final = re.compile(r"^(?:fatal|error): ")
_PIECE: Final = 1 << 16
_GRACE: Final = 1.0
"""Seconds between asking a git that takes too long to end and killing it."""


@dataclass(frozen=True, slots=True)
class Output:
    """What one call of git gave back."""

    raw: bytes
    stderr: str
    returncode: int
    cut: bool = False
    """Whether git had more to say than was asked for."""

    @property
    def stdout(self) -> str:
        """Standard output as text without its last newline; what is not UTF-8 becomes U+FFFD."""
        return self.raw.decode("utf-8", "replace").removesuffix("\n")

    @property
    def fields(self) -> list[str]:
        """The entries of a `-z` answer, decoded so that `os` finds a file of any name again."""
        return [os.fsdecode(field) for field in self.raw.split(b"\0") if field]

    @property
    def words(self) -> str:
        """What git had to say, for people: `fatal: …` without its label, or all of its text."""
        return _words(self.stderr) or _plain(self.stdout).strip()


async def git(
    cwd: Path,
    *args: str,
    write: bool = False,
    timeout: float = 30,
    check: bool = True,
    discover: bool = False,
    most: int | None = None,
    heard: Callable[[bytes], None] | None = None,
) -> Output:
    """Run git in `cwd`, in a thread.

    Args:
        cwd: The root of a working tree or a bare repository.
        args: Subcommand and arguments.
        write: Hooks and locks allowed. A lock held by others is waited for, about 2 s; a read
            that meets a file while it is written is repeated as long.
        timeout: Seconds until git and what it started are ended.
        check: Raise when git fails.
        discover: Accept a `cwd` inside a repository, not only its root.
        most: Bytes of standard output after which git is ended; for reads.
        heard: Is given each piece of standard error as it comes, in a thread of the pool.

    Raises:
        SpinneyError: `git_error` with git's own words, `timeout`, `not_found` for a missing
            directory, `backend_unavailable` without a usable git.
    """
    give_up = time.monotonic() + _PATIENCE
    pause = 0.05
    while True:
        call = _Call(
            cwd, args, write=write, timeout=timeout, discover=discover, most=most, heard=heard
        )
        output = await _in_thread(call)
        if not _passes(output, write=write) or time.monotonic() + pause > give_up:
            break
        await asyncio.sleep(pause)
        pause *= 2
    if check and output.returncode != 0:
        raise SpinneyError(output.words or _wordless(args, output, write), "git_error")
    return output


async def git_version() -> str:
    """The version of the installed git, such as `2.39.5`; raises when there is none."""
    return await asyncio.to_thread(_usable_version)


def without_credentials(text: str) -> str:
    """`text` with user names and passwords cut out of its URLs."""
    return _CREDENTIALS.sub("://", text)


def _wordless(args: tuple[str, ...], output: Output, write: bool) -> str:
    failed = f"git {_subcommand(args)} failed without a word (exit code {output.returncode})."
    return f"{failed} A hook of the repository may have refused it." if write else failed


def _passes(output: Output, *, write: bool) -> bool:
    """Whether to try again may help: somebody else is at work here."""
    if not write and output.returncode == -signal.SIGBUS:
        return True  # Somebody wrote a file that git had mapped into memory.
    said = output.stderr
    return output.returncode != 0 and (
        transient_failures.is_half_made(said)
        or (transient_failures.is_lock_held if write else transient_failures.has_file_changed)(said)
    )


def _subcommand(args: tuple[str, ...]) -> str:
    """The word after `-c` and its setting, however many."""
    words = iter(args)
    return next((word for word in words if word != "-c" or not next(words, "")), "")


async def _in_thread(call: "_Call") -> Output:
    pool = _WRITES if call.write else _READS
    running = asyncio.get_running_loop().run_in_executor(pool, call.run)
    try:
        if not call.write:
            await named_pipes.end_what_waits(running, call.cwd, call.stop)
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        # What follows a cancelled call (a roll-back, an exit) must not meet a git still at work.
        call.stop()
        with contextlib.suppress(Exception):
            await running
        raise


class _Call:
    """One run of git, in a process group of its own, that another thread may stop."""

    def __init__(
        self,
        cwd: Path,
        args: tuple[str, ...],
        *,
        write: bool,
        timeout: float,
        discover: bool,
        most: int | None,
        heard: Callable[[bytes], None] | None,
    ) -> None:
        self.write = write
        self.cwd = cwd
        self._args = args
        self._timeout = timeout
        self._discover = discover
        self._most = most
        self._told = heard
        self._stopped = threading.Event()
        self._process: Any = None
        self._ended = False

    def run(self) -> Output:
        """Run to the end or the time limit; called in a thread of the pool."""
        _usable_version()
        if self._stopped.is_set():
            return Output(b"", "stopped", 1)
        self._process = process = self._start()
        if self._stopped.is_set():
            self._end(signal.SIGTERM)
        try:
            out, err, cut = self._heard(process)
        except subprocess.TimeoutExpired:
            self._kill()
            raise SpinneyError(
                f"git {_subcommand(self._args)} took longer than {self._timeout:g} seconds in "
                f"{self.cwd} and was stopped. "
                "Look whether the disk or the remote answers, then try again.",
                "timeout",
            ) from None
        finally:
            self._ended = True
        return Output(
            out, err.decode("utf-8", "replace"), 0 if cut else process.returncode, cut=cut
        )

    def _heard(self, process: Any) -> tuple[bytes, bytes, bool]:
        """Standard output and error, and whether git was ended for saying too much."""
        if self._most is None and self._told is None:
            return (*process.communicate(timeout=self._timeout), False)
        deadline = time.monotonic() + self._timeout
        most = math.inf if self._most is None else self._most
        out, err = bytearray(), bytearray()
        with selectors.DefaultSelector() as open_pipes:
            open_pipes.register(process.stdout, selectors.EVENT_READ, out)
            open_pipes.register(process.stderr, selectors.EVENT_READ, err)
            while open_pipes.get_map() and len(out) <= most:
                for key, _ in open_pipes.select(max(0, deadline - time.monotonic())):
                    piece = os.read(key.fd, _PIECE)
                    key.data.extend(piece)
                    if self._told is not None and key.data is err:
                        self._told(piece)
                    if not piece:
                        open_pipes.unregister(key.fileobj)
                if time.monotonic() > deadline:
                    raise subprocess.TimeoutExpired("git", self._timeout)
        cut = len(out) > most
        if cut:
            self._kill()
        process.communicate(timeout=_GRACE)
        return bytes(out[: self._most]), bytes(err), cut

    def stop(self) -> None:
        """Ask git to end; it takes its locks away."""
        self._stopped.set()
        if self._process is not None and not self._ended:
            self._end(signal.SIGTERM)

    def _start(self) -> Any:
        from git.cmd import Git
        from git.exc import GitCommandNotFound

        try:
            return Git(self.cwd).execute(
                self._command(), as_process=True, env=self._environment(), start_new_session=True
            )
        except GitCommandNotFound:
            raise _not_installed() from None
        except (ValueError, UnicodeError):
            raise SpinneyError("That text holds characters that git cannot take.") from None

    def _command(self) -> list[str]:
        # GitPython would run a call for a missing directory in Spinney's own: hence the check,
        # and `-C` for the moment after it.
        if not self.cwd.is_dir():
            raise SpinneyError(
                f"The directory does not exist any more: {self.cwd}. Put it back, or recreate or "
                "archive the worktree.",
                "not_found",
            )
        bare = ("--git-dir=.",) if looks_bare(self.cwd) else ()
        profile = () if self.write else (*_READ_PROFILE, *overrides(self.cwd))
        return ["git", "-C", str(self.cwd), *bare, *_NEVER, *profile, *self._args]

    def _environment(self) -> dict[str, str]:
        environment = dict(_ENVIRONMENT)
        if not self.write:
            environment["GIT_OPTIONAL_LOCKS"] = "0"
        if not self._discover:
            # A worktree that lost its `.git` must not be taken for the repository around it.
            environment["GIT_CEILING_DIRECTORIES"] = str(self.cwd.parent)
        return environment

    def _end(self, number: signal.Signals) -> None:
        # The group: a remote helper or a hook would go on and keep the pipes open.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _kill(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            self._end(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.communicate(timeout=_GRACE)
                return


_checked: dict[str, str] = {}
_checking = threading.Lock()


def _usable_version() -> str:
    """Load GitPython and look at the installed git, once; raise when it cannot serve."""
    program = shutil.which("git")
    if program is None:
        raise _not_installed()
    with _checking:
        if program not in _checked:
            _checked[program] = _look_at_git()
    version = _checked[program]
    numbers = tuple(int(part) for part in version.split(".")[:2])
    if numbers < OLDEST_GIT:
        wanted = ".".join(map(str, OLDEST_GIT))
        raise SpinneyError(
            f"git {version} is too old: Spinney needs git {wanted} or newer.",
            "backend_unavailable",
        )
    return version


def _look_at_git() -> str:
    for name in _OTHER_REPOSITORY:
        os.environ.pop(name, None)
    # Without it the import raises where git is missing; takes 140 ms, hence here.
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    from git.cmd import Git

    _, text, _ = Git().execute(
        ["git", "--version"], with_extended_output=True, with_exceptions=False
    )
    found = re.search(r"\d{1,9}\.\d{1,9}(?:\.\d{1,9})*", str(text))
    if found is None:
        raise SpinneyError(
            f"The program “git” does not answer like git: {_plain(str(text)) or 'no answer'}",
            "backend_unavailable",
        )
    return found.group()


def _not_installed() -> SpinneyError:
    return SpinneyError(
        "git is not installed, or not on the PATH. Install git, then start Spinney again.",
        "backend_unavailable",
    )


def _plain(text: str) -> str:
    return without_credentials(make_output_visible(text))


def _words(stderr: str) -> str:
    """Git's text from its first error on, without labels and hints on how to configure git."""
    if _NAMELESS in stderr:
        return _NAMELESS_WORDS
    if stderr.startswith(_HOMELESS):
        return _HOMELESS_WORDS
    lines = [line for line in _plain(stderr).strip().splitlines() if not line.startswith("hint:")]
    first = next((n for n, line in enumerate(lines) if line.startswith(_LABELS)), 0)
    return "\n".join(_LABEL.sub("", line) for line in lines[first:]).strip()
