"""All private names of Textual that Spinney uses, wrapped in public ones.

Tested with Textual 8.2.8; `pyproject.toml` bounds Textual to that minor version. `INTERNALS` gives
the purpose of each name: `test_textual_internals.py` fails with it when one is missing, and when
another module uses a private name.
"""

import inspect
import logging
from collections.abc import Coroutine, Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, cast

from rich.segment import Segment
from textual import events, screen
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._compositor import ChopsUpdate, CompositorMap, LayoutUpdate, ReflowResult
from textual._compositor import Compositor as _Compositor
from textual._keyboard_protocol import FUNCTIONAL_KEYS
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.cache import FIFOCache
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Region, Size
from textual.keys import Keys
from textual.strip import Strip
from textual.worker import Worker
from textual.worker_manager import WorkerManager

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.screen import Screen
    from textual.widget import Widget
    from textual.widgets import TextArea


_log = logging.getLogger(__name__)


class Internal(NamedTuple):
    """A private name."""

    where: str
    """`module:name`, and `.name` for members of a class or its instances."""
    reason: str
    """Its purpose, as the predicate of a sentence."""


INTERNALS: Final = (
    Internal("textual._compositor:Compositor", "puts a screen together"),
    Internal("textual._compositor:Compositor.clear", "forgets the widgets of a closed screen"),
    Internal("textual._compositor:Compositor.reflow", "lays out a whole screen"),
    Internal("textual.screen:Screen()._compositor._full_map", "is what it compares a layout with"),
    Internal("textual._compositor:CompositorMap", "is the type of it"),
    Internal("textual._compositor:ReflowResult", "says what a layout has changed"),
    Internal("textual._compositor:Compositor._get_renders", "asks widgets for changed rows only"),
    Internal("textual._compositor:Compositor.render_full_update", "draws a whole screen"),
    Internal("textual._compositor:Compositor.visible_widgets", "says which widgets are visible"),
    Internal("textual._compositor:LayoutUpdate", "is a frame with all rows"),
    Internal("textual._compositor:ChopsUpdate", "is a frame with spans of rows"),
    Internal("textual.screen:Compositor", "is looked up by each new screen, so it can be replaced"),
    Internal("textual.screen:Screen()._compositor", "gives the whole frame after a resize"),
    Internal("textual.screen:Screen()._repaint_required", "says that all of it will be drawn next"),
    Internal("textual.app:App._display", "is given each frame before it is written"),
    Internal("textual.app:App()._closed", "says that nothing may be drawn any more"),
    Internal("textual.app:App()._batch_count", "says that a batch of changes is not complete"),
    Internal("textual.app:App._end_batch", "ends a batch of changes, after which they are drawn"),
    Internal("textual.app:App._handle_exception", "ends the application for any error"),
    Internal("textual.app:App()._exit", "says that the application ends already"),
    Internal("textual.app:App._fatal_error", "prints a traceback, where a sentence is better"),
    Internal("textual.app:App()._exception", "is what the application ended for"),
    Internal("textual.app:App()._workers", "starts workers"),
    Internal("textual.worker:Worker()._task", "ends also when its work has never begun"),
    Internal("textual.worker:Worker()._work", "is what a worker runs"),
    Internal("textual.widgets:TextArea()._theme", "has the colors that its rows are drawn with"),
    Internal("textual.drivers.linux_driver:LinuxDriver()._file", "is the stream it writes to"),
    Internal("textual._xterm_parser:XTermParser", "is the base of what reads keys"),
    Internal("textual._xterm_parser:XTermParser._sequence_to_key_events", "names keys"),
    Internal("textual._xterm_parser:XTermParser.parse_mouse_code", "reads the mouse"),
    Internal("textual._ansi_sequences:ANSI_SEQUENCES_KEYS", "names keys of old terminals"),
    Internal("textual._keyboard_protocol:FUNCTIONAL_KEYS", "names keys of the kitty protocol"),
    *(
        Internal(f"textual.strip:Strip().{name}", "is a cache that a kept row does not need")
        for name in (
            "_segments", "_cell_length", "_divide_cache", "_crop_cache", "_style_cache",
            "_filter_cache", "_render_cache", "_line_length_cache", "_crop_extend_cache",
            "_offsets_cache", "_link_ids", "_cell_count",
        )
    ),
)  # fmt: skip


