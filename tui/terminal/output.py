"""Textual's output, led through our painter.

Of Textual 8.2.8, which has no public way to see a frame before it is bytes: `App._display` is given
each one as a `LayoutUpdate` (all rows) or a `ChopsUpdate` (spans of rows) of its compositor, and
would write a reset and all colors for every piece of text, as often as something changes.
"""

import asyncio
import fcntl
import os
import sys
import termios
from collections.abc import Iterator
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
from tui.terminal.frame_difference import Manner
from tui.terminal.input_parser import Answered
from tui.terminal.pacing import Pacer
from tui.terminal.painter import Painter
from tui.terminal.sgr import PLAIN, Pen, pen_of
from tui.terminal.textual_internals import Frame, FrameApp, StreamDriver

if TYPE_CHECKING:
    from rich.style import Style
    from textual.screen import Screen


class Outlet:
    """The stream that Textual's thread writes to; knows whether anything waits for the kernel."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._lock = Lock()
        self._given = self._taken = self._flushed = 0

    def expect(self) -> None:
        """Something was given to the thread."""
        with self._lock:
            self._given += 1

    @property
    def is_taken(self) -> bool:
        """Whether the kernel has all that was given, and (where it tells) has passed it on."""
        return self._flushed == self._given and not _count_queued(self._stream)

    def write(self, text: str) -> int:
        """Called by the thread."""
        self._taken += 1
        return self._stream.write(text)

    def flush(self) -> None:
        """Called by the thread when nothing more waits."""
        taken = self._taken
        self._stream.flush()
        self._flushed = taken

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _count_queued(stream: IO[str]) -> int:
    """Bytes that wait in the kernel. Linux counts them for serial lines, not for a pty."""
    try:
        count = fcntl.ioctl(stream.fileno(), termios.TIOCOUTQ, b"\0" * 4)
    except OSError:
        return 0
    return int.from_bytes(count, sys.byteorder)


class PacedDriver(StreamDriver):
    """Textual's driver, which knows what has arrived and draws no more than that."""

    def __init__(self, app: App[object], **named: Any) -> None:
        super().__init__(app, **named)
        self.app = app
        if isinstance(app, PaintedApp):
            app.driver = self
        self._event_loop = asyncio.get_running_loop()
        terminal = Terminal.of(os.environ)
        asks = terminal.remote and os.environ.get("TERM", "") not in ("", "dumb")
        self.painter = Painter(
            self.write,
            Pacer(lambda: self._outlet.is_taken, asks=asks),
            Manner.of(os.environ, words=terminal.plain),
        )

    def wrap(self, stream: IO[str]) -> Outlet:
        """The stream, and what is known of it."""
        self._outlet = Outlet(stream)
        return self._outlet

    def write(self, data: str) -> None:
        """Hand this to the thread that writes."""
        self._outlet.expect()
        super().write(data)

    def start_application_mode(self) -> None:
        """Take the terminal, of which nothing is known."""
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self.painter.begin()

    def stop_application_mode(self) -> None:
        """Give the terminal back."""
        self.painter.end()
        super().stop_application_mode()

    def process_message(self, message: Message) -> None:
        """Take the answers out of the input. Called on its thread."""
        if isinstance(message, Answered):
            self._event_loop.call_soon_threadsafe(self.painter.receive)
        else:
            if isinstance(message, TerminalSupportsSynchronizedOutput):
                self.painter.is_synchronized = True
            super().process_message(message)


class PaintedApp(FrameApp):
    """An application whose frames are drawn by the driver's painter."""

    @property
    def painter(self) -> Painter | None:
        """What draws; nothing does where there is no terminal."""
        return self.driver.painter if self.driver is not None else None

    def write(self, sequence: str) -> None:
        """Send a sequence to the terminal, if there is one, beside the frames."""
        if self.driver is not None:
            self.driver.write(sequence)

    async def on_event(self, event: events.Event) -> None:
        """Know nothing of the terminal once it has another size: it may move what it shows."""
        if isinstance(event, events.Resize) and (painter := self.painter) is not None:
            painter.forget()
        await super().on_event(event)

    def __init__(self, **named: Any) -> None:
        self.driver: PacedDriver | None = None
        """What writes to the terminal, once it runs in one."""
        self.color_system: ColorSystem | None = ColorSystem.TRUECOLOR
        super().__init__(**named)
        self.drawn_at: WeakKeyDictionary[Screen[Any], float] = WeakKeyDictionary()
        """When each screen was first drawn with what it holds, by the clock of events."""

    def draw_frame(self, screen: "Screen[Any]", frame: Frame | None) -> bool:
        """Give it to the painter, if there is one."""
        if screen not in self.drawn_at and any(child.size for child in screen.children):
            self.drawn_at[screen] = monotonic()  # Before anybody sees it, and presses what it says.
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
