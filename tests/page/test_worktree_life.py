"""The whole life of a worktree in the page: by mouse, by touch on a phone, by keyboard."""

import asyncio
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.model.hosting.conftest import FakeGh, fake_gh  # noqa: F401 - a fixture
from tests.page.conftest import create_worktree
from tests.page.diff.conftest import repository  # noqa: F401 - a fixture, with a remote
from tests.page.diff.work_tree import WorkTree, button, file
from tests.page.user_input import SessionPage, UserInput, open_tree
from tests.server.conftest import Socket

NAME = "calm-heron"
PULL_REQUEST = "https://github.com/ada/orchard/pull/7"


@pytest.fixture
def session_page(fake_gh: FakeGh, user: UserInput) -> SessionPage:  # noqa: F811
    """A page; pull requests go to a fake `gh`."""
    fake_gh.set_result("pr create", f"{PULL_REQUEST}\n")
    return SessionPage(user)


async def open_view(user: UserInput, name: str) -> None:
    """Open one of the views that are linked below the projects."""
    await open_tree(user)
    await user.press(user.page.locator("#tree").get_by_role("link", name=name, exact=True))
    await expect(user.page.locator("#title")).to_have_text(name)


async def test_a_worktree_lives_from_its_first_message_to_its_removal(
    session_page: SessionPage,
    project: Any,
    repository: Path,  # noqa: F811
    fake_gh: FakeGh,  # noqa: F811
    client: Socket,
) -> None:
    await _create(session_page)
    (worktree,) = await client.call("list_worktrees", projectId=project["id"])
    root = Path(worktree["path"])
    await _chat(session_page, root)
    await _commit_and_propose(session_page, fake_gh)
    await _archive_and_restore(session_page)
    assert (root / "apples.txt").read_text() == "many\n"
    await _remove(session_page)
    assert not root.exists()
    branches = await client.call("get_project_branches", projectId=project["id"])
    assert NAME not in [branch["name"] for branch in branches]


async def _create(session_page: SessionPage) -> None:
    """Create a worktree with a first message."""
    page, user = session_page.page, session_page.user
    await open_view(user, "New task")
    message = "/demo plan write apples.txt: many; say carried out"
    await user.write(page.get_by_role("textbox", name="First message"), message)
    await user.press(page.locator("summary").filter(has_text="On a new branch"))
    await user.write(page.get_by_role("textbox", name="Name", exact=True), NAME)
    await user.press(button(page, "Start"))
    await expect(page.get_by_role("heading", name="Approve this plan?")).to_be_visible()


async def _chat(session_page: SessionPage, root: Path) -> None:
    """Approve the plan and answer a question."""
    await session_page.press("Build")
    await expect(session_page.answers.last).to_contain_text("carried out")
    await session_page.wait_until_idle()
    assert (root / "apples.txt").exists()
    await session_page.send("/demo ask Tea or coffee? | Tea | Coffee")
    await session_page.press("Tea")
    await expect(session_page.answers.last).to_contain_text("You answered: Tea")
    await session_page.wait_until_idle()


async def _commit_and_propose(session_page: SessionPage, fake_gh: FakeGh) -> None:  # noqa: F811
    """Read, commit and push the changes; open a pull request."""
    page, user = session_page.page, session_page.user
    await user.press(page.get_by_role("link", name=re.compile("^Changes")))
    await expect(file(page, "apples.txt")).to_contain_text("many")
    await user.press(button(page, "Commit"))
    form = page.get_by_role("form", name="Commit")
    await user.write(form.get_by_role("textbox", name="Commit message"), "Count the apples")
    await user.press(button(form, "Commit"))
    await expect(page.get_by_text("Committed as ")).to_be_visible()
    await user.press(button(page.get_by_role("dialog"), "Push"))
    await expect(page.get_by_text("Pushed.")).to_be_visible()
    await user.press(button(page.get_by_role("dialog"), "Pull request"))
    form = page.get_by_role("form", name="Pull request")
    await user.write(form.get_by_role("textbox", name="Title"), "Apples, counted")
    await user.press(button(form, "Push and open"))
    await expect(page.get_by_role("link", name=PULL_REQUEST)).to_be_visible()
    created = next(call["args"] for call in fake_gh.calls if "create" in str(call["args"]))
    assert "--title=Apples, counted" in created


async def _archive_and_restore(session_page: SessionPage) -> None:
    page, user = session_page.page, session_page.user
    await user.press(button(page.get_by_role("dialog"), "Close"))
    await expect(page.get_by_role("link", name="PR 7")).to_have_attribute(
        "href", re.compile("^#/pull-request/")
    )
    await user.press(page.get_by_role("link", name="Worktree", exact=True))
    await expect(page.locator("#title")).to_have_text(NAME)
    await user.press(button(page, "Worktree actions"))
    await user.press(button(page.get_by_role("dialog"), "Archive"))
    await expect(page.locator("#title")).to_have_text("Home")
    await expect(page.locator(".toast")).to_contain_text(f"Archived {NAME}.")
    await open_view(user, "Archive")
    archived = page.locator(".archived").filter(has_text=NAME)
    await user.press(button(archived, "Restore"))
    await expect(archived).to_have_count(0)
    title = page.get_by_role("heading", name="The archive is empty.")
    assert (await title.bounding_box() or {})["height"] < 60  # not squeezed between its neighbors


