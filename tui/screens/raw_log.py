"""The dialog with a session's raw log: the input and output of its agent program."""

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Protocol, cast

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from model.base.errors import SpinneyError
from model.base.text import make_visible
from tui.draw.colors import Palette
from tui.screens.dialog import AskText, Dialog
from tui.screens.searchable_output import SearchableOutput
from tui.widgets.key_line import keys_line

if TYPE_CHECKING:
    from textual.worker import WorkType

POLL_INTERVAL: Final = 1.0
"""Seconds between reads of new lines."""
PAGE_SIZE: Final = 64 * 1024
"""Bytes that are read at once."""
_MAX_PIECES: Final = 32
"""Pieces kept while following the end; older ones are read again on scrolling back."""


class Piece(Protocol):
    """A piece of the log, see `model.chat.raw_files.RawLog`."""

    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def start(self) -> int: ...  # noqa: D102
    @property
    def end(self) -> int: ...  # noqa: D102
    @property
    def is_first(self) -> bool: ...  # noqa: D102
    @property
    def size(self) -> int: ...  # noqa: D102
    @property
    def path(self) -> str: ...  # noqa: D102
    @property
    def recording(self) -> bool: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class RawLogWork:
    """The operations on the log of one session."""

    read: Callable[[int | None, int | None], Awaitable[Piece]]
    """Reads the piece before or after a byte offset; the end without either."""
    switch: Callable[[bool], Awaitable[None]]
    """Turns recording on or off."""
    copy: Callable[[str], None]


@dataclass(slots=True)
class _Shown:
    """A displayed piece."""

    text: str
    start: int
    is_first: bool
    rows: int = 0


class RawLogView(SearchableOutput):
    """A list of rows that grows at both ends."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self.pieces: deque[_Shown] = deque()
        self._follows = True
        """Whether the view scrolls with new lines."""

    def append(self, piece: _Shown) -> None:
        """Append the newest piece; while following, scroll to it and drop the oldest rows."""
        self.pieces.append(piece)
        while self._follows and len(self.pieces) > _MAX_PIECES:
            removed = self.pieces.popleft().rows
            del self.strip_rows[:removed]
            self._move_found(-removed)
        rows = self._rows_of(piece)
        self.strip_rows += rows
        self._fit_virtual_size()
        self._follow()

    def prepend(self, piece: _Shown) -> None:
        """Insert older lines at the top without moving the visible ones."""
        self.pieces.appendleft(piece)
        rows = self._rows_of(piece)
        self.strip_rows[:0] = rows
        self._fit_virtual_size()
        self._move_found(len(rows))
        self.scroll_to(y=self.scroll_offset.y + len(rows), animate=False, immediate=True)

    def empty(self) -> None:
        """Remove all rows."""
        self.pieces.clear()
        self.strip_rows.clear()
        self.found = None
        self._fit_virtual_size()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Stop following when the user scrolls away from the end."""
        super().watch_scroll_y(old_value, new_value)
        self._follows = new_value >= self.max_scroll_y

    def on_resize(self, event: events.Resize) -> None:
        """Wrap the lines again if the width has changed."""
        super().on_resize(event)
        self._follow()

    def _follow(self) -> None:
        if self._follows:
            self.call_after_refresh(self.scroll_end, animate=False)

    def _move_found(self, rows: int) -> None:
        if self.found is not None:
            self.found = self.found + rows if self.found + rows >= 0 else None

    def _rewrap(self) -> None:
        """Wrap and draw all rows again."""
        self.strip_rows = [row for piece in self.pieces for row in self._rows_of(piece)]
        self._fit_virtual_size()

    def _rows_of(self, piece: _Shown) -> list[Strip]:
        rows = self.strips(piece.text) if piece.text else []
        piece.rows = len(rows)
        return rows


