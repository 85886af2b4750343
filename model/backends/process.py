"""An agent's program as a subprocess that speaks JSON lines: started, read, written to, ended.

The one place that starts agents. Nothing it started outlives `close`, whatever the program does.
"""

import asyncio
import json
import logging
import os
import shlex
import signal
import uuid
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from model.backends import process_table
from model.backends.framing import LineSplitter, TooLong
from model.backends.pipes import Output, opened_input
from model.backends.process_table import Member
from model.backends.traffic import UNRECORDED, Record
from model.base.errors import SpinneyError
from model.base.text import clean_line, make_output_visible

AGENT: Final = "SPINNEY_AGENT"
"""The environment variable by which everything that one agent started is found."""

CLOSE_PATIENCE: Final = 1.5
"""Seconds to end after stdin was closed."""

TERM_PATIENCE: Final = 2.0
"""Seconds to end after SIGTERM."""

_WRITE_PATIENCE: Final = 30.0
_DRAIN_PATIENCE: Final = 0.25
"""Seconds without output after which a dead program's pipe counts as read, whoever holds it."""

_SETTLE_PATIENCE: Final = 0.4
_END_PATIENCE: Final = 5.0

_GLANCE: Final = 0.5
"""Seconds in which a program that is at work shows it."""
"""Seconds to end after the end of its output; hundredths are usual, a busy machine takes more."""

_STDERR_LINES: Final = 20
_STDERR_LINE_LENGTH: Final = 500
_SHOWN_LINES: Final = 3
_SHOWN_LENGTH: Final = 600
"""Of stderr, to people; the log has the rest."""

_TRACEBACK: Final = ("Traceback (most recent call last)", 'File "')
"""How its lines begin; of a long one the first is not kept."""

# Spinney's own settings are no business of agents, but `spinney call` needs these to find us.
_PASSED_ON: Final = {"SPINNEY_CONFIG_DIR", "SPINNEY_DATA_DIR"}

# Set inside a Claude Code session; a nested one would take itself for a part of that.
_NOT_PASSED_ON: Final = {"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID"}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Said:
    """A line that is a JSON object."""

    value: dict[str, Any]
    raw: bytes = field(default=b"", compare=False, repr=False)
    """The line itself."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that is not; `reason` says why, `text` is its cleaned beginning."""

    reason: str
    text: str = ""
    raw: bytes = field(default=b"", compare=False, repr=False)


ExitCode = int | None | Literal["at work"]
"""Of a short command: `None` for one that hangs, `at work` for one that only takes its time, such
as the first start of a program on a busy machine."""


async def output_of(
    argv: Sequence[str], cwd: Path, environment: Mapping[str, str], patience: float
) -> tuple[ExitCode, str]:
    """Exit code and stdout of a short command; stderr where it fails without a word on stdout.

    One that cannot be started fails like one that refuses. Nothing of it is left.
    """
    try:
        process = await AgentProcess.start(argv, cwd, environment)
    except SpinneyError:
        return 1, ""
    try:
        async with asyncio.timeout(patience):
            output = await process.output()
            await process.exited()
    except TimeoutError:
        return ("at work" if await process.is_at_work() else None), ""
    else:
        if process.returncode and not output:
            await process.settled()
            output = process.stderr_tail
        return process.returncode, output
    finally:
        await process.kill()


def agent_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Spinney's environment without what is meant for Spinney alone, and with `extra`."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _NOT_PASSED_ON and (not name.startswith("SPINNEY_") or name in _PASSED_ON)
    }
    return {**kept, **extra}


