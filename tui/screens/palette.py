"""The command palette, for quick hands: enter takes what was written, once it is found.

Textual's own takes the row that is marked at that moment, which may still belong to fewer letters.
"""

from textual import on
from textual.command import CommandPalette
from textual.widgets import Input
from textual.worker import Worker, WorkerState


class Palette(CommandPalette):
    """Waits with enter until the search for the last letter has ended."""

    _is_awaited = False

    @on(Input.Submitted)
    def _wait_for_the_search(self, event: Input.Submitted) -> None:
        if self._searches:
            event.stop()
            event.prevent_default()
            self._is_awaited = True

    @on(Input.Changed)
    def _wait_no_more(self) -> None:
        self._is_awaited = False

    @on(Worker.StateChanged)
    def _take_what_was_found(self, event: Worker.StateChanged) -> None:
        if self._is_awaited and event.state is WorkerState.SUCCESS and not self._searches:
            self._is_awaited = False
            self._action_command_list("select")

    @property
    def _searches(self) -> bool:
        return any(
            worker.group == self._GATHER_COMMANDS_GROUP and not worker.is_finished
            for worker in self.workers
            if worker.node is self
        )
