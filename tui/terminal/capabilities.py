"""Capabilities of the terminal, and a clean exit on signals and hang-ups.

Capabilities are read from the environment once, at start: probing costs a round trip over SSH.
"""

import asyncio
import os
import select
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.terminal.notifications import NotificationProtocol, detect_protocol, has_title
from tui.terminal.sequences import ESCAPE_DELAY, REMOTE_ESCAPE_DELAY

if TYPE_CHECKING:
    from model.domain.findings import Finding
    from tui.terminal.supervisor import ForegroundProcess

MIN_WIDTH = 60
MIN_HEIGHT = 15
WIDE = 100
"""With at least this many columns the projects are beside the chat instead of over it."""
MAX_ESCAPE_DELAY = 2.0
"""Maximum seconds that `ESCDELAY` can set."""
_COERCED = ("C.UTF-8", "C.utf8", "UTF-8")
"""Values that Python itself sets in `LC_CTYPE`."""
_NO_BRAILLE = ("", "dumb", "linux")
"""Values of `TERM` for which the spinner's characters are not to be expected."""
EXIT_TIMEOUT = 2.0
"""Seconds that a terminal has to accept pending output after a signal to exit."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """The properties of the terminal that affect drawing."""

    remote: bool = False
    """Whether it is reached over SSH: fewer frames per second."""
    tmux: bool = False
    colors: bool = True
    """Whether colors other than grays are used (`NO_COLOR`)."""
    dark: bool = True
    """Whether the background is dark according to `COLORFGBG`, until the terminal reports it;
    true if neither does."""
    ascii_signs: bool = False
    """Whether icons and boxes are drawn with ASCII characters only."""
    screen_reader: bool = False
    """Screen-reader mode: no boxes, words instead of icons, no animation."""

    motion: bool = False
    """Whether a spinner turns beside what runs."""
    notification_protocol: NotificationProtocol = ""
    """The escape sequence for desktop notifications."""
    has_title: bool = False
    """Whether its title can be set."""

    @property
    def frame(self) -> float:
        """Minimum seconds between two updates of the screen."""
        return 1 / 12 if self.remote else 1 / 30

    @property
    def text_frame(self) -> float:
        """Minimum seconds between two updates of streamed text.

        Each update takes about 300 bytes, and more if the projects are beside the text, because
        terminals scroll only whole rows.
        """
        return 1 / 4 if self.remote else self.frame

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Terminal":
        """The terminal described by the environment."""
        remote = bool(environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"))
        ascii_signs = _read_flag(environ, "SPINNEY_ASCII", _has_other_charset(environ))
        is_limited = remote or ascii_signs or environ.get("TERM", "") in _NO_BRAILLE
        return cls(
            remote=remote,
            tmux=bool(environ.get("TMUX")),
            colors=not environ.get("NO_COLOR"),
            dark=_is_dark(environ.get("COLORFGBG", "")),
            ascii_signs=ascii_signs,
            screen_reader=_read_flag(environ, "SPINNEY_PLAIN", False),
            motion=_read_flag(environ, "SPINNEY_MOTION", not is_limited),
            notification_protocol=detect_protocol(environ),
            has_title=has_title(environ),
        )


def _read_flag(environ: Mapping[str, str], name: str, default: bool) -> bool:
    value = environ.get(name, "").lower()
    return value not in ("0", "no", "false") if value else default


def _has_other_charset(environ: Mapping[str, str]) -> bool:
    """Whether the locale specifies a character set other than UTF-8, or is the C locale."""
    names = ["LC_ALL", "LC_CTYPE", "LANG"]
    if environ.get("LC_CTYPE") in _COERCED and environ.get("LANG") and not environ.get("LC_ALL"):
        # Python sets it in its own environment if the locale is C or not installed (PEP 538).
        # Terminals configured for UTF-8 have it in LANG as well.
        names.remove("LC_CTYPE")
    charset = next(filter(None, map(environ.get, names)), "utf-8").lower()
    return "utf-8" not in charset and "utf8" not in charset


def escape_delay(environ: Mapping[str, str]) -> float:
    """Seconds after which a lone ESC is the escape key: `ESCDELAY` (in milliseconds), or a default
    for a local or remote terminal.
    """
    value = environ.get("ESCDELAY", "")
    if value.isdecimal():
        return min(int(value[:6]) / 1000, MAX_ESCAPE_DELAY)
    return REMOTE_ESCAPE_DELAY if Terminal.from_environ(environ).remote else ESCAPE_DELAY


def _is_dark(colorfgbg: str) -> bool:
    """Parse `COLORFGBG`: `foreground;background`, as indexes of the 16 colors."""
    background = colorfgbg.rpartition(";")[2]
    # 7 is light gray and 9 to 15 are the bright colors; 8 is dark gray.
    return not (background.isdigit() and (int(background) == 7 or int(background) > 8))


def size_problem(width: int, height: int) -> str | None:
    """A message if the terminal is too small, else `None`."""
    if width >= MIN_WIDTH and height >= MIN_HEIGHT:
        return None
    return (
        f"Spinney needs at least {MIN_WIDTH}×{MIN_HEIGHT}.\n"
        f"This terminal is {width}×{height}. Make it larger."
    )


def examine_terminal() -> "Finding":
    """The doctor's finding about the terminal."""
    from model.domain.findings import Finding

    if not sys.stdout.isatty():
        return Finding("terminal", None, "not checked: the output is not a terminal")
    size = shutil.get_terminal_size()
    terminal = Terminal.from_environ(os.environ)
    facts = [f"{size.columns}×{size.lines}", "dark" if terminal.dark else "light"]
    facts += ["colors" if terminal.colors else "no colors (NO_COLOR)"]
    facts += ["over SSH"] if terminal.remote else []
    facts += ["in tmux"] if terminal.tmux else []
    problem = size_problem(size.columns, size.lines)
    if os.environ.get("TERM") == "dumb":
        problem = "Spinney cannot draw with TERM=dumb. Use another terminal, or the web page."
    return Finding("terminal", problem is None, ", ".join(facts), problem or "")


