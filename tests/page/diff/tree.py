"""A worktree on disk whose changes a page shows, and the page's own words for them."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Locator, Page, expect

from tests.server.conftest import Socket

NUMBERS = "".join(f"line {n}\n" for n in range(1, 31))
BOTH_ENDS = NUMBERS.replace("line 3\n", "line three\n").replace("line 28\n", "line twenty-eight\n")


@dataclass
class Tree:
    """A worktree on disk."""

    id: str
    root: Path
    project: str = ""

    def write(self, name: str, text: str | bytes) -> None:
        """All at once: a page that reads meanwhile never sees half of a file."""
        path, made = self.root / name, self.root.with_name("being-written")
        path.parent.mkdir(parents=True, exist_ok=True)
        made.write_bytes(text if isinstance(text, bytes) else text.encode())
        made.replace(path)

    def read(self, name: str) -> str:
        return (self.root / name).read_text()

    def git(self, *words: str) -> str:
        ran = subprocess.run(
            ["git", *words], cwd=self.root, capture_output=True, text=True, check=True
        )
        return ran.stdout

    def commit(self, name: str, text: str) -> None:
        self.write(name, text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", f"Change {name}")


async def show(page: Page, tree: Tree, query: str = "") -> None:
    await page.goto(f"/#/diff/{tree.id}{query}")
    await expect(page.get_by_role("group", name="Which changes")).to_be_visible()


def file(page: Page, path: str) -> Locator:
    return page.get_by_role("region", name=path, exact=True)


def button(page: Page | Locator, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def row(page: Page, text: str) -> Locator:
    return page.locator(".diff-row[data-at]").filter(has_text=text).first


async def tell(other: Socket, tree: Tree) -> None:
    """Git is asked now what changed on disk, and not within a minute."""
    await other.call("fetch_worktrees_status", projectId=tree.project)


async def sent_to(other: Socket, session: Any) -> list[str]:
    """What a person said in the session, once something was."""
    while not (said := await _said_in(other, session)):
        await other.event("message-queued")
    return said


async def _said_in(other: Socket, session: Any) -> list[str]:
    page = await other.call("get_messages", sessionId=session["id"])
    said = [message for message in page["messages"] if message["role"] == "user"]
    return [block["text"] for message in said for block in message["content"]]
