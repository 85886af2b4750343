"""A program: Spinney's model and server without a terminal, as `spinney serve --demo` runs them.

Beside that it publishes events when asked, and watches its own loop.
"""

import asyncio
import sys
from pathlib import Path
from typing import Any

import model.api.all  # noqa: F401 - registers the commands
from model.agents.catalog import Catalog
from model.backends.demo.backend import DemoBackend
from model.base.paths import Directories
from model.commands.sessions import create_session, send_chat_message
from model.domain.events import (
    MessageCompleted,
    MessageFailed,
    ProjectAdded,
    TaskCompleted,
    WorktreeCreated,
)
from model.domain.resources import Project, Session, Worktree
from model.runtime.workspace import Workspace
from server.app import Server
from tests.bench.programs import Progress
from tests.bench.serving import LoopWatch, answer_lines, publish_all


async def plain_worktree(workspace: Workspace, place: Path) -> None:
    """A project and a worktree `w` that are plain folders."""
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
    """Such a worktree, and a session of the demo agent in it."""
    await plain_worktree(workspace, place)
    return await create_session(
        workspace, "w", name="Stream", execution_mode="build", backend="demo"
    )


async def stream(workspace: Workspace, session: Session, count: int, rate: float) -> dict[str, Any]:
    """Let the demo agent stream; what it cost until the answer was over."""
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
                        return watch.stop()
                    case MessageFailed(error=error):
                        raise RuntimeError(error)
    finally:
        end_listening()


async def main(place: Path) -> None:
    """Serve, and do what is asked."""
    directories = Directories(config=place / "config", data=place / "data", home=place / "home")
    directories.create()
    backend = DemoBackend(directories.data / "demo")
    workspace = Workspace(directories, {"demo": backend}, Catalog(), demo=True)
    await workspace.start()
    server = workspace.http_server = Server(workspace)
    await server.start(0, localhost_only=True, token_required=False)
    session = await begin_session(workspace, place)
    # The agent's program is started by its first turn, which is no part of what is measured.
    await stream(workspace, session, 10, 1000)

    async def answer(asked: dict[str, Any]) -> dict[str, Any]:
        match asked["do"]:
            case "port":
                return {"port": server.status()["port"]}
            case "publish":
                return await publish_all(
                    lambda text: workspace.bus.publish(
                        TaskCompleted(task="bench", ok=True, detail=text)
                    ),
                    asked["events"],
                    asked["per_turn"],
                    asked["frame_size"],
                    Progress(asked["progress"]),
                )
            case "stream":
                return await stream(workspace, session, asked["count"], asked["rate"])
            case other:
                raise ValueError(other)

    try:
        await answer_lines(answer)
    finally:
        await server.stop()
        await workspace.stop()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
