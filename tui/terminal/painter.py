"""Draws on the terminal: the newest frame, when the line has taken the last; only what differs.

What is composed in between replaces what has not been written. On a slow line a frame is drawn in
several pieces, each of which is the difference to the newest screen; where the keys go comes first.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from textual.geometry import Offset, Size

from tui.terminal.cells import Cells
from tui.terminal.frame_difference import Manner, difference
from tui.terminal.pacing import Pacer
from tui.terminal.sgr import Pen

Placed = tuple[int, int, Iterable[tuple[str, Pen]]]
"""Column, row, and what is drawn from there on."""

_SYNC_START: Final = "\x1b[?2026h"
_SYNC_END: Final = "\x1b[?2026l"
_AT_ONCE: Final = 200
"""Characters up to which a frame is seen as a whole without being announced as one."""


class Painter:
    """What the terminal shows, what it should show, and how it comes there."""

    def __init__(self, write: Callable[[str], object], pacer: Pacer, manner: Manner) -> None:
        self.is_synchronized = False
        """Whether the terminal can be told where a frame begins and ends."""
        self.pacer = pacer
        self._write = write
        self._manner = manner
        self._wanted: Cells | None = None
        self._shown = Cells(0, 0)
        self._cursor = Offset()
        self._shown_cursor: Offset | None = None
        self._timer: asyncio.TimerHandle | None = None

    def is_known(self, size: Size) -> bool:
        """Whether all is known of a screen of this size; if not, all of it must be drawn."""
        wanted = self._wanted
        return wanted is not None and (wanted.width, wanted.height) == size

    def begin(self) -> None:
        """The terminal is ours; ask at once how far away it is."""
        self.forget()
        if self.pacer.question:
            self._write(self.pacer.question)
            self.pacer.sent(len(self.pacer.question))

    def end(self) -> None:
        """The terminal is somebody else's from now on."""
        self.forget()
        self.pacer.forget()

    def forget(self) -> None:
        """Nothing is known any more of what the terminal shows; what waits is not drawn."""
        self._wanted = None
        self._rest()

    def draw(self, size: Size, rows: Iterable[Placed], cursor: Offset) -> None:
        """Draw these parts of the screen as soon as the line is free."""
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
        """Write what differs, if the line is free; if not, look again when it may be."""
        if self._wanted is None:
            return
        if wait := self.pacer.wait():
            self._look_again(wait)
            return
        limit = self.pacer.limit
        frame = difference(
            self._shown, self._wanted, self._manner, cursor_row=self._cursor.y, limit=limit
        )
        if not frame and self._cursor == self._shown_cursor:
            self._rest()
            return
        is_long = self.is_synchronized and len(frame) > _AT_ONCE
        frame += f"\x1b[{self._cursor.y + 1};{self._cursor.x + 1}H"
        self._shown_cursor = self._cursor
        frame = f"{_SYNC_START}{frame}{_SYNC_END}" if is_long else frame
        frame += self.pacer.question
        self._write(frame)
        self.pacer.sent(len(frame.encode()))
        self._rest()
        if limit is not None and len(frame) > limit:
            self.send()  # it looks again when that has left

    def receive(self) -> None:
        """The terminal has answered; what waits for that may go."""
        self.pacer.receive()
        if self._timer is not None:
            self.send()

    def _look_again(self, wait: float) -> None:
        self._rest()
        self._timer = asyncio.get_running_loop().call_later(wait, self.send)

    def _rest(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
