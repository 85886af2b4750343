"""The process that a shell waits for, in front of the Spinney that does the work.

Agents must outlive their terminal, and a shell takes its terminal back only when the process that
it started has ended or stopped. So that one does nothing but wait: it ends when Spinney goes on
without a screen, and stops when somebody goes back to the shell for a while. Spinney itself runs in
a session of its own, where no terminal can stop or end it. Standard library only: this is forked
before anything else is imported.
"""

import os
import signal
import socket
import termios
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

_LEAVE, _FAILED, _STOP, _GO_ON = b"l", b"f", b"s", b"g"
_LAST_PATIENCE = 30
"""Seconds that Spinney has to let go of a terminal that is gone."""
_WHOLE = (
    "\x1b[?2026l\x1b[r\x1b[m"  # The frame in which it died, its scroll region and its style.
    "\x1b[<u\x1b[?1049l\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l"
    "\x1b[?1004l\x1b[?2004l\x1b[?2048l\x1b[?7h\x1b[?25h"
)
"""Gives back what a killed program had switched on in the terminal."""
_ASKED_FOR = "\x1b[?2031l\x1b[23;2t\x1b]22;\x1b\\"
"""The same for what only terminals are sent that know it: reports of other colors, the title that
was kept, and the shape of the pointer."""
_KNOW_LITTLE = ("", "dumb", "linux", "unknown")
"""Values of `TERM` of those that would show it, or keep no title."""


class Leash:
    """Spinney's hold on the process in front of it."""

    def __init__(self, front: socket.socket) -> None:
        self._front = front
        self._continued = threading.Event()

    def fileno(self) -> int:
        """For those who watch it; hung up when the process in front is gone."""
        return self._front.fileno()

    def let_go(self, *, failed: bool = False) -> None:
        """Give up the terminal for good: the shell goes on, and so does this process.

        `failed` says that nobody wanted it: the exit code is 1.
        """
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        os.close(nowhere)
        with suppress(OSError):
            self._front.send(_FAILED if failed else _LEAVE)
        self._front.close()

    def stop(self) -> None:
        """Let the shell have the terminal until it is given back, or `go_on` is called."""
        self._continued.clear()
        with suppress(OSError):
            self._front.send(_STOP)
        self._continued.wait()

    def go_on(self) -> None:
        """End a `stop`, from a signal or another thread."""
        self._continued.set()

    def heard(self) -> None:
        """Take what the process in front says."""
        if self._front.recv(1) == _GO_ON:
            self.go_on()


def run_behind(work: Callable[[Leash], int]) -> int:
    """Run this in a process of its own, behind this one; the exit code of either."""
    _wait_for_foreground()
    front, behind = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        front.close()
        os.setsid()
        return work(Leash(behind))
    behind.close()
    return _Front(pid, front).wait()


class _Front:
    """The process in front."""

    def __init__(self, pid: int, leash: socket.socket) -> None:
        self._pid = pid
        self._leash = leash
        self._hung_up = False
        self._modes = termios.tcgetattr(0)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGWINCH):
            signal.signal(number, self._pass_on)
        signal.signal(signal.SIGTSTP, self._pass_on)

    def wait(self) -> int:
        """Serve Spinney until it has ended or lets go."""
        while word := self._leash.recv(1):
            if word in (_LEAVE, _FAILED):
                self._say(f"Spinney goes on without a screen (process {self._pid}).")
                self._say("`spinney` shows it again, `spinney stop` ends it.")
                return int(word == _FAILED)
            self._stop()
        _, status = os.waitpid(self._pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code >= 0:
            return code
        with suppress(OSError, termios.error):
            knows_more = os.environ.get("TERM", "") not in _KNOW_LITTLE
            os.write(1, f"{_WHOLE}{_ASKED_FOR if knows_more else ''}\r\n".encode())
            termios.tcsetattr(0, termios.TCSADRAIN, self._modes)
        self._say(f"spinney: It was killed (signal {-code}). What it had accepted is kept.")
        return 128 - code

    def _pass_on(self, number: int, _frame: FrameType | None) -> None:
        # Behind this process nothing of the terminal's is heard.
        with suppress(ProcessLookupError):
            os.kill(self._pid, number)
        if number == signal.SIGHUP:
            self._hung_up = True
            signal.alarm(_LAST_PATIENCE)

    def _stop(self) -> None:
        """Stop, with all of this job, until the shell brings it to the foreground again."""
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(0, signal.SIGTSTP)
        _wait_for_foreground(lambda: self._hung_up)
        signal.signal(signal.SIGTSTP, self._pass_on)
        with suppress(OSError):
            self._leash.send(_GO_ON)

    def _say(self, sentence: str) -> None:
        with suppress(OSError):
            os.write(2, f"{sentence}\n".encode())


def _wait_for_foreground(given_up: Callable[[], bool] = lambda: False) -> None:
    """Stand still while the shell runs this in its background: two would read its keys."""
    with suppress(OSError):  # A terminal that controls nobody has no background.
        while not given_up() and os.tcgetpgrp(0) != os.getpgrp():
            os.kill(os.getpid(), signal.SIGSTOP)
