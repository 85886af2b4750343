"""Page numbers for lists whose pages begin at cursors."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

T = TypeVar("T")

_MAX_LISTS: Final = 100


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a list, and the cursor at which the next one begins, if there is one."""

    items: list[T]
    next_cursor: str | None


class PageCursors:
    """Remembers at which cursors the pages of each list begin."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, tuple[str, ...]] = OrderedDict()
        """By list: the cursors of its second page, its third, and so on."""

    async def fetch(
        self, key: Hashable, page: int, load: Callable[[str | None], Awaitable[Page[T]]]
    ) -> list[T]:
        """Return a page of the list `key`; empty after the last one.

        `load` is called with the cursor of the page, and of those before it that are not known yet.
        """
        known = self._known.get(key, ())
        position = min(page - 1, len(known))
        while True:
            found = await load(known[position - 1] if position else None)
            known = known[:position]
            if found.next_cursor is not None:
                known = (*known, found.next_cursor)
            self._remember(key, known)
            if position == page - 1:
                return found.items
            if found.next_cursor is None:
                return []
            position += 1

    def _remember(self, key: Hashable, cursors: tuple[str, ...]) -> None:
        self._known[key] = cursors
        self._known.move_to_end(key)
        while len(self._known) > _MAX_LISTS:
            self._known.popitem(last=False)
