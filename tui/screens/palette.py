"""The command palette, for quick hands: enter takes what was written, once it is found.

Textual's own takes the row that is marked at that moment, which may still belong to fewer letters.
"""

from textual import on
from textual.command import CommandPalette
from textual.widgets import Input
from textual.worker import Worker, WorkerState


class Palette(CommandPalette):
    """Waits with enter until the search for the last letter has ended."""

    _searched = ""
    """The words that are, or were, searched for."""
    _awaited: str | None = None
    """Those that enter waits for."""

    @on(Input.Submitted)
    def _wait_for_the_search(self, event: Input.Submitted) -> None:
        # The box tells of its enter before it tells of the last letter.
        if self._searches or event.value != self._searched:
            event.stop()
            event.prevent_default()
            self._awaited = event.value

    @on(Input.Changed)
    def _note_words(self, event: Input.Changed) -> None:
        self._searched = event.value
        if self._awaited != event.value:
            self._awaited = None

    @on(Worker.StateChanged)
    def _take_what_was_found(self, event: Worker.StateChanged) -> None:
        is_done = event.state is WorkerState.SUCCESS and not self._searches
        if is_done and self._awaited == self._searched:
            self._awaited = None
            self._action_command_list("select")

    @property
    def _searches(self) -> bool:
        return any(
            worker.group == self._GATHER_COMMANDS_GROUP and not worker.is_finished
            for worker in self.workers
            if worker.node is self
        )
