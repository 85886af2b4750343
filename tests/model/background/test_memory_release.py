"""Memory of long answers is returned to the system."""

import asyncio
from collections.abc import Callable

import pytest

from model.background import memory_release
from model.domain.events.messages import RunNoticed
from model.store.bus import EventBus
from tests.patience import PATIENCE


async def test_memory_is_released_twice_soon_after_long_texts_and_again_when_idle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trimmed: asyncio.Queue[None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def trim() -> bool:
        loop.call_soon_threadsafe(trimmed.put_nowait, None)
        return True

    monkeypatch.setattr(memory_release, "trim", trim)
    bus = EventBus()
    watching = asyncio.create_task(memory_release.return_freed_memory(bus, 0.01, 0.01))
    await asyncio.sleep(0)
    publish = _make_publisher(bus)
    publish(100)
    async with asyncio.timeout(PATIENCE):
        for _ in range(2):
            publish(memory_release.MIN_BYTES)
            for _ in range(3):
                await trimmed.get()
    assert trimmed.empty()
    watching.cancel()


async def test_the_task_ends_where_memory_cannot_be_released(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory_release, "trim", lambda: False)
    bus = EventBus()
    watching = asyncio.create_task(memory_release.return_freed_memory(bus, 0.01, 0.01))
    await asyncio.sleep(0)
    _make_publisher(bus)(memory_release.MIN_BYTES)
    await asyncio.wait_for(watching, PATIENCE)


def _make_publisher(bus: EventBus) -> Callable[[int], None]:
    def publish(size: int) -> None:
        bus.publish(RunNoticed(session_id="s", text="x" * size))
        bus.seal()

    return publish
