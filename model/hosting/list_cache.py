"""Keeps the lists of hosting services and issue trackers for a minute."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Final, TypeVar

T = TypeVar("T")

MAX_AGE: Final = 60.0
"""Seconds after which a list is requested again."""
_MAX_LISTS: Final = 64


class ListCache:
    """Lists by key; those who want the same one at the same time share a request."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lists: OrderedDict[Hashable, tuple[float, Any]] = OrderedDict()
        self._requests: dict[Hashable, asyncio.Task[Any]] = {}

    async def get(
        self, key: Hashable, load: Callable[[], Awaitable[T]], *, refresh: bool = False
    ) -> T:
        """Return the list `key`, by `load` unless it is known; with `refresh`, in any case.

        Raises what `load` raises, which is not kept. A caller that is cancelled does not end the
        request.
        """
        known = self._lists.get(key)
        if not refresh and known is not None and self._clock() - known[0] < MAX_AGE:
            found: T = known[1]
            return found
        request: asyncio.Task[T] | None = self._requests.get(key)
        if request is None:
            request = asyncio.create_task(self._load(key, load))
            self._requests[key] = request
            request.add_done_callback(lambda done: self._on_done(key, done))
        return await asyncio.shield(request)

    async def close(self) -> None:
        """Cancel the requests."""
        requests = list(self._requests.values())
        for request in requests:
            request.cancel()
        await asyncio.gather(*requests, return_exceptions=True)

    async def _load(self, key: Hashable, load: Callable[[], Awaitable[T]]) -> T:
        found = await load()
        self._lists[key] = self._clock(), found
        self._lists.move_to_end(key)
        while len(self._lists) > _MAX_LISTS:
            self._lists.popitem(last=False)
        return found

    def _on_done(self, key: Hashable, request: "asyncio.Task[Any]") -> None:
        del self._requests[key]
        if not request.cancelled():
            request.exception()  # Its callers may all be gone.
