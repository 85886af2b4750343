"""What long answers took goes back to the system."""

import asyncio
from collections.abc import Callable

import pytest

from model.background import memory_release
from model.domain.events import RunNoticed
from model.store.bus import EventBus
from tests.patience import PATIENCE


async def test_after_long_texts_memory_is_given_back_soon_and_once_more_at_rest(
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
    tell = _teller(bus)
    tell(100)
    async with asyncio.timeout(PATIENCE):
        for _ in range(2):
            tell(memory_release.MIN_BYTES)
            await trimmed.get()
            await trimmed.get()
    assert trimmed.empty()
    watching.cancel()


async def test_where_it_cannot_be_nothing_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_release, "trim", lambda: False)
    bus = EventBus()
    watching = asyncio.create_task(memory_release.return_freed_memory(bus, 0.01, 0.01))
    await asyncio.sleep(0)
    _teller(bus)(memory_release.MIN_BYTES)
    await asyncio.wait_for(watching, PATIENCE)


def _teller(bus: EventBus) -> Callable[[int], None]:
    def tell(size: int) -> None:
        bus.publish(RunNoticed(session_id="s", text="x" * size))
        bus.seal()

    return tell
