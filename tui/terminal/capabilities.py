"""What this terminal can do, and how it is given back whole.

Read from the environment once, at start: probing a terminal costs a round trip over SSH.
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

from tui.terminal.notifications import Way, has_title, way_of
from tui.terminal.sequences import ESCAPE_DELAY, REMOTE_ESCAPE_DELAY

if TYPE_CHECKING:
    from model.domain.findings import Finding
    from tui.terminal.supervisor import Leash

LEAST_WIDTH = 60
LEAST_HEIGHT = 15
WIDE = 100
"""Columns from which the projects stand beside the chat instead of over it."""
LONGEST_ESCAPE_DELAY = 2.0
"""Seconds that `ESCDELAY` may ask for at most."""
_COERCED = ("C.UTF-8", "C.utf8", "UTF-8")
"""What Python writes into `LC_CTYPE` by itself."""
LAST_WORDS = 2.0
"""Seconds that a terminal has to take what is written to it when Spinney is told to end."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """The facts that change how Spinney draws."""

    remote: bool = False
    """Reached over SSH: fewer frames a second."""
    tmux: bool = False
    colors: bool = True
    """Whether there are any but greys (`NO_COLOR`)."""
    dark: bool = True
    """What `COLORFGBG` says of the background, until the terminal says it itself; dark where
    neither does."""
    ascii_signs: bool = False
    """Signs and boxes are drawn with ASCII characters alone."""
    plain: bool = False
    """For ears: no boxes, words instead of signs, nothing that moves."""

    notes: Way = ""
    """How the desktop can be made to notify."""
    titled: bool = False
    """Whether it has a title that can be set."""

    @property
    def frame(self) -> float:
        """Seconds between two changes of the screen."""
        return 1 / 12 if self.remote else 1 / 30

    @property
    def text_frame(self) -> float:
        """Seconds between two changes of text that is being written.

        Each is some 300 bytes for the wire, and more where the projects stand beside the text:
        terminals scroll whole rows only.
        """
        return 1 / 4 if self.remote else self.frame

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "Terminal":
        """The terminal that this environment describes."""
        return cls(
            remote=bool(environ.get("SSH_CONNECTION") or environ.get("SSH_TTY")),
            tmux=bool(environ.get("TMUX")),
            colors=not environ.get("NO_COLOR"),
            dark=_is_dark(environ.get("COLORFGBG", "")),
            ascii_signs=_wants(environ, "SPINNEY_ASCII", _has_other_charset(environ)),
            plain=_wants(environ, "SPINNEY_PLAIN", False),
            notes=way_of(environ),
            titled=has_title(environ),
        )


def _wants(environ: Mapping[str, str], name: str, usually: bool) -> bool:
    given = environ.get(name, "").lower()
    return given not in ("0", "no", "false") if given else usually


def _has_other_charset(environ: Mapping[str, str]) -> bool:
    """Whether the locale names a character set that is not UTF-8, or is that of plain C."""
    names = ["LC_ALL", "LC_CTYPE", "LANG"]
    if environ.get("LC_CTYPE") in _COERCED and environ.get("LANG") and not environ.get("LC_ALL"):
        # Python sets it in its own environment where it finds plain C, or a locale that is not
        # installed (PEP 538). Terminals that were told of UTF-8 have it in LANG, too.
        names.remove("LC_CTYPE")
    charset = next(filter(None, map(environ.get, names)), "utf-8").lower()
    return "utf-8" not in charset and "utf8" not in charset


def escape_delay(environ: Mapping[str, str]) -> float:
    """Seconds after which an ESC that nothing followed is a key: `ESCDELAY` milliseconds, or what
    the line needs.
    """
    given = environ.get("ESCDELAY", "")
    if given.isdecimal():
        return min(int(given[:6]) / 1000, LONGEST_ESCAPE_DELAY)
    return REMOTE_ESCAPE_DELAY if Terminal.of(environ).remote else ESCAPE_DELAY


def _is_dark(colorfgbg: str) -> bool:
    """`COLORFGBG` is `foreground;background` in the numbers of the sixteen colours."""
    background = colorfgbg.rpartition(";")[2]
    # 7 is light grey and 9 to 15 are the bright colours; 8 is a dark grey.
    return not (background.isdigit() and (int(background) == 7 or int(background) > 8))


def size_problem(width: int, height: int) -> str | None:
    """A sentence where the terminal is too small to be of use."""
    if width >= LEAST_WIDTH and height >= LEAST_HEIGHT:
        return None
    return (
        f"Spinney needs {LEAST_WIDTH}×{LEAST_HEIGHT}.\n"
        f"This terminal is {width}×{height}: make it larger."
    )


def examine_terminal() -> "Finding":
    """What the doctor says of the terminal that it prints to."""
    from model.domain.findings import Finding

    if not sys.stdout.isatty():
        return Finding("terminal", None, "not looked at: the output goes elsewhere")
    size = shutil.get_terminal_size()
    terminal = Terminal.of(os.environ)
    facts = [f"{size.columns}×{size.lines}", "dark" if terminal.dark else "light"]
    facts += ["colours" if terminal.colors else "no colours (NO_COLOR)"]
    facts += ["over SSH"] if terminal.remote else []
    facts += ["in tmux"] if terminal.tmux else []
    problem = size_problem(size.columns, size.lines)
    if os.environ.get("TERM") == "dumb":
        problem = "Spinney cannot draw where TERM is dumb. Use another terminal, or the page."
    return Finding("terminal", problem is None, ", ".join(facts), problem or "")


def exit_on_hang_up(
    told: Callable[[int], object], leave: Callable[[], object], leash: "Leash | None" = None
) -> None:
    """Leave in good order on SIGTERM and SIGHUP, also when the terminal takes nothing any more.

    Their default action ends the process at once and leaves the terminal with mouse reports, the
    alternate screen and the keyboard protocol switched on. For the main thread of a program; `told`
    hears every such signal at once and `leave` is called on the loop. The end of the terminal, or
    of the process in front of this one, counts as SIGHUP.
    """
    loop = asyncio.get_running_loop()
    # A signal's handler knows no application, and drawing the last screen to keep it asks for one.
    context = copy_context()
    asked = threading.Event()

    # A handler of the loop would not run: a terminal that does not read blocks the loop.
    def handle(number: int, _frame: object) -> None:
        told(number)
        if asked.is_set() or loop.is_closed():
            return
        asked.set()
        loop.call_soon_threadsafe(leave, context=context)
        patience = threading.Timer(LAST_WORDS, _stop_writing, [number])
        patience.daemon = True
        patience.start()

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, handle)
    args = (sys.stdin.fileno(), leash)
    threading.Thread(target=_tell_of_end, args=args, daemon=True).start()


def _tell_of_end(terminal: int, leash: "Leash | None") -> None:
    """Make the end of the terminal a SIGHUP also where the system sends none.

    It sends one to the session that the terminal controls; others only read nothing from then on,
    for ever and at once, which is all the work that a processor can do.
    """
    watch = select.poll()
    watch.register(terminal, 0)  # a hang-up is told unasked
    if leash is not None:
        watch.register(leash, select.POLLIN)
    while True:
        heard = dict(watch.poll())
        if any(flags & select.POLLHUP for flags in heard.values()):
            break
        if leash is None or any(flags & select.POLLNVAL for flags in heard.values()):
            return
        leash.heard()
    if terminal in heard:
        _turn_output_away()
    os.kill(os.getpid(), signal.SIGHUP)


def _turn_output_away() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _stop_writing(number: int) -> None:
    """Turn all output away, and wake whoever is stuck in writing to the terminal."""
    _turn_output_away()
    for thread in threading.enumerate():
        if thread.ident is not None:
            with suppress(ProcessLookupError):
                # The interrupted write is tried again, and goes nowhere.
                signal.pthread_kill(thread.ident, number)
