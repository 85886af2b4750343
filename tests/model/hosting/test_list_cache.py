"""Lists are kept for a minute, and those who want the same one share a request."""

import asyncio

import pytest

from model.base.errors import SpinneyError
from model.hosting.list_cache import MAX_AGE, ListCache


class Service:
    """Counts the requests, and answers when it may."""

    def __init__(self) -> None:
        self.count = 0
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.now = 0.0
        self.cache = ListCache(lambda: self.now)

    async def _load(self) -> int:
        self.count += 1
        count = self.count
        await self.may_answer.wait()
        return count

    async def get(self, key: str = "issues", *, refresh: bool = False) -> int:
        return await self.cache.get(key, self._load, refresh=refresh)


async def test_a_list_is_kept_for_a_minute_unless_it_is_refreshed() -> None:
    service = Service()
    assert [await service.get(), await service.get(), await service.get("other")] == [1, 1, 2]
    assert await service.get(refresh=True) == 3
    service.now = MAX_AGE - 1
    assert await service.get() == 3
    service.now = MAX_AGE
    assert await service.get() == 4


async def test_those_who_want_the_same_list_share_a_request() -> None:
    service = Service()
    service.may_answer.clear()
    waiting = [asyncio.create_task(service.get(refresh=bool(n % 2))) for n in range(5)]
    await asyncio.sleep(0)
    waiting[0].cancel()  # A caller that has gone does not end it for the others.
    service.may_answer.set()
    assert await asyncio.gather(*waiting[1:]) == [1] * 4


async def test_a_failure_is_not_kept() -> None:
    cache = ListCache()

    async def fail() -> int:
        raise SpinneyError("no")

    async def answer() -> int:
        return 1

    for _ in range(2):
        with pytest.raises(SpinneyError, match="no"):
            await cache.get("issues", fail)
    assert await cache.get("issues", answer) == 1


async def test_closing_ends_the_requests() -> None:
    service = Service()
    service.may_answer.clear()
    waiting = asyncio.create_task(service.get())
    await asyncio.sleep(0)
    await service.cache.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
