"""Runs an agent's program as a subprocess that exchanges JSON lines.

The only place that starts agents. Nothing that was started outlives `close`, whatever it does.
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
from typing import Any, Final

from model.backends import process_table
from model.backends.framing import LineSplitter, OversizedLine
from model.backends.pipes import PipeReader, open_pipe_writer
from model.backends.process_table import ProcessRef
from model.backends.traffic import NULL_RECORDER, TrafficRecorder
from model.base.errors import SpinneyError, worktree_directory_missing
from model.base.inherited import NOT_INHERITED
from model.base.text import clean_line, make_output_visible

AGENT_VARIABLE: Final = "SPINNEY_AGENT"
"""The environment variable that marks everything started by one agent."""

CLOSE_TIMEOUT: Final = 1.5
"""Seconds to exit after stdin was closed."""

TERM_TIMEOUT: Final = 2.0
"""Seconds to exit after SIGTERM."""

_WRITE_TIMEOUT: Final = 30.0
_DRAIN_TIMEOUT: Final = 0.25
"""Seconds without output after which an exited program's pipe counts as drained, even if other
processes still hold it."""

_SETTLE_TIMEOUT: Final = 0.4
_EXIT_TIMEOUT: Final = 5.0
"""Seconds to exit after the end of its output; hundredths are usual, a busy machine takes more."""

_SAMPLE_TIME: Final = 0.5
"""Seconds over which CPU use is measured."""

_STDERR_LINES: Final = 20
_STDERR_LINE_LENGTH: Final = 500
_EXCERPT_LINES: Final = 3
_EXCERPT_LENGTH: Final = 600
"""Of stderr, shown to users; the log has the rest."""

_TRACEBACK: Final = ("Traceback (most recent call last)", 'File "')
"""How the lines of a traceback begin; the first line of a long one is not kept."""

# Agents do not get Spinney's own settings, but `spinney call` needs these to connect.
_INHERITED: Final = {"SPINNEY_CONFIG_DIR", "SPINNEY_DATA_DIR"}

# Set inside a Claude Code session; a nested one would think it is part of that session.
_NOT_INHERITED: Final = NOT_INHERITED | {
    "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID",
}  # fmt: skip

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class JsonLine:
    """A line that is a JSON object."""

    value: dict[str, Any]
    raw: bytes = field(default=b"", compare=False, repr=False)
    """The line as it was read."""


@dataclass(frozen=True, slots=True)
class InvalidLine:
    """A line that is not a JSON object: the reason, and its cleaned beginning."""

    reason: str
    text: str = ""
    raw: bytes = field(default=b"", compare=False, repr=False)


def build_agent_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Spinney's environment without the variables meant for Spinney alone, plus `extra`."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _NOT_INHERITED and (not name.startswith("SPINNEY_") or name in _INHERITED)
    }
    return {**kept, **extra}


class AgentProcess:
    """A running program. Create one with `start`."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        mark: str,
        stdin: asyncio.StreamWriter,
        stdout: PipeReader,
        stderr: PipeReader,
        recorder: TrafficRecorder,
    ) -> None:
        self._process = process
        self._mark = mark
        self._stdin = stdin
        self._stdout = stdout
        self._stderr = stderr
        self._record = recorder
        self._stderr_tail: deque[str] = deque(maxlen=_STDERR_LINES)
        self._write_lock = asyncio.Lock()
        self._close_lock = asyncio.Lock()
        self._closed = False
        self._tasks = [
            asyncio.create_task(self._read_stderr()),
            asyncio.create_task(self._drain_pipes()),
        ]

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        recorder: TrafficRecorder = NULL_RECORDER,
    ) -> "AgentProcess":
        """Start `argv` in `cwd` with exactly this environment (plus a mark of its own).

        `record` logs its start, its end and its stderr.

        Raises `backend_unavailable` if the system cannot start it.
        """
        mark = uuid.uuid4().hex
        # Pipes of our own: asyncio's `Process.wait` does not return while a grandchild holds the
        # pipes that asyncio made (3.11 to 3.13), and they cannot be closed.
        pipes = [os.pipe() for _ in range(3)]
        (stdin_read, stdin_write), (stdout_read, stdout_write), (stderr_read, stderr_write) = pipes
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=stdin_read,
                stdout=stdout_write,
                stderr=stderr_write,
                cwd=cwd,
                env={**environment, AGENT_VARIABLE: mark},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            for ours in (stdin_write, stdout_read, stderr_read):
                os.close(ours)
            raise _start_error(argv[0], cwd, error) from error
        finally:
            for theirs in (stdin_read, stdout_write, stderr_write):
                os.close(theirs)
        recorder("\u00b7", f"started in {cwd}: {shlex.join(argv)}")
        return cls(
            process,
            mark,
            await open_pipe_writer(stdin_write),
            await PipeReader.open(stdout_read),
            await PipeReader.open(stderr_read),
            recorder,
        )

    @property
    def pid(self) -> int:
        """The program's process id, also the id of its process group and session."""
        return self._process.pid

    async def is_busy(self) -> bool:
        """Whether it, or anything it started, is using the CPU right now."""
        before = await self._cpu_time()
        await asyncio.sleep(_SAMPLE_TIME)
        return await self._cpu_time() > before

    async def _cpu_time(self) -> int:
        return sum(process_table.get_cpu_time(member.pid) for member in await self._find_family())

    @property
    def returncode(self) -> int | None:
        """The exit code, the negated signal that killed it, or `None` while it runs."""
        return self._process.returncode

    @property
    def stderr_tail(self) -> str:
        """The last lines of stderr, cleaned."""
        return "\n".join(self._stderr_tail)

    def describe_exit(self, name: str) -> str:
        """How the program `name` ended during a turn, what to do, and its last output on stderr."""
        code = self.returncode
        if code is None:
            how = "stopped responding"
        elif code < 0:
            how = f"was killed ({_signal_name(-code)})"
        else:
            how = f"ended unexpectedly (exit code {code})"
        tail = self.stderr_tail
        if tail:
            _log.info("%s ended; its last lines on stderr:\n%s", name, tail)
        # SIGKILL leaves no time to print anything: the lines in the tail are older.
        excerpt = None if code == -signal.SIGKILL else _excerpt(list(self._stderr_tail))
        output = f" Last output: {excerpt}" if excerpt else ""
        return f"{name} {how}. Send a message to start it again.{output}"

    async def wait(self) -> None:
        """Wait until the program itself has exited, even if others still hold its pipes."""
        await self._process.wait()

    async def wait_settled(self) -> None:
        """Wait briefly for the exit code and the rest of stderr of a program that is ending."""
        ended = await self._exits_within(_SETTLE_TIMEOUT)
        if ended or (self._stdout.at_eof and await self._exits_within(_EXIT_TIMEOUT)):
            await asyncio.wait(self._tasks[:1], timeout=_SETTLE_TIMEOUT)

    async def read_output(self) -> str:
        """Close stdin and read all of stdout."""
        self._stdin.close()
        chunks = []
        while chunk := await self._stdout.read():
            chunks.append(chunk)
        return b"".join(chunks).decode(errors="replace")

    async def read_lines(self) -> AsyncIterator[JsonLine | InvalidLine]:
        """Lines of stdout, until it ends. A slow reader blocks the program: its pipe fills up."""
        splitter = LineSplitter()
        while chunk := await self._stdout.read():
            for line in splitter.feed(chunk):
                if parsed := _parse_line(line):
                    yield parsed
        for line in splitter.flush():
            # The last line was cut off, or is complete except for its newline.
            if isinstance(parsed := _parse_line(line), JsonLine):
                yield parsed

    async def write(self, value: Mapping[str, Any]) -> None:
        """Write one JSON line. Raises `backend_error` if the program does not accept it."""
        data = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        try:
            async with self._write_lock, asyncio.timeout(_WRITE_TIMEOUT):
                self._stdin.write(data.encode(errors="replace") + b"\n")
                await self._stdin.drain()
        except (OSError, RuntimeError, TimeoutError) as error:
            raise SpinneyError(
                "The agent's program no longer accepts input. Send the message again.",
                "backend_error",
            ) from error

    async def close(self) -> None:
        """Close stdin and wait, then SIGTERM and wait, then SIGKILL; no process is left behind."""
        async with self._close_lock:
            if self._closed:
                return
            self._stdin.close()
            known: set[ProcessRef] = set()
            if not await self._exits_within(CLOSE_TIMEOUT):
                # Now, while the parents run: one without its environment is found by descent.
                known = await self._find_family()
                self._signal_group(signal.SIGTERM)
                await self._exits_within(TERM_TIMEOUT)
            await self._kill_all(known)

    async def kill(self) -> None:
        """SIGKILL the program and everything it started, immediately."""
        async with self._close_lock:
            if not self._closed:
                await self._kill_all(set())

    async def _kill_all(self, known: set[ProcessRef]) -> None:
        known |= await self._find_family()
        self._signal_group(signal.SIGKILL)
        await asyncio.to_thread(process_table.kill, known)
        await self._process.wait()
        # Processes forked during the search still carry the mark.
        await asyncio.to_thread(process_table.kill, await self._find_family())
        self._closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._stdin.close()
        self._stdout.close()
        self._stderr.close()

    async def _find_family(self) -> set[ProcessRef]:
        root = self.pid if self.returncode is None else None
        return await asyncio.to_thread(process_table.find_family, root, AGENT_VARIABLE, self._mark)

    def _signal_group(self, number: signal.Signals) -> None:
        # Without `/proc`, the group is the only way to reach processes that outlived its leader.
        if self.returncode is None or not process_table.IS_AVAILABLE:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    async def _exits_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._process.wait()
        except TimeoutError:
            return False
        return True

    async def _read_stderr(self) -> None:
        splitter = LineSplitter(limit=1024 * 1024)
        while chunk := await self._stderr.read():
            self._keep_stderr(splitter.feed(chunk))
        self._keep_stderr(splitter.flush())

    def _keep_stderr(self, lines: Iterable[bytes | OversizedLine]) -> None:
        for line in lines:
            if isinstance(line, bytes):
                self._record("\u2190", line, "stderr")
                printed = line[: 4 * _STDERR_LINE_LENGTH].decode(errors="replace")
                text = clean_line(make_output_visible(printed))
                if text:
                    self._stderr_tail.append(text[:_STDERR_LINE_LENGTH])

    async def _drain_pipes(self) -> None:
        """Once the program has exited, read the rest, then close, even if others hold the pipes."""
        await self._process.wait()
        try:
            for pipe in (self._stderr, self._stdout):
                while not await pipe.is_silent_for(_DRAIN_TIMEOUT):
                    pass
                pipe.close()
        finally:
            code = self.returncode or 0
            how = f"killed ({_signal_name(-code)})" if code < 0 else f"exit code {code}"
            self._record("\u00b7", f"ended: {how}")


def _parse_line(line: bytes | OversizedLine) -> JsonLine | InvalidLine | None:
    if isinstance(line, OversizedLine):
        reason = f"a line of {line.size / 1024 / 1024:.0f} MB"
        return InvalidLine(reason, raw=f"({reason})".encode())
    if not line.strip():
        return None
    text = line.decode(errors="replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return JsonLine(value, line)
    return InvalidLine("not JSON", clean_line(text[:_STDERR_LINE_LENGTH]), line)


def _start_error(program: str, cwd: Path, error: OSError | ValueError) -> SpinneyError:
    if not cwd.is_dir():
        return worktree_directory_missing(str(cwd))
    reason = getattr(error, "strerror", None) or str(error)
    return SpinneyError(
        f"{program} could not be started: {reason}. Check that it is installed and executable.",
        "backend_unavailable",
    )


def _excerpt(lines: list[str]) -> str:
    """The end of a program's output, short enough to show; of a traceback only the last line."""
    is_traceback = any(line.startswith(_TRACEBACK) for line in lines)
    kept = lines[-1:] if is_traceback else lines[-_EXCERPT_LINES:]
    return "\n".join(kept)[-_EXCERPT_LENGTH:]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
