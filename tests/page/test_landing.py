"""Landing on the page: from the desk through check and dialog into the base, and back."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from tests.page.browser import PHONE
from tests.page.conftest import OpenPage, create_worktree
from tests.page.diff.work_tree import WorkTree, button
from tests.page.user_input import UserInput
from tests.server.conftest import Socket

CHECK = "test ! -e broken && echo fine"
"""The check script: it fails in a worktree with a file of this name."""


@pytest_asyncio.fixture(loop_scope="session")
async def orchard(client: Socket, repository: Path) -> Any:
    """A project whose check fails where `broken` exists."""
    base = WorkTree("", repository)
    base.git("config", "user.name", "Ada")
    base.git("config", "user.email", "ada@example.org")
    base.commit("spinney.json", json.dumps({"scripts": {"check": CHECK}}))
    project = await client.call("add_project", path=str(repository))
    await client.call("trust_project_scripts", projectId=project["id"])
    return project


async def add_branch(client: Socket, project: Any, name: str, **files: str) -> WorkTree:
    """A worktree on a branch of this name, with a commit of these files (`a_txt` is `a.txt`)."""
    made = await create_worktree(client, projectId=project["id"], customName=name)
    tree = WorkTree(made["id"], Path(made["path"]), project["id"])
    for file, text in files.items():
        tree.commit(file.replace("_", "."), text)
    return tree


def row(page: Page, name: str) -> Locator:
    return page.locator(".landing-row").filter(
        has=page.get_by_role("heading", name=name, exact=True)
    )


def dialog(page: Page) -> Locator:
    return page.get_by_role("dialog")


async def open_desk(client: Socket, page: Page, project: Any) -> None:
    await client.call("fetch_worktrees_status", projectId=project["id"])
    await page.goto(f"/#/landing/{project['id']}")
    await expect(page.locator(".landing-row").first).to_be_visible()


def log(repository: Path) -> str:
    ran = subprocess.run(
        ["git", "log", "--format=%s", "main"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout


async def test_a_worktree_is_checked_landed_and_taken_back(
    user: UserInput,
    client: Socket,
    orchard: Any,
    repository: Path,
) -> None:
    page = user.page
    tree = await add_branch(client, orchard, "pears", pears_txt="two\n")
    await open_desk(client, page, orchard)
    pears = row(page, "pears")
    await expect(pears.locator(".facts")).to_contain_text("1 file +1 −0")

    await user.press(button(pears, "Check: pears"))
    output = dialog(page).get_by_role("group", name="Output of check")
    await expect(output).to_have_text("fine")
    await expect(pears.locator(".facts")).to_contain_text("check passed")

    await user.press(button(dialog(page), "Land…"))
    form = page.get_by_role("form", name="Land")
    await expect(form).to_contain_text("1 commit, 1 file +1 −0 into 'main'.")
    await form.get_by_text("Squash", exact=True).click()
    message = form.get_by_role("textbox", name="Message of the commit")
    await expect(message).to_have_value("Change pears.txt")
    await user.write(message, "Count the pears")
    await user.press(button(form, "Land on main"))
    await expect(dialog(page)).to_contain_text("pears landed on 'main'")
    assert log(repository).startswith("Count the pears\n")

    await user.press(button(dialog(page), "Undo"))
    await user.press(button(dialog(page), "Undo the landing"))
    await expect(page.locator(".toast").filter(has_text="'main' is at")).to_be_visible()
    assert log(repository).startswith("Change spinney.json\n")

    given = {"worktreeId": tree.id, "path": "pears.txt", "side": "branch"}
    diff = await client.call("get_file_diff", **given)
    [hunk] = diff["hunks"]
    await client.call("decide_hunk", **given, hunk=hunk, verdict="accepted", seen=diff["digest"])
    await page.goto("/#/needs")
    found = page.get_by_role("region", name="Landing").get_by_role("link")
    await expect(found).to_contain_text("orchard · It can land in main.")
    await user.press(found)
    await expect(row(page, "pears")).to_contain_text("land")


async def test_a_landing_that_is_refused_says_why_and_looks_again(
    client: Socket, open_page: OpenPage, orchard: Any, repository: Path
) -> None:
    await add_branch(client, orchard, "pears", pears_txt="two\n", broken="yes\n")
    page = await open_page(screen=PHONE)
    await open_desk(client, page, orchard)
    pears = row(page, "pears")
    await button(pears, "Actions for pears").tap()
    await button(dialog(page), "Land…").tap()
    form = page.get_by_role("form", name="Land")
    await expect(button(form, "Land on main")).to_be_disabled()
    await form.get_by_role("checkbox", name="Land although the check is not green").tap()
    WorkTree("", repository).commit("base.txt", "moved\n")
    await button(form, "Land on main").tap()
    await expect(form.get_by_role("alert")).to_contain_text("main")
    assert "pears" not in log(repository)
    await button(form, "Look again").tap()
    await button(form, "Land on main").tap()
    await expect(dialog(page)).to_contain_text("pears landed on 'main'")
    assert "Change pears.txt" in log(repository)


async def test_what_keeps_a_worktree_from_landing_is_sent_to_its_session(
    client: Socket, open_page: OpenPage, orchard: Any, repository: Path
) -> None:
    tree = await add_branch(client, orchard, "pears", orchard_py="def count():\n    return 2\n")
    session = await client.call("create_session", worktreeId=tree.id, name="Count pears")
    WorkTree("", repository).commit("orchard.py", "def count():\n    return 3\n")
    page = await open_page()
    await open_desk(client, page, orchard)
    pears = row(page, "pears")
    await expect(pears.locator(".facts")).to_contain_text("1 file in conflict with main")
    await button(pears, "Resolve: pears").click()
    text = dialog(page).get_by_role("textbox")
    await expect(text).to_have_value(re.compile("orchard.py"))
    await text.fill("/demo say seen")
    await button(dialog(page), "Send").click()
    await expect(page.get_by_text("Sent to 'Count pears'.")).to_be_visible()
    found = await client.until(
        lambda found: found["messages"], "get_messages", sessionId=session["id"]
    )
    assert found["messages"][0]["content"][0]["text"] == "/demo say seen"


async def test_a_train_is_ordered_stops_at_a_red_check_and_lands_what_is_ready(
    client: Socket, open_page: OpenPage, orchard: Any, repository: Path
) -> None:
    for name in ("pears", "plums", "quinces"):
        more = {"broken": "yes\n"} if name == "plums" else {}
        await add_branch(client, orchard, name, **{f"{name}_txt": "two\n"}, **more)
    page = await open_page()
    await open_desk(client, page, orchard)
    await page.get_by_role("checkbox", name="all").check()
    await button(page, "Land as a train…").click()
    rows = dialog(page).locator(".order li")
    await button(dialog(page), "Leave plums out").click()
    await expect(rows).to_have_count(2)
    await button(dialog(page), "Cancel").click()
    await button(page, "Land as a train…").click()
    await expect(rows).to_have_count(3)
    for name in ("quinces", "pears"):
        row_of = rows.filter(has_text=name)
        await row_of.drag_to(rows.first)
        await expect(rows.first).to_contain_text(name)
    await button(dialog(page), "Move plums up").focus()
    up = button(dialog(page), "Move plums up")
    down = button(dialog(page), "Move plums down")
    await expect(rows.last).to_contain_text("plums")
    await up.press("Enter")
    await down.press("Enter")
    await button(dialog(page), "Start").click()

    train = page.get_by_role("region", name="Train")
    await expect(train).to_contain_text("2 of 3 worktrees ready")
    await expect(train.locator(".car")).to_have_text(
        [re.compile("pears ready"), re.compile("quinces ready"), re.compile("plums failed")]
    )
    assert log(repository).startswith("Change spinney.json\n")
    await button(train, "Send to a session…").click()
    await expect(dialog(page).get_by_role("textbox")).to_have_value(
        re.compile("check", re.IGNORECASE)
    )
    await button(dialog(page), "Cancel").click()
    await page.goto("/#/needs")
    found = page.get_by_role("region", name="Landing").get_by_role("link")
    await expect(found).to_contain_text("Train onto main")
    await expect(found).to_contain_text("stopped, 2 of 3 worktrees ready")
    await found.click()
    await button(train, "Land 2 …").click()
    await button(dialog(page), "Land").click()
    await expect(train).to_contain_text("2 worktrees landed on 'main'.")
    assert "Change quinces.txt" in log(repository)
    assert "plums" not in log(repository)
    await button(train, "Close").click()
    await expect(train).to_be_hidden()


async def test_the_sweep_deletes_what_is_merged_and_leaves_the_rest_alone(
    client: Socket, open_page: OpenPage, orchard: Any, repository: Path
) -> None:
    await add_branch(client, orchard, "pears", pears_txt="two\n")
    plums = await add_branch(client, orchard, "plums", plums_txt="two\n")
    plums.write("more.txt", "not committed\n")
    WorkTree("", repository).git("merge", "--quiet", "pears")
    page = await open_page("/sweep", screen=PHONE)
    rows = page.locator(".sweep-row")
    await expect(rows.filter(has_text="pears")).to_contain_text("merged")
    await expect(rows.filter(has_text="plums")).to_contain_text("1 not committed")
    await button(page, "Select what can go without loss").tap()
    await expect(page.get_by_role("checkbox", name="Select pears")).to_be_checked()
    await expect(page.get_by_role("checkbox", name="Select plums")).not_to_be_checked()
    await page.get_by_role("checkbox", name="all").tap()
    plums.write("made_meanwhile.txt", "not committed\n")
    await client.call("fetch_worktrees_status", projectId=orchard["id"])
    await button(page, "Delete…").tap()
    await expect(dialog(page)).to_contain_text("plums: 2 uncommitted files, 1 commit that nothing")
    await button(dialog(page), "Delete").tap()
    results = page.get_by_role("list", name="Results")
    await expect(results.locator("li")).to_have_count(2)
    await expect(rows).to_have_count(1)
    assert plums.read("more.txt") == "not committed\n"
    await button(results, "Restore pears").tap()
    await expect(page.locator("#title")).to_have_text("pears")