class AgentProcess:
    """A running program. Make one with `start`."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        mark: str,
        stdin: asyncio.StreamWriter,
        stdout: Output,
        stderr: Output,
        record: Record,
    ) -> None:
        self._process = process
        self._mark = mark
        self._stdin = stdin
        self._stdout = stdout
        self._stderr = stderr
        self._record = record
        self._stderr_tail: deque[str] = deque(maxlen=_STDERR_LINES)
        self._write_lock = asyncio.Lock()
        self._close_lock = asyncio.Lock()
        self._closed = False
        self._tasks = [
            asyncio.create_task(self._keep_stderr_tail()),
            asyncio.create_task(self._let_go_of_pipes()),
        ]

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        record: Record = UNRECORDED,
    ) -> "AgentProcess":
        """Start `argv` in `cwd` with exactly this environment (plus a mark of its own).

        `record` takes how it starts and ends, and what it says on stderr.

        Raises `backend_unavailable` when the system cannot start it.
        """
        mark = uuid.uuid4().hex
        # Pipes of our own: asyncio's `Process.wait` does not return while a grandchild holds the
        # pipes that asyncio made (3.11 to 3.13), and gives no way to let go of them.
        pipes = [os.pipe() for _ in range(3)]
        (stdin_read, stdin_write), (stdout_read, stdout_write), (stderr_read, stderr_write) = pipes
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=stdin_read,
                stdout=stdout_write,
                stderr=stderr_write,
                cwd=cwd,
                env={**environment, AGENT: mark},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            for ours in (stdin_write, stdout_read, stderr_read):
                os.close(ours)
            raise _not_started(argv[0], cwd, error) from error
        finally:
            for theirs in (stdin_read, stdout_write, stderr_write):
                os.close(theirs)
        record("\u00b7", f"started in {cwd}: {shlex.join(argv)}")
        return cls(
            process,
            mark,
            await opened_input(stdin_write),
            await Output.open(stdout_read),
            await Output.open(stderr_read),
            record,
        )

    @property
    def pid(self) -> int:
        """The program's process id, which is also its group's and session's."""
        return self._process.pid

    async def is_at_work(self) -> bool:
        """Whether it, or what it started, uses the processors just now."""
        before = await self._processor_time()
        await asyncio.sleep(_GLANCE)
        return await self._processor_time() > before

    async def _processor_time(self) -> int:
        return sum(process_table.processor_time(member.pid) for member in await self._family())

    @property
    def returncode(self) -> int | None:
        """The exit code, the negative signal that killed it, or `None` while it runs."""
        return self._process.returncode

    @property
    def stderr_tail(self) -> str:
        """The last lines of stderr, cleaned."""
        return "\n".join(self._stderr_tail)

    def ending(self, name: str) -> str:
        """How the program `name` ended in mid-turn, what to do, and what it said last."""
        code = self.returncode
        if code is None:
            how = "stopped talking"
        elif code < 0:
            how = f"was killed ({_signal_name(-code)})"
        else:
            how = f"ended unexpectedly (exit code {code})"
        tail = self.stderr_tail
        if tail:
            _log.info("%s ended; its last lines on stderr:\n%s", name, tail)
        # Killed so, it could say nothing any more: what stands there is of before.
        last = None if code == -signal.SIGKILL else _last_words(list(self._stderr_tail))
        words = f" Its last words: {last}" if last else ""
        return f"{name} {how}. Send a message to start it again.{words}"

    async def exited(self) -> None:
        """Wait until the program itself is gone, whoever still holds its pipes."""
        await self._process.wait()

    async def settled(self) -> None:
        """Wait a moment for the exit code and the last of stderr of a program that is ending."""
        ended = await self._ended_within(_SETTLE_PATIENCE)
        if ended or (self._stdout.ended and await self._ended_within(_END_PATIENCE)):
            await asyncio.wait(self._tasks[:1], timeout=_SETTLE_PATIENCE)

    async def output(self) -> str:
        """All that the program says, which gets no stdin."""
        self._stdin.close()
        chunks = []
        while chunk := await self._stdout.read():
            chunks.append(chunk)
        return b"".join(chunks).decode(errors="replace")

    async def lines(self) -> AsyncIterator[Said | Unreadable]:
        """What the program says, until it ends. It waits for us: the pipe fills and blocks it."""
        splitter = LineSplitter()
        while chunk := await self._stdout.read():
            for line in splitter.feed(chunk):
                if said := _parsed(line):
                    yield said
        for line in splitter.rest():
            # Its end cut the last line off, or it is whole but for the newline.
            if isinstance(said := _parsed(line), Said):
                yield said

    async def write(self, value: Mapping[str, Any]) -> None:
        """Write one JSON line. Raises `backend_error` when the program does not take it."""
        data = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        try:
            async with self._write_lock, asyncio.timeout(_WRITE_PATIENCE):
                self._stdin.write(data.encode(errors="replace") + b"\n")
                await self._stdin.drain()
        except (OSError, RuntimeError, TimeoutError) as error:
            raise SpinneyError(
                "The agent's program does not listen any more. Send the message again.",
                "backend_error",
            ) from error

    async def close(self) -> None:
        """Close stdin and wait, then SIGTERM and wait, then SIGKILL; nothing of it is left."""
        async with self._close_lock:
            if self._closed:
                return
            self._stdin.close()
            known: set[Member] = set()
            if not await self._ended_within(CLOSE_PATIENCE):
                # Now, while the parents live: what clears its environment is known only by them.
                known = await self._family()
                self._signal_group(signal.SIGTERM)
                await self._ended_within(TERM_PATIENCE)
            await self._kill_all(known)

    async def kill(self) -> None:
        """SIGKILL the program and all that it started, at once."""
        async with self._close_lock:
            if not self._closed:
                await self._kill_all(set())

    async def _kill_all(self, known: set[Member]) -> None:
        known |= await self._family()
        self._signal_group(signal.SIGKILL)
        await asyncio.to_thread(process_table.kill, known)
        await self._process.wait()
        # What was forked while we looked still carries the mark.
        await asyncio.to_thread(process_table.kill, await self._family())
        self._closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._stdin.close()
        self._stdout.let_go()
        self._stderr.let_go()

    async def _family(self) -> set[Member]:
        root = self.pid if self.returncode is None else None
        return await asyncio.to_thread(process_table.family, root, AGENT, self._mark)

    def _signal_group(self, number: signal.Signals) -> None:
        # Without a table to read, the group is all that is known of what outlived its leader.
        if self.returncode is None or not process_table.READABLE:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    async def _ended_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._process.wait()
        except TimeoutError:
            return False
        return True

    async def _keep_stderr_tail(self) -> None:
        splitter = LineSplitter(limit=1024 * 1024)
        while chunk := await self._stderr.read():
            self._note_stderr(splitter.feed(chunk))
        self._note_stderr(splitter.rest())

    def _note_stderr(self, lines: Iterable[bytes | TooLong]) -> None:
        for line in lines:
            if isinstance(line, bytes):
                self._record("\u2190", line, "stderr")
                printed = line[: 4 * _STDERR_LINE_LENGTH].decode(errors="replace")
                text = clean_line(make_output_visible(printed))
                if text:
                    self._stderr_tail.append(text[:_STDERR_LINE_LENGTH])

    async def _let_go_of_pipes(self) -> None:
        """After the program's end: read what it left, then close, though others hold the pipes."""
        await self._process.wait()
        try:
            for output in (self._stderr, self._stdout):
                while not await output.silent_for(_DRAIN_PATIENCE):
                    pass
                output.let_go()
        finally:
            code = self.returncode or 0
            how = f"killed ({_signal_name(-code)})" if code < 0 else f"exit code {code}"
            self._record("\u00b7", f"ended: {how}")


def _parsed(line: bytes | TooLong) -> Said | Unreadable | None:
    if isinstance(line, TooLong):
        reason = f"a line of {line.size / 1024 / 1024:.0f} MB"
        return Unreadable(reason, raw=f"({reason})".encode())
    if not line.strip():
        return None
    text = line.decode(errors="replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return Said(value, line)
    return Unreadable("not JSON", clean_line(text[:_STDERR_LINE_LENGTH]), line)


def _not_started(program: str, cwd: Path, error: OSError | ValueError) -> SpinneyError:
    if not cwd.is_dir():
        return SpinneyError(f"The directory {cwd} is gone. Restore it, or archive the worktree.")
    reason = getattr(error, "strerror", None) or str(error)
    return SpinneyError(
        f"{program} could not be started: {reason}. Check that it is installed and may be run.",
        "backend_unavailable",
    )


def _last_words(lines: list[str]) -> str:
    """The end of what a program said, short enough for people; of a traceback its last line."""
    is_traceback = any(line.startswith(_TRACEBACK) for line in lines)
    shown = lines[-1:] if is_traceback else lines[-_SHOWN_LINES:]
    return "\n".join(shown)[-_SHOWN_LENGTH:]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
