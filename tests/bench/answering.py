"""A program: Spinney as run by `spinney serve`, with sessions that real agents answer concurrently.

`python answering.py REPOSITORY`; directories and programs are those of its environment.
"""

import asyncio
import gc
import sys
import time
from typing import Any

import model.api.all  # noqa: F401 - registers the commands
from model.agents.agents_file import load_catalog
from model.backends.registry import create_backends
from model.base.paths import resolve_directories
from model.commands.preferences import update_preferences
from model.commands.projects import add_project
from model.commands.sessions import (
    create_session,
    delete_session,
    get_messages,
    send_chat_message,
)
from model.commands.worktrees import open_base_worktree
from model.runtime.workspace import Workspace
from server.app import Server
from tests.bench.serving import LoopWatch, answer_lines


async def begin(
    workspace: Workspace, worktree_id: str, count: int, backend: str, model: str | None
) -> list[str]:
    """Create `count` sessions, with names so that no agent is asked for one."""
    made = [
        await create_session(
            workspace, worktree_id, name=f"Thread {number}", backend=backend, model=model
        )
        for number in range(count)
    ]
    return [session.id for session in made]


async def send_messages(
    workspace: Workspace, messages: dict[str, str], patience: float
) -> dict[str, Any]:
    """Send all messages and return the answers by session; `None` for those not in time."""
    news = asyncio.Event()
    end_listening = workspace.bus.listen(news.set)
    watch, began = LoopWatch(), time.perf_counter()
    waiting = set(messages)
    try:
        for key, text in messages.items():
            await send_chat_message(workspace, key, text)
        async with asyncio.timeout(patience):
            while waiting := {key for key in waiting if _is_working(workspace, key)}:
                await news.wait()
                news.clear()
    except TimeoutError:
        pass
    finally:
        end_listening()
    cost = {"seconds": time.perf_counter() - began, **watch.stop()}
    said = {key: None if key in waiting else await _get_answer(workspace, key) for key in messages}
    return {**cost, "said": said}


def _is_working(workspace: Workspace, key: str) -> bool:
    return workspace.store.state.sessions[key].status not in ("idle", "failed")


async def _get_answer(workspace: Workspace, key: str) -> str:
    """Return the newest answer, or the error."""
    session = workspace.store.state.sessions[key]
    if session.status == "failed":
        return f"failed: {session.last_run and session.last_run.error}"
    (newest,) = (await get_messages(workspace, key, limit=1)).messages
    return newest.text.strip()


async def delete(workspace: Workspace, keys: list[str]) -> dict[str, Any]:
    """Delete the sessions; return the duration and the figures of the loop."""
    watch, began = LoopWatch(), time.perf_counter()
    for key in keys:
        await delete_session(workspace, key)
    cost = {"seconds": time.perf_counter() - began, **watch.stop()}
    gc.collect()
    return cost


async def main(repository: str) -> None:
    """Serve, and execute the requests from stdin."""
    places = resolve_directories()
    places.create()
    catalog, _ = load_catalog(places.models, places.agents)
    workspace = Workspace(
        places, create_backends(places.data, catalog, demo=True), catalog, demo=True
    )
    await workspace.start()
    server = workspace.http_server = Server(workspace)
    await server.start(0, localhost_only=True, token_required=True)
    project = await add_project(workspace, repository)
    worktree = await open_base_worktree(workspace, project.id)
    gc.freeze()

    async def answer(request: dict[str, Any]) -> dict[str, Any]:
        match request:
            case {"do": "begin", **given}:
                return {"sessions": await begin(workspace, worktree.id, **given)}
            case {"do": "limit", "agents": limit}:
                await update_preferences(workspace, {"agent_limit": limit})
                return {}
            case {"do": "answers", **given}:
                return await send_messages(workspace, **given)
            case {"do": "delete", **given}:
                return await delete(workspace, **given)
            case other:
                raise ValueError(other)

    try:
        await answer_lines(answer)
    finally:
        await server.stop()
        await workspace.stop()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
