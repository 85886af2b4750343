"""Draws the pictures of the page: the real server, a real browser, the demo agent at work.

make pictures
"""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import aiohttp
from playwright.async_api import Browser, async_playwright

from tests.contract.conftest import make_program
from tests.page.browser import DESKTOP, Screen, create_context, launch_browser, sign_in
from tests.program import Program, Serving

HERE = Path(__file__).parent

PHONE_DARK = Screen(390, 844, touch=True)
PHONE_LIGHT = Screen(390, 844, touch=True, scheme="light")

ORCHARD = '''"""Count the apples of an orchard."""


def count(trees: list[int]) -> int:
    """The apples on all trees."""
    total = 0
    for apples in trees:
        total += apples
    return total
'''

SESSIONS = (
    ("first-steps", "Tour", "build", "Hello! Show me what you can do."),
    ("prune-the-tests", "Faster tests", "yolo", "/demo say All 214 tests pass, in half the time."),
    ("count-pears", "Pears too", "build", "/demo permission pytest -q"),
    ("press-cider", "Which press?", "build", "/demo ask Which press? | Screw | Hydraulic"),
    ("write-down", "Notes", "plan", "/demo plan Write a test for pears; Run all tests; Say so"),
)
"""Worktrees with an agent each: worktree, session, mode, message."""


class Client:
    """A client of the server's WebSocket."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._frames: list[dict[str, Any]] = []

    async def call(self, command: str, **args: object) -> Any:
        """Run a command and return its result."""
        await self._socket.send_str(json.dumps({"id": command, "command": command, "args": args}))
        return (await self._next(lambda frame: frame.get("id") == command))["data"]

    async def event(self, name: str) -> None:
        """Wait for the next event of this name."""
        await self._next(lambda frame: frame.get("event") == name)

    async def _next(self, wanted: Any) -> dict[str, Any]:
        for frame in self._frames:
            if wanted(frame):
                self._frames.remove(frame)
                return frame
        async with asyncio.timeout(60):
            while True:
                received: dict[str, Any] = await self._socket.receive_json()
                if wanted(received):
                    return received
                self._frames.append(received)


async def prepare(client: Client, program: Program) -> dict[str, Any]:
    """Create the worktrees and their sessions; return the first session."""
    root = program.place / "orchard"
    root.mkdir()
    (root / "orchard.py").write_text(ORCHARD)
    program.make_repository("orchard")
    project = await client.call("add_project", path=str(root))
    sessions: list[dict[str, Any]] = []
    for name, title, mode, message in SESSIONS:
        worktree = await client.call("create_worktree", projectId=project["id"], customName=name)
        await client.event("worktree:created")
        made = {"worktreeId": worktree["id"], "name": title, "executionMode": mode}
        session = await client.call("create_session", **made)
        await client.call("send_chat_message", sessionId=session["id"], message=message)
        await client.event(
            "message-completed" if mode != "plan" and len(sessions) < 2 else "session-waiting"
        )
        sessions.append(session)
    first = sessions[0]
    path = Path((await client.call("get_worktree", worktreeId=first["worktree_id"]))["path"])
    (path / "orchard.py").write_text(ORCHARD.replace("total += apples", "total += max(0, apples)"))
    return first


async def draw(browser: Browser, serving: Serving, name: str, place: str, screen: Screen) -> None:
    """One picture, of the page at this place."""
    context = await create_context(browser, screen, serving.base_url)
    page = await context.new_page()
    await sign_in(page, serving.token, place)
    await page.wait_for_selector("#link[data-state=open]")
    await page.wait_for_load_state("networkidle")
    await page.wait_for_timeout(800)  # a picture has nothing else to wait for
    await page.screenshot(path=HERE / f"{name}.png", animations="disabled")
    await context.close()


async def main() -> None:
    """All pictures."""
    with tempfile.TemporaryDirectory() as folder:
        program = make_program(Path(folder))
        async with async_playwright() as playwright:
            browser = await launch_browser(playwright, folder)
            with program.serving("--demo") as serving:
                url = f"{serving.base_url}/ws?token={serving.token}"
                async with aiohttp.ClientSession() as http, http.ws_connect(url) as socket:
                    session = await prepare(Client(socket), program)
                tour = f"/session/{session['id']}"
                changes = f"/diff/{session['worktree_id']}"
                await draw(browser, serving, "page-session", tour, DESKTOP)
                await draw(browser, serving, "page-changes", changes, DESKTOP)
                await draw(browser, serving, "page-phone-needs", "/needs", PHONE_LIGHT)
                await draw(browser, serving, "page-phone-session", tour, PHONE_DARK)
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
