"""A dialog that stays while what it started goes on: it says what, can end it, and says why not."""

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


class Working(Dialog[R]):
    """Escape ends what goes on, and only then closes the dialog."""

    def __init__(self, title: str, cancel: Cancel | None = None) -> None:
        super().__init__(title)
        self._cancel = cancel
        self.is_busy = False

    def status(self) -> Widget:
        """Where it is said how things stand; for `body`."""
        return VerticalScroll(Static(id="words", markup=False), classes="page status")

    def say(self, words: str, *, bad: bool = False) -> None:
        """Show how things stand; nowhere, once the dialog has closed."""
        for line in self.query("#words").results(Static):
            line.set_class(bad, "problem")
            line.update(words)

    def work(self, words: str, doing: Coroutine[Any, Any, R | None]) -> None:
        """Do it; a result closes the dialog, a failure is said in it."""
        if self.is_busy:
            doing.close()
            return
        self.is_busy = True
        self.say(f"{words}  (esc cancels)")
        self.run_worker(self._work(doing), exit_on_error=False)

    async def _work(self, doing: Coroutine[Any, Any, R | None]) -> None:
        try:
            result = await doing
        except SpinneyError as error:
            self.say(error.message, bad=True)
            return
        finally:
            self.is_busy = False
        if result is not None:
            self.dismiss(result)

    def action_leave(self) -> None:
        """End what goes on, or else close."""
        if self.is_busy and self._cancel is not None:
            self.say("Cancelling …")
            self.run_worker(self._end(self._cancel), exit_on_error=False)
        else:
            self.dismiss(None)

    async def _end(self, cancel: Cancel) -> None:
        try:
            await cancel()
        except SpinneyError as error:
            self.say(error.message, bad=True)


class Progress(Working[R]):
    """Nothing but what goes on."""

    def __init__(
        self, title: str, words: str, doing: Callable[[], Coroutine[Any, Any, R]], cancel: Cancel
    ) -> None:
        super().__init__(title, cancel)
        self._words = words
        self._doing = doing

    def body(self) -> list[Widget]:
        """The words and the key."""
        return [self.status(), Static(keys_line(("esc", "cancel")), classes="keys")]

    async def _work(self, doing: Coroutine[Any, Any, R | None]) -> None:
        await super()._work(doing)
        for line in self.query(".keys").results(Static):
            line.update(keys_line(("esc", "close")))

    def on_mount(self) -> None:
        """Begin, unless it was closed before it was there."""
        if self in self.app.screen_stack:
            self.work(self._words, self._doing())
