"""A program: Spinney's model with many concurrent sessions of scripted agents.

It reports their memory and the delays of the event loop.
"""

import asyncio
import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

import model.api.all  # noqa: F401 - registers the commands
from model.agents.catalog import Catalog
from model.backends import agent_events, base
from model.base.paths import Directories
from model.commands.sessions import create_session, delete_session, send_chat_message
from model.domain.events.projects import ProjectAdded
from model.domain.events.worktrees import WorktreeCreated
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests.bench.scripted import ScriptedAgent, ScriptedBackend
from tests.bench.serving import LoopWatch, answer_lines


async def open_workspace(place: Path) -> Workspace:
    """Start a workspace with a worktree `w` that is a plain folder."""
    directories = Directories(config=place / "config", data=place / "data", home=place / "home")
    directories.create()
    workspace = Workspace(directories, {"backend_a": ScriptedBackend()}, Catalog())
    await workspace.start()
    for name in ("repository", "worktree"):
        (place / name).mkdir()
    project = Project(id="p", name="bench", path=str(place / "repository"), added_at=1.0)
    path = str(place / "worktree")
    worktree = Worktree(
        id="w", project_id="p", name="bench", path=path, branch="bench", created_at=1.0
    )
    await workspace.store.accept(ProjectAdded(project=project), WorktreeCreated(worktree=worktree))
    return workspace


async def begin(workspace: Workspace, count: int) -> list[str]:
    """Create `count` sessions, each with an agent that has run a short turn."""
    made = [await create_session(workspace, "w", name="Bench") for _ in range(count)]
    keys = [session.id for session in made]
    await work(workspace, keys, 10)
    return keys


async def work(workspace: Workspace, keys: list[str], events: int) -> None:
    """Run a turn of `events` events in all sessions concurrently."""
    for key in keys:
        await send_chat_message(workspace, key, str(events))
    await _wait_until(workspace, lambda: all(_is_idle(workspace, key) for key in keys))


def _is_idle(workspace: Workspace, key: str) -> bool:
    session = workspace.store.state.sessions[key]
    if session.status == "failed":
        raise RuntimeError(session.last_run)
    return session.status == "idle"


async def _wait_until(workspace: Workspace, condition: Callable[[], bool]) -> None:
    news = asyncio.Event()
    end_listening = workspace.bus.listen(news.set)
    try:
        while not condition():
            await news.wait()
            news.clear()
    finally:
        end_listening()


async def run_bare(agents: int, events: int) -> dict[str, float]:
    """Run the same agents and only count their events."""

    async def count() -> int:
        agent, received = ScriptedAgent(), 0
        await agent.send(base.Prompt(str(events)))
        async for event in agent.events():
            received += 1
            if isinstance(event, agent_events.TurnFinished):
                break
        await agent.close()
        return received

    cpu = time.process_time()
    await asyncio.gather(*(count() for _ in range(agents)))
    return {"cpu": time.process_time() - cpu}


def measure_memory() -> int:
    """Return the resident memory of this process in bytes."""
    gc.collect()
    used: int = psutil.Process().memory_info().rss
    return used


async def _crowd(workspace: Workspace, sessions: int, events: int) -> dict[str, Any]:
    await begin(workspace, 1)  # imports of the first session are not measured
    before = measure_memory()
    keys = await begin(workspace, sessions)
    idle = (measure_memory() - before) / sessions
    watch, began = LoopWatch(), time.perf_counter()
    await work(workspace, keys, events)
    seconds = time.perf_counter() - began
    return {"idle": idle, "seconds": seconds, **watch.stop()}


async def _soak(workspace: Workspace, sessions: int, turns: int, events: int) -> dict[str, Any]:
    start = measure_memory()
    keys = await begin(workspace, sessions)
    found: dict[str, Any] = {"start": start}
    for number in range(turns):
        if number == max(1, turns // 10):
            found["warm"] = measure_memory()
        await work(workspace, keys, events)
    found["end"] = measure_memory()
    for key in keys:
        await delete_session(workspace, key)
    return {**found, "closed": measure_memory()}


async def main(place: Path) -> None:
    """Execute the requests from stdin."""
    workspace = await open_workspace(place)

    async def answer(request: dict[str, Any]) -> dict[str, Any]:
        match request:
            case {"do": "bare", **given}:
                return await run_bare(**given)
            case {"do": "crowd", **given}:
                return await _crowd(workspace, **given)
            case {"do": "soak", **given}:
                return await _soak(workspace, **given)
            case other:
                raise ValueError(other)

    try:
        await answer_lines(answer)
    finally:
        await workspace.stop()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