# Text areas -------------------------------------------------------------------------------------


def apply_text_area_colors(area: "TextArea") -> None:
    """Take the colors of the present theme; Textual does so when it draws, not for single rows."""
    if area._theme:
        area._theme.apply_css(area)


# The compositor ---------------------------------------------------------------------------------


class Compositor(_Compositor):
    """Textual's compositor; `find_rows` returns the visible rows of widgets in a region."""

    def __init__(self) -> None:
        super().__init__()
        self._laid_out: CompositorMap = {}
        """Where each widget was after the last layout."""

    def clear(self) -> None:
        """Remove all references to widgets."""
        super().clear()
        self._laid_out = {}

    def reflow(self, parent: "Widget", size: Size) -> ReflowResult:
        """Lay out all widgets; return which were hidden, shown and resized since the last layout.

        After a scroll, or when a widget is new, Textual arranges all widgets again when the place
        of one is asked for, and would compare the layout that follows with that: what had changed
        before was not drawn, and its widgets did not learn their new size.
        """
        self._full_map = self._laid_out
        result = super().reflow(parent, size)
        self._laid_out = self._full_map
        return result

    def render_update(
        self,
        full: bool = False,
        screen_stack: "list[Screen[Any]] | None" = None,
        simplify: bool = False,
    ) -> "RenderableType | None":
        """Render what is to be drawn, during a batch only after it.

        Textual renders it anyway, discards it, and forgets that it was to be drawn.
        """
        if not full and self.root is not None:  # else for a picture of the screen
            if self.root.app._batch_count:
                self.root.refresh()
                return None
            if self.size.region in self._dirty_regions:
                self.root._repaint_required = False  # it would be drawn a second time
        return super().render_update(full, screen_stack, simplify)

    def find_rows(self, wanted: Region) -> Iterable[tuple[Region, Region, list[Strip]]]:
        """Yield region, clip region and rows of each visible part, topmost widget first."""
        return super()._get_renders(wanted)

    def _get_renders(
        self, crop: Region | None = None
    ) -> Iterable[tuple[Region, Region, list[Strip]]]:
        return self.find_rows(self.size.region if crop is None else crop)


def use_compositor(kind: type[Compositor]) -> None:
    """Use this compositor for all new screens."""
    screen.__dict__["Compositor"] = kind


# Frames -----------------------------------------------------------------------------------------

Placed = tuple[int, int, Strip]
"""Column, row, and the strip to draw from there on."""


class Frame:
    """A frame that Textual is about to write."""

    def __init__(self, app: App[Any], update: object) -> None:
        self._app = app
        self._update = update

    @property
    def size(self) -> Any:
        """The size of the screen."""
        return self._app.screen._compositor.size

    def strips(self, *, whole: bool = False) -> Iterator[Placed]:
        """The strips that changed, or all strips with `whole`."""
        update = self._update
        if whole and not isinstance(update, LayoutUpdate):
            update = self._app.screen._compositor.render_full_update()
        if isinstance(update, LayoutUpdate):
            for y, strips in enumerate(update.strips, update.region.y):
                x = update.region.x
                for strip in strips:
                    yield x, y, strip
                    x += strip.cell_length
        elif isinstance(update, ChopsUpdate):
            for y, start, end in update.spans:
                # A chop belongs to one widget, so it is complete if any part of it changed.
                for (x, chop), behind in zip(
                    update.chops[y].items(), update.chop_ends[y], strict=True
                ):
                    if chop is not None and x < end and behind > start:
                        yield x, y, chop


