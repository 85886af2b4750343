"""Repeated work: a few at a time, none twice at once, and nobody waits for what hangs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from model.background import scheduler
from model.background.scheduler import KeyedScheduler
from tests.patience import PATIENCE


class Work:
    """Work that lasts until it is let go, and remembers what it did."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.working: set[str] = set()
        self.most = 0
        self.gates: dict[str, asyncio.Event] = {}
        self.news = asyncio.Condition()

    async def __call__(self, key: str) -> None:
        assert key not in self.working
        self.begun.append(key)
        self.working.add(key)
        self.most = max(self.most, len(self.working))
        await self._tell()
        try:
            await asyncio.sleep(0)
            if key in self.gates:
                await self.gates[key].wait()
        finally:
            self.working.remove(key)
        await self._tell()

    async def _tell(self) -> None:
        async with self.news:
            self.news.notify_all()

    async def until(self, *begun: str) -> None:
        """Wait until work has begun on all of these, as often as they are named."""
        async with asyncio.timeout(PATIENCE), self.news:
            await self.news.wait_for(
                lambda: all(self.begun.count(key) >= begun.count(key) for key in begun)
            )


@asynccontextmanager
async def running(made: KeyedScheduler) -> AsyncIterator[None]:
    task = asyncio.create_task(made.run())
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def never() -> float:
    return 3600


async def test_every_key_is_worked_on_and_no_more_at_once_than_there_are_places() -> None:
    work = Work()
    keys = {f"key {n}": "group" for n in range(20)}
    async with running(KeyedScheduler(work, lambda: keys, never, 2)):
        await work.until(*keys)
    assert work.most == 2
    assert sorted(work.begun) == sorted(keys)


async def test_a_key_is_worked_on_again_after_the_interval() -> None:
    work = Work()
    async with running(KeyedScheduler(work, lambda: {"one": "group"}, lambda: 0.01, 1)):
        await work.until("one", "one", "one")


async def test_a_shorter_interval_takes_effect_at_once() -> None:
    work, interval = Work(), [3600.0]
    made = KeyedScheduler(work, lambda: {"one": "group"}, lambda: interval[0], 1)
    async with running(made):
        await work.until("one")
        interval[0] = 0.0
        made.reschedule()
        await work.until("one", "one")


async def test_what_is_asked_for_during_its_work_is_done_again_afterwards() -> None:
    work = Work()
    work.gates["one"] = asyncio.Event()
    made = KeyedScheduler(work, lambda: {"one": "group"}, never, 2)
    async with running(made):
        await work.until("one")
        made.request("one")
        waiting = asyncio.create_task(made.request_and_wait(["one"]))
        await asyncio.sleep(0)
        assert work.begun == ["one"]
        work.gates["one"].set()
        await asyncio.wait_for(waiting, PATIENCE)
    assert work.begun == ["one", "one"]


async def test_a_group_that_hangs_gives_its_places_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scheduler, "STALL_TIMEOUT", 0.01)
    work = Work()
    hanging = {f"a{n}": "dead disk" for n in range(5)}
    work.gates = {key: asyncio.Event() for key in hanging}
    async with running(KeyedScheduler(work, lambda: hanging | {"z": "good disk"}, never, 2)):
        await work.until("z")
    assert len([key for key in work.begun if key in hanging]) <= 2


async def test_a_failure_stops_neither_the_others_nor_the_next_round() -> None:
    begun: list[str] = []
    enough = asyncio.Event()

    async def fail(key: str) -> None:
        begun.append(key)
        if len(begun) >= 4:
            enough.set()
        raise ValueError("broken")

    async with running(KeyedScheduler(fail, lambda: {"a": "g", "b": "g"}, lambda: 0.001, 1)):
        await asyncio.wait_for(enough.wait(), PATIENCE)
    assert {"a", "b"} <= set(begun)


async def test_whoever_waits_for_a_key_that_goes_away_is_let_go() -> None:
    work = Work()
    made = KeyedScheduler(work, dict, never, 1)
    async with running(made):
        await asyncio.wait_for(made.request_and_wait(["gone"]), PATIENCE)
    assert work.begun == []
