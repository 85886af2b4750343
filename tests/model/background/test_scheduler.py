"""`KeyedScheduler`: bounded concurrency, one run per key at a time, and stalled groups."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from model.background import scheduler
from model.background.scheduler import KeyedScheduler
from tests.patience import PATIENCE


class Work:
    """A work function that waits for the gate of its key, if any, and records its runs."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.working: set[str] = set()
        self.max_working = 0
        self.gates: dict[str, asyncio.Event] = {}
        self.changed = asyncio.Condition()

    async def __call__(self, key: str) -> None:
        assert key not in self.working
        self.started.append(key)
        self.working.add(key)
        self.max_working = max(self.max_working, len(self.working))
        await self._notify()
        try:
            await asyncio.sleep(0)
            if key in self.gates:
                await self.gates[key].wait()
        finally:
            self.working.remove(key)
        await self._notify()

    async def _notify(self) -> None:
        async with self.changed:
            self.changed.notify_all()

    async def until(self, *started: str) -> None:
        """Wait until work has started on each key as often as it is given."""
        async with asyncio.timeout(PATIENCE), self.changed:
            await self.changed.wait_for(
                lambda: all(self.started.count(key) >= started.count(key) for key in started)
            )


@asynccontextmanager
async def running(scheduler: KeyedScheduler) -> AsyncIterator[None]:
    task = asyncio.create_task(scheduler.run())
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def never() -> float:
    return 3600


async def test_every_key_is_processed_and_concurrency_is_bounded() -> None:
    work = Work()
    keys = {f"key {n}": "group" for n in range(20)}
    async with running(KeyedScheduler(work, lambda: keys, never, 2)):
        await work.until(*keys)
    assert work.max_working == 2
    assert sorted(work.started) == sorted(keys)


async def test_a_key_is_processed_again_after_the_interval() -> None:
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


async def test_a_request_during_a_run_causes_another_run() -> None:
    work = Work()
    work.gates["one"] = asyncio.Event()
    made = KeyedScheduler(work, lambda: {"one": "group"}, never, 2)
    async with running(made):
        await work.until("one")
        made.request("one")
        waiting = asyncio.create_task(made.request_and_wait(["one"]))
        await asyncio.sleep(0)
        assert work.started == ["one"]
        work.gates["one"].set()
        await asyncio.wait_for(waiting, PATIENCE)
    assert work.started == ["one", "one"]


async def test_a_stalled_group_does_not_block_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scheduler, "STALL_TIMEOUT", 0.01)
    work = Work()
    hanging = {f"a{n}": "dead disk" for n in range(5)}
    work.gates = {key: asyncio.Event() for key in hanging}
    async with running(KeyedScheduler(work, lambda: hanging | {"z": "good disk"}, never, 2)):
        await work.until("z")
    assert len([key for key in work.started if key in hanging]) <= 2


async def test_a_failure_does_not_stop_other_keys_or_later_runs() -> None:
    started: list[str] = []
    enough = asyncio.Event()

    async def fail(key: str) -> None:
        started.append(key)
        if len(started) >= 4:
            enough.set()
        raise ValueError("broken")

    async with running(KeyedScheduler(fail, lambda: {"a": "g", "b": "g"}, lambda: 0.001, 1)):
        await asyncio.wait_for(enough.wait(), PATIENCE)
    assert {"a", "b"} <= set(started)


async def test_waiting_for_a_removed_key_ends() -> None:
    work = Work()
    made = KeyedScheduler(work, dict, never, 1)
    async with running(made):
        await asyncio.wait_for(made.request_and_wait(["gone"]), PATIENCE)
    assert work.started == []
