"""The foreground process that the shell waits for, while Spinney runs in another process.

Agents must outlive their terminal, and a shell takes its terminal back only when the process that
it started has exited or stopped. So that process only waits: it exits when Spinney continues
without a screen, and stops on `ctrl+z`. Spinney itself runs in its own session, where no terminal
can stop or end it. Standard library only: this is forked before anything else is imported.
"""

import os
import signal
import socket
import termios
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

_DETACH, _FAILED, _STOP, _CONTINUE = b"l", b"f", b"s", b"g"
_RESTARTING, _RUNNING = b"r", b"u"
_INHERITED = "SPINNEY_FOREGROUND"
"""Environment variable with the descriptor of the channel, for a process that replaces itself."""
_RELEASE_TIMEOUT = 30
"""Seconds that Spinney has to exit or detach after its terminal hung up."""
_RESET_TERMINAL = (
    "\x1b[?2026l\x1b[r\x1b[m"  # An unfinished frame, its scroll region and its style.
    "\x1b[<u\x1b[?1049l\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l"
    "\x1b[?1004l\x1b[?2004l\x1b[?2048l\x1b[?7h\x1b[?25h"
)
"""Resets terminal modes after Spinney was killed."""
_RESET_EXTENSIONS = "\x1b[?2031l\x1b[23;2t\x1b]22;\x1b\\"
"""The same for modes of capable terminals only: color reports, the saved title, and the pointer
shape."""
_LIMITED_TERMINALS = ("", "dumb", "linux", "unknown")
"""Values of `TERM` for terminals that would print it, or cannot save a title."""


class ForegroundProcess:
    """Spinney's connection to the foreground process (the supervisor)."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._continued = threading.Event()

    def fileno(self) -> int:
        """The file descriptor for polling; it hangs up when the foreground process exits."""
        return self._channel.fileno()

    def detach(self, *, failed: bool = False) -> None:
        """Release the terminal for good: the foreground process exits, this process continues.

        With `failed`, its exit code is 1.
        """
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os.close(null)
        with suppress(OSError):
            self._channel.send(_FAILED if failed else _DETACH)
        self._channel.close()

    def prepare_restart(self) -> dict[str, str]:
        """Keep the channel for the program that replaces this process.

        Returns the environment variables that it needs; none after `detach`.
        """
        if self._channel.fileno() < 0:
            return {}
        with suppress(OSError):
            self._channel.send(_RESTARTING)
        self._channel.set_inheritable(True)
        return {_INHERITED: str(self._channel.fileno())}

    def report_running(self) -> None:
        """Report that this process, which may have replaced another version, has started."""
        with suppress(OSError):
            self._channel.send(_RUNNING)

    def suspend(self) -> None:
        """Suspend to the shell, until the job is resumed or `resume` is called."""
        self._continued.clear()
        with suppress(OSError):
            self._channel.send(_STOP)
        self._continued.wait()

    def resume(self) -> None:
        """End a `stop`, from a signal or another thread."""
        self._continued.set()

    def receive(self) -> None:
        """Read and handle a message of the foreground process."""
        if self._channel.recv(1) == _CONTINUE:
            self.resume()


def run_supervised(work: Callable[[ForegroundProcess], int]) -> int:
    """Run `work` in a supervised child process; returns the exit code in either process."""
    inherited = os.environ.pop(_INHERITED, "")
    if inherited:
        channel = socket.socket(fileno=int(inherited))
        channel.set_inheritable(False)
        return work(ForegroundProcess(channel))
    _wait_for_foreground()
    supervisor_end, worker_end = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        supervisor_end.close()
        os.setsid()
        return work(ForegroundProcess(worker_end))
    worker_end.close()
    return _Supervisor(pid, supervisor_end).wait()


class _Supervisor:
    """The foreground process."""

    def __init__(self, pid: int, channel: socket.socket) -> None:
        self._pid = pid
        self._channel = channel
        self._is_hung_up = False
        self._is_restarting = False
        """Whether another version has not started yet."""
        self._modes = termios.tcgetattr(0)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGWINCH):
            signal.signal(number, self._forward)
        signal.signal(signal.SIGTSTP, self._forward)

    def wait(self) -> int:
        """Wait until Spinney exits or detaches; returns the exit code."""
        while message := self._channel.recv(1):
            if message in (_DETACH, _FAILED):
                self._write_error(f"Spinney keeps running in the background (process {self._pid}).")
                self._write_error("`spinney` attaches to it, `spinney stop` ends it.")
                return int(message == _FAILED)
            if message in (_RESTARTING, _RUNNING):
                self._is_restarting = message == _RESTARTING
            else:
                self._stop()
        _, status = os.waitpid(self._pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code and self._is_restarting:
            self._write_error("The installed version of Spinney did not start. Your data is kept.")
            self._write_error("Install the version before, then run: spinney")
        if code >= 0:
            return code
        with suppress(OSError, termios.error):
            has_extensions = os.environ.get("TERM", "") not in _LIMITED_TERMINALS
            os.write(
                1, f"{_RESET_TERMINAL}{_RESET_EXTENSIONS if has_extensions else ''}\r\n".encode()
            )
            termios.tcsetattr(0, termios.TCSADRAIN, self._modes)
        self._write_error(f"spinney: It was killed (signal {-code}). Accepted messages are saved.")
        return 128 - code

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        # Only this process receives the signals of the terminal.
        with suppress(ProcessLookupError):
            os.kill(self._pid, number)
        if number == signal.SIGHUP:
            self._is_hung_up = True
            signal.alarm(_RELEASE_TIMEOUT)

    def _stop(self) -> None:
        """Stop this job until the shell brings it to the foreground again."""
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(0, signal.SIGTSTP)
        _wait_for_foreground(lambda: self._is_hung_up)
        signal.signal(signal.SIGTSTP, self._forward)
        with suppress(OSError):
            self._channel.send(_CONTINUE)

    def _write_error(self, sentence: str) -> None:
        with suppress(OSError):
            os.write(2, f"{sentence}\n".encode())


def _wait_for_foreground(should_stop: Callable[[], bool] = lambda: False) -> None:
    """Stop while this is a background job of the shell: both would read the terminal's keys."""
    with suppress(OSError):  # Without a controlling terminal there are no background jobs.
        while not should_stop() and os.tcgetpgrp(0) != os.getpgrp():
            os.kill(os.getpid(), signal.SIGSTOP)