class FrameApp(App[None]):
    """An application that can draw its frames itself."""

    def __init__(self, **named: Any) -> None:
        super().__init__(**named)
        self._workers = Workers(self)

    def draw_frame(self, screen: "Screen[Any]", frame: Frame | None) -> bool:
        """Draw a frame; false leaves it to Textual. `frame` is `None` if output is suspended."""
        return False

    def report_failure(self, error: Exception | None) -> bool:
        """Report the error that ends the application; false lets Textual print a traceback."""
        return False

    def _display(self, screen: "Screen[Any]", renderable: "RenderableType | None") -> None:
        is_open = self.is_running and not self._closed and not self._batch_count
        try:
            is_drawn = self.draw_frame(screen, Frame(self, renderable) if is_open else None)
        except Exception as error:
            self.call_later(fail, error)
            is_drawn = True
        if is_drawn:
            self.post_display_hook()
        else:
            super()._display(screen, renderable)

    def _end_batch(self) -> None:
        super()._end_batch()
        if not self._batch_count and self.screen_stack:
            self.screen.check_idle()  # which draws what was left

    def _handle_exception(self, error: Exception) -> None:
        # A screen that opens while the application ends gets no widgets, and may fail for that.
        if self._exit:
            _log.info("an error at the end", exc_info=error)
        else:
            super()._handle_exception(error)

    def _fatal_error(self) -> None:
        if not self.report_failure(self._exception):
            super()._fatal_error()


def fail(error: Exception) -> None:
    """Raise the error, as a callback for which Textual ends the application."""
    raise error


# Workers ----------------------------------------------------------------------------------------


class Workers(WorkerManager):
    """Starts workers, and closes the work of one that is canceled before its first step.

    That is what keys in a burst do, and the end of a screen. Python would report coroutines that
    were never awaited, at the time when it finds them: in the middle of what is on the screen.
    """

    def add_worker(self, worker: Worker[Any], start: bool = True, exclusive: bool = True) -> None:
        """Add a worker and, unless `start` is false, start it."""
        super().add_worker(worker, start, exclusive)
        work = worker._work
        if worker._task is not None and inspect.iscoroutine(work):
            worker._task.add_done_callback(lambda _: close_unstarted(work))


def close_unstarted(work: Coroutine[Any, Any, Any]) -> None:
    """Close a coroutine, if it has not begun, with those that it was given to await."""
    if inspect.getcoroutinestate(work) == inspect.CORO_CREATED:
        for given in inspect.getcoroutinelocals(work).values():
            if inspect.iscoroutine(given):
                close_unstarted(given)
        work.close()


# The driver -------------------------------------------------------------------------------------


class StreamDriver(LinuxDriver):
    """Textual's driver, which writes to the stream returned by `wrap`."""

    def __init__(self, app: App[Any], **named: Any) -> None:
        super().__init__(app, **named)
        self._file = cast("Any", self.wrap(cast("IO[str]", self._file)))

    def wrap(self, stream: IO[str]) -> object:
        """Return the stream for Textual's writer thread."""
        return stream


# Keys -------------------------------------------------------------------------------------------


class KeyReader(XTermParser):
    """Interprets complete and valid sequences."""

    def keys_of(self, sequence: str) -> list[events.Key]:
        """The keys of a sequence, or of one character."""
        found = self._sequence_to_key_events(sequence)
        return [key for key in found if key.key != Keys.Ignore]


def lookup_old_keys(sequence: str) -> list[str]:
    """The names of the keys for a sequence of old terminals."""
    named = ANSI_SEQUENCES_KEYS.get(sequence)
    return [name.value for name in named] if isinstance(named, tuple) else []


def is_functional(code: str) -> bool:
    """Whether the kitty protocol has a key for a number and final letter, such as `13u`."""
    return code in FUNCTIONAL_KEYS


# Rows -------------------------------------------------------------------------------------------


class _NoCache(FIFOCache[Any, Any]):
    """A cache that stores nothing."""

    def __setitem__(self, key: Any, value: Any) -> None:
        """Ignore the value."""


_NO_CACHE: Final = _NoCache(1)


class Row(Strip):
    """A strip for storage, without the seven caches that Textual creates for each.

    0.2 µs and 208 bytes instead of 3.1 µs and 1,104 bytes; thousands of rows are never drawn again.
    """

    __slots__ = ()

    def __init__(self, segments: list[Segment], cell_length: int) -> None:
        self._segments = segments
        self._cell_length = cell_length
        self._divide_cache = self._crop_cache = self._style_cache = _NO_CACHE
        self._filter_cache = self._line_length_cache = self._crop_extend_cache = _NO_CACHE
        self._offsets_cache = _NO_CACHE
        self._render_cache = self._link_ids = self._cell_count = None
