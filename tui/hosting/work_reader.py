"""Reads a list of open work page by page, and keeps what was read."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from model.base.errors import SpinneyError
from tui.hosting.work_source import Entry, WorkRequest, read_page

if TYPE_CHECKING:
    from model.client.base import Client


class WorkReader:
    """The entries of one list as far as they were read; `changed` is called after each step."""

    def __init__(self, client: "Client", changed: Callable[[], None]) -> None:
        self._client = client
        self._changed = changed
        self._wanted: WorkRequest | None = None
        self._page = 0
        self.entries: list[Entry] = []
        self.search = ""
        """What the service searched for."""
        self.is_complete = True
        """Whether there are no more entries at the service."""
        self.is_reading = False
        self.failed = False
        """Whether the last read failed."""

    def clear(self) -> None:
        """Forget what was read."""
        self.entries, self.search, self._page = [], "", 0
        self.is_complete, self.failed = True, False

    def stop(self) -> None:
        """Forget what was read and what is wanted."""
        self.clear()
        self._wanted, self.is_reading = None, False

    async def read_first(self, wanted: WorkRequest, *, refresh: bool) -> None:
        """Read the first page, and show it in place of what was read. Raises `SpinneyError`."""
        self._wanted = wanted
        await self._read(wanted, 1, refresh=refresh)

    async def read_next(self) -> None:
        """Read the page after those that were read. Raises `SpinneyError`."""
        if self._wanted is not None and not self.is_complete:
            await self._read(self._wanted, self._page + 1, refresh=False)

    async def _read(self, wanted: WorkRequest, number: int, *, refresh: bool) -> None:
        self.is_reading, self.failed = True, False
        self._changed()
        try:
            page = await read_page(self._client, wanted, number, refresh)
        except SpinneyError:
            if wanted is self._wanted:
                self.is_reading, self.failed = False, True
                self._changed()
            raise
        if wanted is not self._wanted:
            return  # another list is wanted meanwhile
        known = self.entries if number > 1 else []
        # An item may move to the next page while the one before it is shown.
        have = {entry.key for entry in known}
        self.entries = [*known, *(each for each in page.entries if each.key not in have)]
        self.search, self._page, self.is_complete = wanted.search, number, page.is_last
        self.is_reading = False
        self._changed()
