"""A program: Spinney in a terminal, with sessions of the agents in `paced`.

`python at_work.py RESULT SESSIONS MESSAGE` opens the first session, sends the message to all, and
records the CPU time of its threads every second. At its end it writes these records and the delays
of the screen's event loop to RESULT.
"""

import asyncio
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

import model.api.all  # noqa: F401 - registers the commands
from model.agents.catalog import Catalog
from model.api.sessions import send_chat_message
from model.base.paths import Directories, resolve_directories
from model.client.local import LocalClient
from model.commands.sessions import create_session
from model.domain.events.projects import ProjectAdded
from model.domain.events.worktrees import WorktreeCreated
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.runtime.core import Core
from model.runtime.workspace import Workspace
from tests.bench.paced import PacedBackend
from tests.bench.serving import LoopWatch
from tui.shell.app import SpinneyApp
from tui.store.mirror import Change

UNWATCHED = 12
"""Seconds before the loop is watched, which takes 2 % of a core."""


class AtWork:
    """The model with its agents, and the records taken while the application runs."""

    def __init__(self, places: Directories, result: Path, sessions: int, message: str) -> None:
        self._places = places
        self._result = result
        self._sessions = sessions
        self._message = message
        self._core = Core()
        self._workspace: Workspace | None = None
        self._notes: list[dict[str, float]] = []
        self._watched: dict[str, float] = {}
        self._frames = 0
        self._running: asyncio.Task[None] | None = None

    def connect(self) -> LocalClient:
        """Start the model; called in a thread, as in the product."""
        self._core.start()
        workspace = Workspace(self._places, {"backend_a": PacedBackend()}, Catalog())
        self._workspace = workspace
        self._core.submit(self._start(workspace)).result()
        return LocalClient(self._core, workspace)

    async def _start(self, workspace: Workspace) -> None:
        await workspace.start()
        root = self._places.data / "worktree"
        root.mkdir()
        project = Project(id="p", name="bench", path=str(root), added_at=1.0)
        tree = Worktree(
            id="w", project_id="p", name="bench", path=str(root), branch="bench", created_at=1.0
        )
        await workspace.store.accept(ProjectAdded(project=project), WorktreeCreated(worktree=tree))
        for number in range(self._sessions):
            await create_session(workspace, "w", name=f"Session {number}")

    async def begin(self, app: SpinneyApp) -> None:
        """Start the work as a task, since the application waits for the end of its pilot."""
        self._running = asyncio.create_task(self._run(app))

    async def _run(self, app: SpinneyApp) -> None:
        """Send the messages, and take records until the loop ends."""
        main = app.main
        while not main.is_connected or len(main.state.sessions) < self._sessions:
            await asyncio.sleep(0.05)
        main.mirror.followers.append(self._count)
        first, *others = sorted(main.state.sessions.values(), key=lambda session: session.name)
        main.open_session(first.id)
        for session in (first, *others):
            await main.client.call(send_chat_message, session_id=session.id, message=self._message)
        if self._message in ("ask", "work"):
            return  # taking records would cost more than what is measured
        watch: LoopWatch | None = None
        try:
            while True:
                await asyncio.sleep(1.0)
                self._note(app)
                if len(self._notes) == UNWATCHED:
                    watch = LoopWatch()
        finally:
            self._watched = watch.stop() if watch is not None else {}

    def _count(self, _change: Change) -> None:
        self._frames += 1

    def _note(self, app: SpinneyApp) -> None:
        used = {"core": 0.0, "screen": 0.0, "others": 0.0}
        for thread in threading.enumerate():
            try:
                spent = Path(f"/proc/self/task/{thread.native_id}/schedstat").read_text()
            except OSError:
                continue
            names = {"spinney-core": "core", "MainThread": "screen"}
            used[names.get(thread.name, "others")] += int(spent.split()[0]) / 1e9
        transcript = app.main.chat.transcript
        rows = transcript.viewport.rows.total if transcript and transcript.viewport else 0
        now = {"at": time.monotonic(), "rows": rows, "frames": self._frames}
        self._notes.append({**now, **used})

    def stop(self) -> None:
        """Write the result, and stop the model."""
        found: dict[str, Any] = {"notes": self._notes, "loop": self._watched}
        self._result.write_text(json.dumps(found))
        try:
            if self._workspace is not None:
                self._core.submit(self._workspace.stop()).result(timeout=15)
        finally:
            self._core.stop()


def main() -> None:
    """Run the application."""
    result, sessions, message = sys.argv[1:]
    places = resolve_directories()
    places.create()
    at_work = AtWork(places, Path(result), int(sessions), message)
    app = SpinneyApp(at_work.connect)
    try:
        app.run(auto_pilot=lambda _: at_work.begin(app))
    finally:
        at_work.stop()


if __name__ == "__main__":
    main()
