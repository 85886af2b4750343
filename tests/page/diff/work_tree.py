"""A worktree on disk whose changes a page shows, and locators for these changes."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Locator, Page, expect

from tests.server.conftest import Socket

NUMBERS = "".join(f"line {n}\n" for n in range(1, 31))
BOTH_ENDS = NUMBERS.replace("line 3\n", "line three\n").replace("line 28\n", "line twenty-eight\n")


@dataclass
class WorkTree:
    """A worktree on disk."""

    id: str
    root: Path
    project: str = ""

    def write(self, name: str, text: str | bytes) -> None:
        """Write a file atomically, so that a page never reads half of it."""
        path, partial = self.root / name, self.root.with_name("being-written")
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(text if isinstance(text, bytes) else text.encode())
        partial.replace(path)

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


async def open_diff(page: Page, tree: WorkTree, query: str = "") -> None:
    await page.goto(f"/#/diff/{tree.id}{query}")
    await expect(page.get_by_role("group", name="Which changes")).to_be_visible()


def file(page: Page, path: str) -> Locator:
    return page.get_by_role("region", name=path, exact=True)


def button(page: Page | Locator, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def row(page: Page, text: str) -> Locator:
    return page.locator(".diff-row[data-at]").filter(has_text=text).first


async def refresh_status(client: Socket, tree: WorkTree) -> None:
    """Have Spinney read the Git status now, which it does once a minute otherwise."""
    await client.call("fetch_worktrees_status", projectId=tree.project)


async def wait_for_user_texts(client: Socket, session: Any) -> list[str]:
    """Wait for a user message in the session; return the texts of all of them."""
    while not (texts := await _read_user_texts(client, session)):
        await client.event("message-queued")
    return texts


async def _read_user_texts(client: Socket, session: Any) -> list[str]:
    page = await client.call("get_messages", sessionId=session["id"])
    messages = [message for message in page["messages"] if message["role"] == "user"]
    return [block["text"] for message in messages for block in message["content"]]
