"""Draws the differences to the newest frame, when the line has accepted the last one.

Newer frames replace those that were not written. On a slow line a frame is drawn in several pieces,
each of which is a difference to the newest frame; the row of the cursor comes first.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from textual.geometry import Offset, Size

from tui.terminal.cells import Cells
from tui.terminal.frame_difference import WriteOptions, diff_frames
from tui.terminal.pacing import Pacer
from tui.terminal.sgr import Pen

PlacedText = tuple[int, int, Iterable[tuple[str, Pen]]]
"""Column, row, and the texts with pens to draw from there on."""

_SYNC_START: Final = "\x1b[?2026h"
_SYNC_END: Final = "\x1b[?2026l"
_MIN_SYNCHRONIZED: Final = 200
"""Shorter frames are displayed at once even without synchronized output."""


class Painter:
    """Tracks what the terminal shows and what it should show, and writes the difference."""

    def __init__(self, write: Callable[[str], object], pacer: Pacer, options: WriteOptions) -> None:
        self.is_synchronized = False
        """Whether the terminal supports synchronized output."""
        self.pacer = pacer
        self._write = write
        self._options = options
        self._wanted: Cells | None = None
        self._shown = Cells(0, 0)
        self._cursor = Offset()
        self._shown_cursor: Offset | None = None
        self._timer: asyncio.TimerHandle | None = None

    def is_known(self, size: Size) -> bool:
        """Whether the wanted screen has this size; if not, all of it must be drawn."""
        wanted = self._wanted
        return wanted is not None and (wanted.width, wanted.height) == size

    def begin(self) -> None:
        """Start drawing; query the terminal immediately to measure its latency."""
        self.forget()
        if self.pacer.query:
            self._write(self.pacer.query)
            self.pacer.note_sent(len(self.pacer.query))

    def end(self) -> None:
        """Stop drawing: another program uses the terminal."""
        self.forget()
        self.pacer.forget()

    def forget(self) -> None:
        """Forget what the terminal shows, and drop pending output."""
        self._wanted = None
        self._cancel_timer()

    def draw(self, size: Size, rows: Iterable[PlacedText], cursor: Offset) -> None:
        """Update parts of the screen, and write them as soon as the line is free."""
        if not self.is_known(size):
            self._wanted = Cells(*size)
            self._shown = Cells(*size)
            self._shown_cursor = None
        assert self._wanted is not None
        for x, y, runs in rows:
            for text, pen in runs:
                x = self._wanted.put(x, y, text, pen)
        self._cursor = cursor
        self.send()

    def send(self) -> None:
        """Write the difference if the line is free; if not, retry when it may be."""
        if self._wanted is None:
            return
        if wait := self.pacer.wait():
            self._retry_in(wait)
            return
        limit = self.pacer.limit
        frame = diff_frames(
            self._shown, self._wanted, self._options, cursor_row=self._cursor.y, limit=limit
        )
        if not frame and self._cursor == self._shown_cursor:
            self._cancel_timer()
            return
        is_announced = self.is_synchronized and len(frame) > _MIN_SYNCHRONIZED
        frame += f"\x1b[{self._cursor.y + 1};{self._cursor.x + 1}H"
        self._shown_cursor = self._cursor
        frame = f"{_SYNC_START}{frame}{_SYNC_END}" if is_announced else frame
        frame += self.pacer.query
        self._write(frame)
        self.pacer.note_sent(len(frame.encode()))
        self._cancel_timer()
        if limit is not None and len(frame) > limit:
            self.send()  # retries when this piece was sent

    def receive(self) -> None:
        """Handle an answer of the terminal; write pending output."""
        self.pacer.receive()
        if self._timer is not None:
            self.send()

    def _retry_in(self, wait: float) -> None:
        self._cancel_timer()
        self._timer = asyncio.get_running_loop().call_later(wait, self.send)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
