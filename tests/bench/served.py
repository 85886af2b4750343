"""A program: Spinney's model and server as run by `spinney serve --demo`.

It also publishes events on request, and measures the delays of its event loop.
"""

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import model.api.all  # noqa: F401 - registers the commands
from model.agents.catalog import Catalog
from model.backends.demo.backend import DemoBackend
from model.base.paths import Directories
from model.commands.sessions import create_session, send_chat_message
from model.domain.events.messages import MessageCompleted, MessageFailed
from model.domain.events.program import TaskCompleted
from model.domain.events.projects import ProjectAdded
from model.domain.events.sessions import TurnRecorded
from model.domain.events.worktrees import WorktreeCreated
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from server.app import Server
from tests.bench.programs import Progress
from tests.bench.serving import LoopWatch, answer_lines, publish_all


async def add_plain_worktree(workspace: Workspace, place: Path) -> None:
    """Add a project and a worktree `w` that are plain folders."""
    for name in ("repository", "worktree"):
        (place / name).mkdir(exist_ok=True)
    project = Project(
        id="p", name="bench", path=str(place / "repository"), default_branch="main", added_at=1.0
    )
    worktree = Worktree(
        id="w",
        project_id="p",
        name="bench",
        path=str(place / "worktree"),
        branch="bench",
        created_at=1.0,
    )
    await workspace.store.accept(ProjectAdded(project=project), WorktreeCreated(worktree=worktree))


async def begin_session(workspace: Workspace, place: Path) -> Session:
    """Add such a worktree and create a session of the demo agent in it."""
    await add_plain_worktree(workspace, place)
    return await create_session(
        workspace, "w", name="Stream", execution_mode="build", backend="demo"
    )


async def stream(workspace: Workspace, session: Session, count: int, rate: float) -> dict[str, Any]:
    """Let the demo agent stream; return the cost until the end of the answer.

    Nothing more is published after this returns: other figures count every byte.
    """
    reader, news = workspace.bus.reader(), asyncio.Event()
    end_listening = workspace.bus.listen(news.set)
    watch = LoopWatch()
    await send_chat_message(workspace, session.id, f"/demo stream {count} {rate}")
    try:
        while True:
            await news.wait()
            news.clear()
            for entry in reader.take()[0]:
                match entry.event:
                    case MessageCompleted():
                        cost = watch.stop()
                    case TurnRecorded(turn=turn) if turn.ended_at is not None:
                        await _wait_for_silence(news)
                        return cost
                    case MessageFailed(error=error):
                        raise RuntimeError(error)
    finally:
        end_listening()


async def _wait_for_silence(news: asyncio.Event) -> None:
    """Wait until no event was published for a second: some are collected for a while."""
    with suppress(TimeoutError):
        while True:
            news.clear()
            await asyncio.wait_for(news.wait(), 1.0)


async def main(place: Path) -> None:
    """Serve, and execute the requests from stdin."""
    directories = Directories(config=place / "config", data=place / "data", home=place / "home")
    directories.create()
    backend = DemoBackend(directories.data / "demo")
    workspace = Workspace(directories, {"demo": backend}, Catalog(), demo=True)
    await workspace.start()
    server = workspace.http_server = Server(workspace)
    await server.start(0, localhost_only=True, token_required=False)
    session = await begin_session(workspace, place)
    # The first turn starts the agent's program, which is not measured.
    await stream(workspace, session, 10, 1000)

    async def answer(request: dict[str, Any]) -> dict[str, Any]:
        match request["do"]:
            case "port":
                return {"port": server.status()["port"]}
            case "publish":
                return await publish_all(
                    lambda text: workspace.bus.publish(
                        TaskCompleted(task="bench", ok=True, detail=text)
                    ),
                    request["events"],
                    request["per_turn"],
                    request["frame_size"],
                    Progress(request["progress"]),
                )
            case "stream":
                return await stream(workspace, session, request["count"], request["rate"])
            case other:
                raise ValueError(other)

    try:
        await answer_lines(answer)
    finally:
        await server.stop()
        await workspace.stop()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
