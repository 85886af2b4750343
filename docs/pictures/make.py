"""Draws the pictures of the README: the real program, a real repository, the demo agent at work.

make pictures
"""

import asyncio
import contextlib
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot

from model.api.preferences import update_preferences
from model.api.sessions import create_session, send_chat_message, update_session
from model.api.worktrees import create_worktree
from model.base.instance import acquire_lock
from model.demo import demo_directories
from model.domain.modes import ExecutionMode
from model.domain.sessions import Session
from model.state import State
from server.engine import Engine
from tui.shell.app import SpinneyApp

HERE = Path(__file__).parent
SIZE = (120, 46)

# Nothing that the picture shows depends on where it was made.
ENVIRON = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}

BESIDE: tuple[tuple[str, str, ExecutionMode, str], ...] = (
    ("prune-the-tests", "Faster tests", "yolo", "/demo say All 214 tests pass, in half the time."),
    ("count-pears", "Pears too", "build", "/demo wait 600"),
    ("press-cider", "Which press?", "build", "/demo ask Which press? | Screw | Hydraulic"),
)
"""Other worktrees with an agent each: worktree, session, mode, message."""

FIRST = "Hello! Show me what you can do."
THEN = "/demo plan Write a test for spinney-tour.md; Run all tests; Say what they found"


class Scene:
    """A headless terminal, and what a user does in it."""

    def __init__(self, app: SpinneyApp, pilot: Pilot[None]) -> None:
        self._app = app
        self._pilot = pilot

    @property
    def state(self) -> State:
        """All that is known."""
        return self._app.main.mirror.state

    async def until(self, true: Callable[[State], bool]) -> State:
        """The first state in which this holds."""
        return await self._app.main.mirror.wait_for(true)

    async def open_tour(self) -> Session:
        """The session that the demo begins with."""
        async with asyncio.timeout(30):
            while self._app.main.is_connected is False:
                await self._pilot.pause()
        await self.until(lambda state: bool(state.sessions))
        return next(iter(self.state.sessions.values()))

    async def work_beside(self, project_id: str) -> None:
        """Agents in other worktrees: one that is done, one at work, one that waits."""
        client = self._app.main.client
        for worktree_name, name, mode, message in BESIDE:
            made = await client.call(
                create_worktree, project_id=project_id, custom_name=worktree_name
            )
            await self._made(made.id)
            session = await client.call(
                create_session, worktree_id=made.id, name=name, execution_mode=mode
            )
            await client.call(send_chat_message, session_id=session.id, message=message)

    async def say(self, session: Session, text: str, mode: ExecutionMode, ends: str) -> None:
        """Write a message and wait until the session is idle or waiting."""
        client = self._app.main.client
        before = self.state.sessions[session.id].message_count
        await client.call(update_session, session_id=session.id, execution_mode=mode)
        await client.call(send_chat_message, session_id=session.id, message=text)

        def is_over(state: State) -> bool:
            now = state.sessions[session.id]
            return now.message_count >= before + 2 and now.status == ends

        await self.until(is_over)

    async def _made(self, worktree_id: str) -> None:
        await self.until(
            lambda state: (
                worktree_id in state.worktrees and state.worktrees[worktree_id].status == "ready"
            )
        )

    def draw(self, name: str) -> None:
        """Keep what is on the screen."""
        drawn = self._app.export_screenshot(title="spinney")
        (HERE / f"{name}.svg").write_text(self_contained(drawn))


def self_contained(svg: str) -> str:
    """The picture without fonts that a reader's browser would have to fetch."""
    svg = re.sub(r"<!--.*?-->", "", svg)
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("font-family: Fira Code, monospace", "font-family: monospace")
    return "\n".join(line.rstrip() for line in svg.splitlines() if line.strip()) + "\n"


async def main() -> None:
    """Play the scene and draw it, dark and light."""
    with tempfile.TemporaryDirectory() as place:
        places = demo_directories(Path(place))
        places.create()
        lock = acquire_lock(places.lock)
        assert lock is not None
        engine = Engine(places, lock, demo=True, prepared=True)
        app = SpinneyApp(engine.connect, demo=True, environ=ENVIRON)
        try:
            async with app.run_test(size=SIZE) as pilot:
                scene = Scene(app, pilot)
                session = await scene.open_tour()
                worktree = scene.state.worktrees[session.worktree_id]
                await scene.work_beside(worktree.project_id)
                await scene.say(session, FIRST, "build", "idle")
                await scene.say(session, THEN, "plan", "waiting")
                app.main.open_session(session.id)
                await pilot.pause(1)
                scene.draw("terminal")
                await app.main.client.call(update_preferences, changes={"theme": "light"})
                await pilot.pause(1)
                scene.draw("terminal-light")
        finally:
            with contextlib.suppress(TimeoutError):
                await asyncio.to_thread(engine.stop)


if __name__ == "__main__":
    asyncio.run(main())
