"""A worktree on disk whose changes a page shows, and locators for these changes."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Locator, Page, expect

from tests.page.user_input import UserInput
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


def side(page: Page, name: str) -> Locator:
    """The button of a side, whose name ends with the number of its files."""
    sides = page.get_by_role("group", name="Which changes")
    return sides.get_by_role("button", name=re.compile(rf"^{name}\b")).first


async def choose_side(user: UserInput, name: str) -> None:
    """Show other changes: by a button, or on a phone from a menu."""
    if await (direct := side(user.page, name)).is_visible():
        await user.press(direct)
        return
    sides = user.page.get_by_role("group", name="Which changes")
    await user.press(sides.get_by_role("button").last)
    menu = user.page.get_by_role("dialog", name="Which changes?")
    await user.press(menu.get_by_role("button", name=re.compile(rf"^{name}\b")))


async def choose(user: UserInput, action: str) -> None:
    """Choose an action from the menu of all changes."""
    await user.press(button(user.page, "More actions"))
    await user.press(button(user.page.get_by_role("dialog", name="Changes"), action))


async def act(user: UserInput, action: str, subject: str, within: Locator | None = None) -> None:
    """Press the button for an action on a file or hunk, or choose it from its menu on touch."""
    place = within or user.page.locator(".diff-files")
    menu = place.get_by_role("button", name=f"Actions for {subject}")
    direct = place.get_by_role("button", name=f"{action} {subject}")
    await expect(menu.or_(direct).first).to_be_visible()
    if await direct.count():
        await user.press(direct.first)
        return
    await user.press(menu.first)
    await user.press(user.page.get_by_role("dialog").get_by_role("button", name=action))


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