async def _remove(session_page: SessionPage) -> None:
    page, user = session_page.page, session_page.user
    await open_tree(user)
    await user.press(page.locator("#tree").get_by_role("link", name=NAME))
    await user.press(page.get_by_role("link", name=re.compile("^Changes")))
    await user.press(page.get_by_role("link", name="Worktree", exact=True))
    await user.press(button(page, "Worktree actions"))
    await user.press(button(page.get_by_role("dialog"), "Remove"))
    await user.press(page.get_by_role("dialog").get_by_role("button", name="Delete"))
    await expect(page.locator("#title")).to_have_text("Home")
    await open_tree(user)
    await expect(page.locator("#tree").get_by_role("link", name=NAME)).to_have_count(0)


async def test_a_script_shows_that_it_runs_and_what_it_prints(
    user: UserInput,
    client: Socket,
    repository: Path,  # noqa: F811
) -> None:
    scripts = {"scripts": {"run": "echo begun; sleep 600"}}
    WorkTree("", repository).commit("spinney.json", json.dumps(scripts))
    project = await client.call("add_project", path=str(repository))
    worktree = await create_worktree(client, projectId=project["id"])
    page = user.page
    await page.goto(f"/#/worktree/{worktree['id']}")
    await expect(page.get_by_text("1 commit not pushed")).to_be_visible()  # moves what is below
    card = page.locator(".script")
    await expect(button(card, "Stop")).to_have_count(0)
    await user.press(button(card, "Run"))
    await expect(card.get_by_role("status")).to_have_text("running")
    await expect(card.get_by_role("group", name="Output of run")).to_have_text("begun")
    await expect(button(card, "Run")).to_have_count(0)
    await user.press(button(card, "Stop"))
    await expect(card.get_by_role("status")).to_contain_text("stopped")
    await expect(button(card, "Run")).to_be_visible()


async def test_a_worktree_made_by_hand_is_adopted(
    user: UserInput,
    project: Any,
    repository: Path,  # noqa: F811
    client: Socket,
    tmp_path: Path,
) -> None:
    by_hand = tmp_path / "by-hand"
    command = ["git", "worktree", "add", "-q", "-b", "theirs", str(by_hand)]
    subprocess.run(command, cwd=repository, check=True)
    page = user.page
    await open_tree(user)
    await user.press(page.locator("#tree").get_by_role("link", name=project["name"]))
    await user.press(button(page, "More actions"))
    await user.press(button(page, "Adopt a worktree"))
    await user.press(button(page, "Ignore"))
    await expect(button(page, "Adopt theirs")).to_have_count(0)
    await user.press(button(page, "More actions"))
    await user.press(button(page, "Adopt a worktree"))
    await user.press(button(page, "Offer again"))
    await expect(page.get_by_role("heading", name="Found 1 worktree")).to_be_visible()
    await user.press(button(page, "Adopt theirs"))
    await expect(page.locator("#title")).to_have_text("theirs")
    (adopted,) = await client.call("list_worktrees", projectId=project["id"])
    assert adopted["path"] == str(by_hand) and adopted["adopted"] is True
    assert await client.call("list_outside_worktrees", projectId=project["id"]) == []


async def test_what_listens_on_a_port_of_the_worktree_is_linked(
    user: UserInput, worktree: Any
) -> None:
    port = worktree["port"] + 2
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", port)
    page = user.page
    async with server:
        await page.goto(f"/#/worktree/{worktree['id']}")
        link = page.get_by_role("link", name=f":{port}")
        await expect(link).to_have_attribute("href", f"http://127.0.0.1:{port}")
        await expect(page.locator(".ports")).to_contain_text(f"Ports {worktree['port']}–")
    await expect(link).to_have_count(0)


async def test_a_message_that_waits_for_a_failed_setup_is_sent_after_another_run(
    session_page: SessionPage,
    project: Any,
    repository: Path,  # noqa: F811
    client: Socket,
) -> None:
    setup = 'test -e "$SPINNEY_ROOT_PATH/.git/is-fixed"'
    (repository / "spinney.json").write_text(json.dumps({"scripts": {"setup": setup}}))
    for words in (["add", "spinney.json"], ["commit", "-qm", "Set up"]):
        subprocess.run(["git", *words], cwd=repository, check=True)
    await client.call("trust_project_scripts", projectId=project["id"])
    worktree = await create_worktree(client, projectId=project["id"])
    session = await client.call("create_session", worktreeId=worktree["id"])
    page, user = session_page.page, session_page.user
    await client.call("send_chat_message", sessionId=session["id"], message="/demo say prepared")
    await page.goto(f"/#/session/{session['id']}")
    queue = page.get_by_role("list", name="Queued messages")
    await expect(queue).to_contain_text("Setup failed")
    await expect(queue.get_by_role("link", name="Output")).to_have_attribute(
        "href", f"#/worktree/{worktree['id']}"
    )
    (repository / ".git" / "is-fixed").touch()
    await user.press(button(page, "Run again"))
    await expect(session_page.answers.last).to_contain_text("prepared")