def exit_on_hangup(
    on_signal: Callable[[int], object],
    exit_app: Callable[[], object],
    foreground: "ForegroundProcess | None" = None,
) -> None:
    """Exit cleanly on SIGTERM and SIGHUP, even if the terminal does not accept output any more.

    Their default action ends the process immediately and leaves mouse reports, the alternate
    screen and the keyboard protocol switched on. Must be called on the main thread. `on_signal` is
    called immediately for every such signal, `exit_app` on the event loop. A hang-up of the
    terminal or of the supervisor process counts as SIGHUP.
    """
    loop = asyncio.get_running_loop()
    # Signal handlers have no active app, but drawing the last screen requires one.
    context = copy_context()
    is_exiting = threading.Event()

    # A handler of the loop would not run: a terminal that does not read blocks the loop in a write.
    def handle(number: int, _frame: object) -> None:
        on_signal(number)
        if is_exiting.is_set() or loop.is_closed():
            return
        is_exiting.set()
        loop.call_soon_threadsafe(exit_app, context=context)
        timer = threading.Timer(EXIT_TIMEOUT, _stop_writing, [number])
        timer.daemon = True
        timer.start()

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, handle)
    args = (sys.stdin.fileno(), foreground)
    threading.Thread(target=_watch_terminal, args=args, daemon=True).start()


def _watch_terminal(terminal: int, foreground: "ForegroundProcess | None") -> None:
    """Raise SIGHUP when the terminal hangs up, if the system does not.

    The system sends it only to the session that the terminal controls. In other sessions reads
    return nothing immediately, forever, in a busy loop.
    """
    poller = select.poll()
    poller.register(terminal, 0)  # hang-ups are always reported
    if foreground is not None:
        poller.register(foreground, select.POLLIN)
    while True:
        events = dict(poller.poll())
        if any(flags & select.POLLHUP for flags in events.values()):
            break
        if foreground is None or any(flags & select.POLLNVAL for flags in events.values()):
            return
        foreground.receive()
    if terminal in events:
        _discard_output()
    os.kill(os.getpid(), signal.SIGHUP)


def _discard_output() -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(null, descriptor)
    os.close(null)


def _stop_writing(number: int) -> None:
    """Discard all output, and interrupt threads that are blocked in a write to the terminal."""
    _discard_output()
    for thread in threading.enumerate():
        if thread.ident is not None:
            with suppress(ProcessLookupError):
                # The interrupted write is retried, and discarded.
                signal.pthread_kill(thread.ident, number)
