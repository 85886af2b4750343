"""What stays in memory of work that is done: nothing that grows with how much was done."""

import asyncio
import gc
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from model.commands.sessions import delete_session
from model.domain.events import TaskCompleted
from model.runtime.workspace import Workspace
from tests.bench.working import begin, open_workspace, work

EVENTS = 400
"""Of a turn: some 80 blocks."""

WARM = 6
"""Turns until the bus's ring and every cache are full."""

TURNS = 10

CONVERSATION = "model.chat.conversation.Conversation"


@pytest.fixture
async def working(tmp_path: Path) -> Any:
    made = await open_workspace(tmp_path)
    yield made
    await made.stop()


def kept() -> Counter[str]:
    """How many objects of Spinney's own classes, and tasks, are alive."""
    gc.collect()
    return Counter(
        f"{type(thing).__module__}.{type(thing).__qualname__}"
        for thing in gc.get_objects()
        # Some classes of compiled modules have something else there than a text.
        if str(type(thing).__module__).startswith("model.") or isinstance(thing, asyncio.Task)
    )


async def at_rest(workspace: Workspace) -> None:
    """Wait until all is written, and fill the bus's ring with what holds nothing."""
    await workspace.store.messages("none")
    for number in range(2000):
        workspace.bus.publish(TaskCompleted(task="filler", ok=True, detail=str(number)))
        if number % 100 == 0:
            await asyncio.sleep(0)
    await workspace.change_preferences(workspace.store.state.preferences)


@pytest.mark.longer
async def test_sessions_that_go_on_and_on_keep_no_more_than_when_they_were_warm(
    working: Workspace,
) -> None:
    keys = await begin(working, 3)
    for _ in range(WARM):
        await work(working, keys, EVENTS)
    await at_rest(working)
    tracemalloc.start()
    before = kept()
    for _ in range(TURNS):
        await work(working, keys, EVENTS)
    await at_rest(working)
    after = kept()
    bytes_grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    filler = {"model.store.bus.Published", "model.domain.events.TaskCompleted"}
    grown = {name: n - before[name] for name, n in after.items() if n > before[name]}
    grown = {name: n for name, n in grown.items() if name not in filler}
    assert not [name for name in grown if name.startswith("model.domain.resources.")], grown
    assert sum(grown.values()) < 20, grown
    # Ten turns were 12,000 events; what was allocated for them is not there any more.
    assert bytes_grown < 2_000_000
    assert not working.store.state.streaming


@pytest.mark.longer
async def test_deleted_sessions_give_theirs_back(working: Workspace) -> None:
    before = kept()
    keys = await begin(working, 3)
    await work(working, keys, EVENTS)
    during = kept()
    assert during[CONVERSATION] == before[CONVERSATION] + 3
    for key in keys:
        await delete_session(working, key)
    await at_rest(working)
    after = kept()
    chat = {name: n - before[name] for name, n in after.items() if ".chat." in name}
    assert {name: n for name, n in chat.items() if n} == {}
    for kind in ("Session", "Message", "TextBlock", "ToolUseBlock", "ToolResultBlock"):
        name = f"model.domain.resources.{kind}"
        assert after[name] <= before[name], (kind, after[name], before[name])
