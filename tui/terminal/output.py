"""Redirects Textual's frames to our painter.

Textual 8.2.8 has no public API for frames before they become bytes: `App._display` gets each one as
a `LayoutUpdate` (all rows) or a `ChopsUpdate` (spans of rows) of its compositor, and would write a
reset and all colors for every piece of text, for each change.
"""

import asyncio
import fcntl
import logging
import os
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from time import monotonic
from typing import IO, TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from rich.color import ColorSystem
from textual import events
from textual.app import App
from textual.message import Message
from textual.messages import TerminalSupportsSynchronizedOutput
from textual.strip import Strip

from tui.terminal.capabilities import Terminal
from tui.terminal.frame_difference import WriteOptions
from tui.terminal.input_parser import StatusReported
from tui.terminal.pacing import Pacer
from tui.terminal.painter import Painter
from tui.terminal.sgr import PLAIN, Pen, pen_of
from tui.terminal.textual_internals import Frame, FrameApp, StreamDriver

if TYPE_CHECKING:
    from rich.style import Style
    from textual.screen import Screen

_log = logging.getLogger(__name__)


class TrackedStream:
    """The stream of Textual's writer thread; tracks whether the kernel has accepted all output.

    Writing never fails: without its writer thread, the application waits forever as soon as the
    thread's queue is full, and no signal ends it. What a terminal that has gone does not accept is
    discarded; that it has gone is noticed elsewhere.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._lock = Lock()
        self._queued = self._written = self._flushed = 0

    def note_queued(self) -> None:
        """Note that text was queued for the thread."""
        with self._lock:
            self._queued += 1

    @property
    def is_drained(self) -> bool:
        """Whether the kernel has accepted all output and, if it reports that, passed it on."""
        return self._flushed == self._queued and not _count_queued(self._stream)

    def write(self, text: str) -> int:
        """Write text. Called on the writer thread."""
        self._written += 1
        with self._failing():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream. Called on the writer thread when its queue is empty."""
        written = self._written
        with self._failing():
            self._stream.flush()
        self._flushed = written

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except BlockingIOError:
            # Another program has made the terminal, which it shares, refuse instead of block.
            os.set_blocking(self._stream.fileno(), True)
        except OSError as error:
            _log.info("the terminal does not accept output: %s", error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _count_queued(stream: IO[str]) -> int:
    """Bytes queued in the kernel. Linux counts them for serial lines, not for a pty."""
    try:
        count = fcntl.ioctl(stream.fileno(), termios.TIOCOUTQ, b"\0" * 4)
    except OSError:
        return 0
    return int.from_bytes(count, sys.byteorder)


class PacedDriver(StreamDriver):
    """Textual's driver, which tracks what has arrived and limits output accordingly."""

    def __init__(self, app: App[object], **named: Any) -> None:
        super().__init__(app, **named)
        self.app = app
        if isinstance(app, PaintedApp):
            app.driver = self
        self._event_loop = asyncio.get_running_loop()
        terminal = Terminal.from_environ(os.environ)
        sends_queries = terminal.remote and os.environ.get("TERM", "") not in ("", "dumb")
        self.painter = Painter(
            self.write,
            Pacer(lambda: self._stream.is_drained, sends_queries=sends_queries),
            WriteOptions.from_environ(os.environ, whole_words=terminal.screen_reader),
        )

    def wrap(self, stream: IO[str]) -> TrackedStream:
        """Wrap the output stream to track it."""
        self._stream = TrackedStream(stream)
        return self._stream

    def write(self, data: str) -> None:
        """Queue data for the writer thread."""
        self._stream.note_queued()
        super().write(data)

    def start_application_mode(self) -> None:
        """Take over the terminal; its content is unknown."""
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self.painter.begin()

    def stop_application_mode(self) -> None:
        """Release the terminal."""
        self.painter.end()
        super().stop_application_mode()

    def process_message(self, message: Message) -> None:
        """Handle reports of the terminal. Called on the input thread."""
        if isinstance(message, StatusReported):
            self._event_loop.call_soon_threadsafe(self.painter.receive)
        else:
            if isinstance(message, TerminalSupportsSynchronizedOutput):
                self.painter.is_synchronized = True
            super().process_message(message)


class PaintedApp(FrameApp):
    """An application whose frames are drawn by the driver's painter."""

    @property
    def painter(self) -> Painter | None:
        """The painter, or `None` without a terminal."""
        return self.driver.painter if self.driver is not None else None

    def write(self, sequence: str) -> None:
        """Write a sequence to the terminal, if there is one, outside of frames."""
        if self.driver is not None:
            self.driver.write(sequence)

    async def on_event(self, event: events.Event) -> None:
        """Forget the terminal's content after a resize: it may have moved rows."""
        if isinstance(event, events.Resize) and (painter := self.painter) is not None:
            painter.forget()
        await super().on_event(event)

    def __init__(self, **named: Any) -> None:
        self.driver: PacedDriver | None = None
        """The terminal driver, once the application runs in a terminal."""
        self.color_system: ColorSystem | None = ColorSystem.TRUECOLOR
        super().__init__(**named)
        self.drawn_at: WeakKeyDictionary[Screen[Any], float] = WeakKeyDictionary()
        """When each screen was first drawn with its content (monotonic, as in events)."""

    def screen_drawn(self, screen: "Screen[Any]") -> None:
        """Called once for each screen, with its first frame."""

    def draw_frame(self, screen: "Screen[Any]", frame: Frame | None) -> bool:
        """Pass the frame to the painter, if there is one."""
        is_first = screen not in self.drawn_at and any(child.size for child in screen.children)
        if frame is not None and is_first:
            self.drawn_at[screen] = monotonic()  # Before the user can see it and press a key.
            self.screen_drawn(screen)
        if (painter := self.painter) is None:
            return False
        if frame is not None:
            size = frame.size
            strips = frame.strips(whole=not painter.is_known(size))
            system = self.color_system or ColorSystem.TRUECOLOR
            rows = ((x, y, _runs(strip, system)) for x, y, strip in strips)
            painter.draw(size, rows, size.clamp_offset(self.cursor_position))
        return True


def _runs(strip: Strip, system: ColorSystem) -> Iterator[tuple[str, Pen]]:
    for text, style, control in strip:
        if not control:
            yield text, PLAIN if style is None else _pen(style, system)


@lru_cache(maxsize=4096)
def _pen(style: "Style", system: ColorSystem) -> Pen:
    return pen_of(Strip.render_ansi(style, system))
