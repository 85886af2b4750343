"""Memory after work is done: it must not grow with the amount of work."""

import asyncio
import gc
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from model.commands.sessions import delete_session
from model.domain.events.program import TaskCompleted
from model.domain.messages import Message, TextBlock, ToolResultBlock, ToolUseBlock
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from tests.bench.working import begin, open_workspace, work

EVENTS = 400
"""Events per turn; about 80 blocks."""

WARM = 6
"""Turns until the bus's ring and every cache are full."""

TURNS = 10

CONVERSATION = "model.chat.conversation.Conversation"


@pytest.fixture
async def working(tmp_path: Path) -> Any:
    workspace = await open_workspace(tmp_path)
    yield workspace
    await workspace.stop()


def count_objects() -> Counter[str]:
    """Count the living objects of Spinney's own classes, and the tasks."""
    gc.collect()
    return Counter(
        f"{type(thing).__module__}.{type(thing).__qualname__}"
        for thing in gc.get_objects()
        # In some classes of compiled modules, `__module__` is not a string.
        if str(type(thing).__module__).startswith("model.") or isinstance(thing, asyncio.Task)
    )


async def settle(workspace: Workspace) -> None:
    """Wait until everything is written and priced, and fill the bus's ring with small events."""
    await workspace.usage.await_costs()
    await workspace.store.messages("none")
    for number in range(2000):
        workspace.bus.publish(TaskCompleted(task="filler", ok=True, detail=str(number)))
        if number % 100 == 0:
            await asyncio.sleep(0)
    await workspace.change_preferences(workspace.store.state.preferences)


@pytest.mark.longer
async def test_the_memory_of_long_sessions_does_not_grow(
    working: Workspace,
) -> None:
    keys = await begin(working, 3)
    for _ in range(WARM):
        await work(working, keys, EVENTS)
    await settle(working)
    tracemalloc.start()
    before = count_objects()
    for _ in range(TURNS):
        await work(working, keys, EVENTS)
    await settle(working)
    after = count_objects()
    bytes_grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    filler = {"model.store.bus.Published", "model.domain.events.program.TaskCompleted"}
    grown = {name: n - before[name] for name, n in after.items() if n > before[name]}
    grown = {name: n for name, n in grown.items() if name not in filler}
    resources = ("model.domain.messages.", "model.domain.requests.", "model.domain.sessions.")
    assert not [name for name in grown if name.startswith(resources)], grown
    assert sum(grown.values()) < 20, grown
    # Ten turns were 12,000 events; their memory has been released.
    assert bytes_grown < 2_000_000
    assert not working.store.state.streaming


@pytest.mark.longer
async def test_deleted_sessions_release_their_memory(working: Workspace) -> None:
    before = count_objects()
    keys = await begin(working, 3)
    await work(working, keys, EVENTS)
    during = count_objects()
    assert during[CONVERSATION] == before[CONVERSATION] + 3
    for key in keys:
        await delete_session(working, key)
    await settle(working)
    after = count_objects()
    chat = {name: n - before[name] for name, n in after.items() if ".chat." in name}
    assert {name: n for name, n in chat.items() if n} == {}
    for kind in (Session, Message, TextBlock, ToolUseBlock, ToolResultBlock):
        name = f"{kind.__module__}.{kind.__qualname__}"
        assert after[name] <= before[name], (kind, after[name], before[name])
