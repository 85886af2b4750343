"""The command palette, for quick hands: enter takes what was written, once it is found.

Textual's own takes the row that is marked at that moment, which may still belong to fewer letters.
"""

from contextlib import suppress
from typing import ClassVar

from textual import on
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import CommandList, CommandPalette
from textual.css.query import NoMatches
from textual.widgets import Input, LoadingIndicator, OptionList
from textual.worker import Worker, WorkerState

from tui.screens.closing import Closing


class Palette(Closing[None], CommandPalette):
    """Waits with enter until the search for the last letter has ended; takes one command."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # At once, so that what is typed on is written into what lies below.
        Binding("escape", "escape", show=False, priority=True),
    ]

    _searched = ""
    """The words that are, or were, searched for."""
    _awaited: str | None = None
    """Those that enter waits for."""

    @on(Input.Submitted)
    def _wait_for_the_search(self, event: Input.Submitted) -> None:
        # The box tells of its enter before it tells of the last letter.
        if self._searches or event.value != self._searched or not self.is_active:
            event.stop()
            event.prevent_default()
            self._awaited = event.value

    @on(OptionList.OptionSelected)
    def _take_one(self, event: OptionList.OptionSelected) -> None:
        if not self.is_active:  # An enter before this one took a command already.
            event.stop()
            event.prevent_default()

    @on(Input.Changed)
    def _note_words(self, event: Input.Changed) -> None:
        if not self.is_active:  # The last letter before it closed; nothing is searched any more.
            event.stop()
            event.prevent_default()
            return
        self._searched = event.value
        if self._awaited != event.value:
            self._awaited = None

    @on(Worker.StateChanged)
    async def _take_what_was_found(self, event: Worker.StateChanged) -> None:
        is_done = event.state is WorkerState.SUCCESS and not self._searches
        if is_done and self._awaited == self._searched:
            self._awaited = None
            await self.run_action("command_list('select')")

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close, and end the search."""
        self.workers.cancel_node(self)
        self._stop_busy_countdown()
        self._stop_no_matches_countdown()
        return super().dismiss(result)

    # Textual 8.2.8 lets the search outlive the screen: it takes its cancellation for a new search,
    # and then shows in widgets that are gone how far it is.

    def _watch__list_visible(self) -> None:
        with suppress(NoMatches):
            super()._watch__list_visible()

    def _watch__show_busy(self) -> None:  # type: ignore[override]
        self.query(LoadingIndicator).set_class(self._show_busy, "--visible")
        self.query(CommandList).set_class(self._show_busy, "--populating")

    @property
    def _searches(self) -> bool:
        return any(worker.node is self and not worker.is_finished for worker in self.workers)