class RawLog(Dialog[None]):
    """The log, which loads older pieces on scrolling back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "find", show=False),
        Binding("n", "find_next(1)", show=False),
        Binding("N", "find_next(-1)", show=False),
        Binding("c", "copy", show=False),
        Binding("d", "switch", show=False),
    ]

    def __init__(self, session: str, palette: Callable[[], Palette], work: RawLogWork) -> None:
        super().__init__(f"Raw log of {session}")
        self._palette = palette
        self._work = work
        self._query = ""
        self._newest: Piece | None = None
        self._problem = ""

    def body(self) -> list[Widget]:
        """The state, the lines and the keys."""
        self._state = Static("", markup=False, classes="words")
        self._view = RawLogView(self._palette())
        self._keys = Static("", classes="keys")
        return [self._state, self._view, self._keys]

    def on_mount(self) -> None:
        """Read the end, and follow new lines."""
        view = self._view
        view.focus()
        self._draw()
        self.app.theme_changed_signal.subscribe(self, lambda _: view.set_palette(self._palette()))
        self.watch(view, "scroll_y", self._scrolled, init=False)
        self._poll()
        self.set_interval(POLL_INTERVAL, self._poll)

    # Reading ------------------------------------------------------------------------------------

    def _poll(self) -> None:
        if self.app.screen is self:
            self._run_once(self._read_newer, "newer")

    def _scrolled(self) -> None:
        if self._view.scroll_offset.y < self._view.size.height and self._view.pieces:
            self._run_once(self._read_older, "older")

    def _run_once(self, work: Callable[[], Awaitable[None]], group: str) -> None:
        if any(each.group == group and not each.is_finished for each in self.workers):
            return

        async def run() -> None:
            try:
                await work()
                self._problem = ""
            except SpinneyError as error:
                self._problem = make_visible(error.message)
            self._draw()

        self.run_worker(cast("WorkType[None]", run), group=group, exit_on_error=False)

    async def _read_newer(self) -> None:
        """Read the lines since the last read; only the end if there are too many."""
        while True:
            before = self._newest
            piece = await self._work.read(None, before.end if before else None)
            if self._newest is not before:
                return  # another worker read it meanwhile
            self._newest = piece
            if before is not None and piece.start != before.end:
                self._view.empty()
            if piece.text:
                shown = _Shown(make_visible(piece.text), piece.start, piece.is_first)
                self._view.append(shown)
            if before is None or piece.end <= before.end:
                return

    async def _read_older(self) -> None:
        first = self._view.pieces[0]
        if not first.is_first:
            piece = await self._work.read(first.start, None)
            if piece.text and self._view.pieces and self._view.pieces[0] is first:
                older = _Shown(make_visible(piece.text), piece.start, piece.is_first)
                self._view.prepend(older)
            else:
                first.is_first = True

    # Showing ------------------------------------------------------------------------------------

    def _draw(self) -> None:
        newest = self._newest
        is_on = newest is not None and newest.recording
        parts: list[tuple[str, str]] = []
        if self._problem:
            parts.append((self._problem, "$error"))
        elif newest is not None and not is_on:
            parts.append(("Debug mode is off, nothing is being recorded. ", "bold $warning"))
            parts.append(("Turn it on with d, or in the preferences.", ""))
        elif newest is not None and not newest.size:
            parts.append(("Debug mode is on. The agent's input and output will appear here.", ""))
        self._state.update(Content.assemble(*parts))
        self._state.display = bool(parts)
        if newest is not None and newest.path:
            self.query_one(".dialog").border_subtitle = Content(
                f"{make_visible(newest.path)} · {newest.size:,} bytes"
            )
        keys = [("↑ ↓", "scroll"), ("end", "follow"), ("/", "find")]
        keys += [("n", "newer"), ("N", "older")] if self._query else []
        keys += [("c", "copy path")] if newest is not None and newest.path else []
        keys += [("d", f"debug mode {'off' if is_on else 'on'}"), ("esc", "close")]
        self._keys.update(keys_line(*keys))

    # Actions ------------------------------------------------------------------------------------

    def action_copy(self) -> None:
        """Copy the path of the newest file."""
        if self._newest is not None and self._newest.path:
            self._work.copy(self._newest.path)

    def action_switch(self) -> None:
        """Turn recording on or off."""
        newest = self._newest

        async def switch() -> None:
            if newest is not None:
                await self._work.switch(not newest.recording)
                await self._read_newer()

        self._run_once(switch, "switch")

    def action_find(self) -> None:
        """Ask for a text, and go to the newest row that contains it."""

        def start(text: str | None) -> None:
            if text:
                self._query, self._view.found = text, None
                self.action_find_next(-1)

        sentence = "Searches this log. n goes to the next newer match, N to the next older one."
        self.app.push_screen(AskText("Find", self._query, sentence=sentence), start)

    def action_find_next(self, step: int) -> None:
        """Go to the next (1) or previous (-1) match."""
        if self._query:
            self._run_once(lambda: self._seek(step), "find")

    async def _seek(self, step: int) -> None:
        view = self._view
        while not view.find(self._query, step):
            if step > 0 or not view.pieces or view.pieces[0].is_first:
                older = "newer" if step > 0 else "older"
                message = f"No {older} match for '{self._query}'."
                self.app.notify(message, markup=False, timeout=3)
                return
            await self._read_older()
