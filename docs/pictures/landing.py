"""Draws the landing desk, in the terminal and on the page, with worktrees at different steps.

make pictures
"""

import asyncio
import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
from playwright.async_api import async_playwright

from docs.pictures.make import ENVIRON, self_contained
from docs.pictures.page import ORCHARD, Client, draw
from model.client.local_instance import connect_to
from tests.contract.conftest import make_program
from tests.page.browser import DESKTOP, launch_browser
from tests.program import Program, Serving
from tui.landing.screen import LandingScreen
from tui.shell.app import SpinneyApp

HERE = Path(__file__).parent
TERMINAL = (104, 17)
SHOWS_LANDING = "shift+f11"

CHECK = "! grep -rn FIXME --include=*.py ."

PEARS = '''"""Count the pears of an orchard."""


def count(trees: list[int]) -> int:
    """The pears on all trees."""
    return sum(max(0, pears) for pears in trees)
'''
PRESS = '''"""Press cider."""


def press(apples: int) -> float:
    """Liters of cider."""
    return apples * 0.11  # FIXME: pears, too
'''
LONGER = ORCHARD.replace("total += apples", "total += max(0, apples)")

COMMITTED: Mapping[str, tuple[str, str]] = {
    "count-pears": ("pears.py", PEARS),
    "no-rotten-apples": ("orchard.py", LONGER),
    "press-cider": ("cider.py", PRESS),
    "sort-trees": ("trees.py", PEARS.replace("pears", "trees").replace("count", "sort")),
}
"""The commit of each worktree: a file and its text."""
CHECKED = ("count-pears", "no-rotten-apples", "press-cider", "sort-trees")
ACCEPTED = ("count-pears", "sort-trees")
LANDED = "sort-trees"
ASKED = "water-the-trees"
"""Whose session asks a question."""
UNCOMMITTED: Mapping[str, tuple[str, str]] = {
    ASKED: ("water.py", PEARS.replace("Count the pears", "Water the trees")),
    "write-notes": ("NOTES.md", "# Notes\n\nThe frost came late this year.\n"),
}


class Orchard:
    """A repository with worktrees, through a client of its server."""

    def __init__(self, client: Client, root: Path) -> None:
        self._client = client
        self._root = root
        self._worktrees: dict[str, dict[str, Any]] = {}
        self.project_id = ""

    async def prepare(self) -> None:
        """Create the worktrees, and bring each to its step."""
        self.project_id = (await self._client.call("add_project", path=str(self._root)))["id"]
        for name in (*COMMITTED, *UNCOMMITTED):
            made = {"projectId": self.project_id, "customName": name}
            worktree = await self._client.call("create_worktree", **made)
            await self._client.event("worktree:created")
            self._worktrees[name] = worktree
        for name, (file, text) in COMMITTED.items():
            self._write(name, file, text)
            self._git(name, "add", file)
            self._git(name, "commit", "--quiet", "--message", name.replace("-", " ").capitalize())
        for name, (file, text) in UNCOMMITTED.items():
            self._write(name, file, text)
        await self._ask()
        for name in CHECKED:
            checked = {"worktreeId": self._worktrees[name]["id"], "script": "check"}
            await self._client.call("run_worktree_script", **checked)
            await self._client.event("task:completed")
        for name in ACCEPTED:
            await self._accept(name)
        await self._land()

    async def _ask(self) -> None:
        made = {"worktreeId": self._worktrees[ASKED]["id"], "name": "How often?"}
        session = await self._client.call("create_session", **made)
        message = "/demo ask How often? | Every day | When it is dry"
        await self._client.call("send_chat_message", sessionId=session["id"], message=message)
        await self._client.event("session-waiting")

    async def _accept(self, name: str) -> None:
        """Accept all hunks of the file that was committed."""
        file = COMMITTED[name][0]
        of_it = {"worktreeId": self._worktrees[name]["id"], "path": file, "side": "branch"}
        shown = await self._client.call("get_file_diff", **of_it)
        for hunk in shown["hunks"]:
            decided = {"hunk": hunk, "seen": shown["digest"], "verdict": "accepted"}
            await self._client.call("decide_hunk", **of_it, **decided)

    async def _land(self) -> None:
        worktree_id = self._worktrees[LANDED]["id"]
        shown = await self._client.call("preview_landing", worktreeId=worktree_id)
        landed = {"worktreeId": worktree_id, "baseCommit": shown["base_commit"]}
        await self._client.call("land_worktree", method="squash", **landed)
        await self._client.call("fetch_worktrees_status", projectId=self.project_id)

    def _write(self, name: str, file: str, text: str) -> None:
        (Path(self._worktrees[name]["path"]) / file).write_text(text)

    def _git(self, name: str, *words: str) -> None:
        user = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        subprocess.run(["git", *user, *words], cwd=self._worktrees[name]["path"], check=True)


def make_repository(program: Program) -> Path:
    """Create the repository, with a check script."""
    root = program.place / "orchard"
    root.mkdir()
    (root / "orchard.py").write_text(ORCHARD)
    (root / "spinney.json").write_text(json.dumps({"scripts": {"check": CHECK}}))
    return program.make_repository("orchard")


async def draw_terminal(serving: Serving, name: str) -> None:
    """The desk in a terminal that is attached to the server."""

    async def connect() -> Any:
        return await connect_to(serving.base_url, serving.token)

    app = SpinneyApp(connect, attached=True, elsewhere=serving.base_url, environ=ENVIRON)
    async with app.run_test(size=TERMINAL) as pilot:
        async with asyncio.timeout(60):
            while not app.main.is_connected:
                await pilot.pause(0.1)
            await app.main.mirror.wait_for(lambda state: bool(state.worktrees))
            await pilot.pause(1)
            await pilot.press(SHOWS_LANDING)
            while not (isinstance(app.screen, LandingScreen) and app.screen.rows.items):
                await pilot.pause(0.1)
        await pilot.pause(1)
        svg = self_contained(app.export_screenshot(title="spinney"))
        (HERE / f"{name}.svg").write_text(svg)


async def main() -> None:
    """Both pictures."""
    with tempfile.TemporaryDirectory() as folder:
        program = make_program(Path(folder))
        root = make_repository(program)
        with program.serving("--demo") as serving:
            url = f"{serving.base_url}/ws?token={serving.token}"
            async with aiohttp.ClientSession() as http, http.ws_connect(url) as socket:
                orchard = Orchard(Client(socket), root)
                await orchard.prepare()
            await draw_terminal(serving, "landing")
            async with async_playwright() as playwright:
                browser = await launch_browser(playwright, folder)
                place = f"/landing/{orchard.project_id}"
                await draw(browser, serving, "page-landing", place, DESKTOP)
                await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
