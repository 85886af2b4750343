"""A dialog that stays open while it works: shows progress and errors, and can cancel."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from model.base.errors import SpinneyError
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line

R = TypeVar("R")

Cancel = Callable[[], Awaitable[None]]


class LongText(VerticalScroll):
    """A text; tab goes to one that is too long to be shown at once."""

    def allow_focus(self) -> bool:
        """Whether there is something to scroll."""
        return self.max_scroll_y > 0


class Working(Dialog[R]):
    """Escape cancels the work in progress, and closes the dialog if there is none."""

    def __init__(self, title: str, cancel: Cancel | None = None) -> None:
        super().__init__(title)
        self._cancel = cancel
        self.is_busy = False

    def status(self) -> Widget:
        """Return the status widget, for `body`."""
        return LongText(Static(id="words", markup=False), classes="page status")

    def say(self, message: str, *, bad: bool = False) -> None:
        """Show a status message; does nothing once the dialog has closed."""
        for line in self.query("#words").results(Static):
            line.set_class(bad, "problem")
            line.update(message)

    def work(self, message: str, task: Coroutine[Any, Any, R | None]) -> None:
        """Run the work; a result closes the dialog, an error is shown in it."""
        if self.is_busy:
            task.close()
            return
        self.is_busy = True
        self.say(f"{message}  (esc to cancel)")
        self.run_worker(self.run_work(task), exit_on_error=False)

    async def run_work(self, task: Coroutine[Any, Any, R | None]) -> None:
        """Close with the result, or show why there is none."""
        try:
            result = await task
        except SpinneyError as error:
            self.say(error.message, bad=True)
            return
        finally:
            self.is_busy = False
        if result is not None:
            self.dismiss(result)

    def action_leave(self) -> None:
        """Cancel the work in progress, or close."""
        if self.is_busy and self._cancel is not None:
            self.say("Canceling …")
            self.run_worker(self._run_cancel(self._cancel), exit_on_error=False)
        else:
            self.dismiss(None)

    async def _run_cancel(self, cancel: Cancel) -> None:
        try:
            await cancel()
        except SpinneyError as error:
            self.say(error.message, bad=True)


class Progress(Working[R]):
    """A dialog that shows only progress."""

    def __init__(
        self, title: str, message: str, task: Callable[[], Coroutine[Any, Any, R]], cancel: Cancel
    ) -> None:
        super().__init__(title, cancel)
        self._message = message
        self._start_task = task

    def body(self) -> list[Widget]:
        """The status and the key."""
        return [self.status(), Static(keys_line(("esc", "cancel")), classes="keys")]

    async def run_work(self, task: Coroutine[Any, Any, R | None]) -> None:
        """Close with the result, or show why there is none and how to leave."""
        await super().run_work(task)
        for line in self.query(".keys").results(Static):
            line.update(keys_line(("esc", "close")))

    def on_mount(self) -> None:
        """Start, unless the dialog was already closed."""
        if self in self.app.screen_stack:
            self.work(self._message, self._start_task())
