"""A list to choose from whose service is asked for what was not loaded."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from textual import on
from textual.timer import Timer
from textual.widgets import Input

from model.base.errors import SpinneyError
from tui.screens.choose import Choice
from tui.screens.pick import Load, Pick

if TYPE_CHECKING:
    from textual.worker import WorkType

SearchEntries = Callable[[str], Awaitable[Sequence[Choice]]]
"""Asks the service for the entries that match."""

_DELAY: Final = 0.5
"""Seconds without a key until the service is asked: it allows some thirty searches a minute."""
_FULL_PAGE: Final = 100
"""Entries of a page of the service; fewer are all."""


class SearchingPick(Pick):
    """Filters what was loaded at once; the service searches if that may lack something."""

    def __init__(
        self,
        title: str,
        entries: Load,
        present: str,
        search: SearchEntries,
        *,
        typed: str = "",
        own: str = "",
    ) -> None:
        super().__init__(title, entries, present, typed=typed, own=own)
        self._search = search
        self._debounce: Timer | None = None
        self._searching = ""
        self._found: tuple[str, Sequence[Choice]] = ("", ())
        """What was searched for last, and what the service found."""

    def find(self, entries: Sequence[Choice], query: str) -> list[Choice]:
        """The entries that match, then those that the service found."""
        matching = super().find(entries, query)
        searched, found = self._found
        values = {entry.value for entry in matching}
        if not query or query != searched:
            return matching
        return [*matching, *(entry for entry in found if entry.value not in values)]

    def _status(self, count: int) -> str:
        return "Searching …" if self._searching else super()._status(count)

    @on(Input.Changed)
    def _search_later(self) -> None:
        if self._debounce is not None:
            self._debounce.stop()
        self._debounce = self.set_timer(_DELAY, self._search_now)

    def _search_now(self) -> None:
        query, entries = self._typed.strip(), self.loaded
        if entries is None or not query or query == self._found[0]:
            return
        if len(entries) >= _FULL_PAGE or not super().find(entries, query):
            work = cast("WorkType[None]", partial(self._ask_service, query))
            self.run_worker(work, exclusive=True, group="search", exit_on_error=False)

    async def _ask_service(self, query: str) -> None:
        self._searching = query
        self._fill()
        try:
            self._found = query, await self._search(query)
            self._problem = ""
        except SpinneyError as error:
            self._problem = error.message
        finally:
            self._searching = ""
        self._fill()
