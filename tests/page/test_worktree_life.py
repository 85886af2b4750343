"""The whole life of a worktree in the page: by mouse, by touch on a phone, by keys alone."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.model.hosting.conftest import FakeGh, fake_gh  # noqa: F401 - a fixture
from tests.page.diff.conftest import repository  # noqa: F401 - a fixture: it has a remote
from tests.page.diff.tree import button, file
from tests.page.person import Conversation, Hands, open_tree
from tests.server.conftest import Socket

NAME = "calm-heron"
PULL_REQUEST = "https://github.com/ada/orchard/pull/7"


@pytest.fixture
def person(fake_gh: FakeGh, hands: Hands) -> Conversation:  # noqa: F811
    """Somebody at a page; pull requests go to a stand-in of `gh`."""
    fake_gh.answers("pr create", f"{PULL_REQUEST}\n")
    return Conversation(hands)


async def go(hands: Hands, place: str) -> None:
    """Go to one of the places below the projects."""
    await open_tree(hands)
    await hands.press(hands.page.locator("#tree").get_by_role("link", name=place, exact=True))
    await expect(hands.page.locator("#title")).to_have_text(place)


async def test_a_worktree_lives_from_its_first_message_to_its_removal(
    person: Conversation,
    project: Any,
    repository: Path,  # noqa: F811
    fake_gh: FakeGh,  # noqa: F811
    other: Socket,
) -> None:
    await _begin(person)
    (worktree,) = await other.call("list_worktrees", projectId=project["id"])
    root = Path(worktree["path"])
    await _talk(person, root)
    await _commit_and_propose(person, fake_gh)
    await _archive_and_bring_back(person)
    assert (root / "apples.txt").read_text() == "many\n"
    await _remove(person)
    assert not root.exists()
    branches = await other.call("get_project_branches", projectId=project["id"])
    assert NAME not in [branch["name"] for branch in branches]


async def _begin(person: Conversation) -> None:
    """A new worktree, with what its agent is to do."""
    page, hands = person.page, person.hands
    await go(hands, "New worktree")
    wanted = "/demo plan write apples.txt: many; say carried out"
    await hands.write(page.get_by_role("textbox", name="First message"), wanted)
    await hands.write(page.get_by_role("textbox", name="Name", exact=True), NAME)
    await hands.press(button(page, "Create"))
    await expect(page.get_by_role("heading", name="Approve this plan?")).to_be_visible()


async def _talk(person: Conversation, root: Path) -> None:
    """The plan is approved, a question answered."""
    await person.press("Build")
    await expect(person.answers.last).to_contain_text("carried out")
    await person.idle()
    assert (root / "apples.txt").exists()
    await person.say("/demo ask Tea or coffee? | Tea | Coffee")
    await person.press("Tea")
    await person.press("Answer")
    await expect(person.answers.last).to_contain_text("You answered: Tea")
    await person.idle()


async def _commit_and_propose(person: Conversation, fake_gh: FakeGh) -> None:  # noqa: F811
    """What it changed is read, committed, pushed and proposed."""
    page, hands = person.page, person.hands
    await hands.press(page.get_by_role("navigation").get_by_role("link", name="Changes"))
    await expect(file(page, "apples.txt")).to_contain_text("many")
    await hands.press(button(page, "Commit"))
    form = page.get_by_role("form", name="Commit")
    await hands.write(form.get_by_role("textbox", name="Commit message"), "Count the apples")
    await hands.press(button(form, "Commit"))
    await expect(page.get_by_text("Committed as ")).to_be_visible()
    await hands.press(button(page, "Push"))
    await expect(page.get_by_text("Pushed.")).to_be_visible()
    await hands.press(button(page, "Pull request"))
    form = page.get_by_role("form", name="Pull request")
    await hands.write(form.get_by_role("textbox", name="Title"), "Apples, counted")
    await hands.press(button(form, "Push and open"))
    await expect(page.get_by_role("link", name="Pull request 7")).to_have_attribute(
        "href", PULL_REQUEST
    )
    created = next(call["args"] for call in fake_gh.calls if "create" in str(call["args"]))
    assert "--title=Apples, counted" in created


async def _archive_and_bring_back(person: Conversation) -> None:
    page, hands = person.page, person.hands
    await hands.press(page.get_by_role("link", name="← Worktree"))
    await expect(page.locator("#title")).to_have_text(NAME)
    await hands.press(button(page, "Archive"))
    await go(hands, "Archive")
    archived = page.locator(".archived").filter(has_text=NAME)
    await hands.press(button(archived, "Restore"))
    await expect(archived).to_have_count(0)


async def _remove(person: Conversation) -> None:
    page, hands = person.page, person.hands
    await open_tree(hands)
    await hands.press(page.locator("#tree").get_by_role("link", name=NAME))
    await hands.press(button(page, "Remove"))
    await hands.press(page.get_by_role("dialog").get_by_role("button", name="Delete permanently"))
    await expect(page.locator("#title")).to_have_text("Needs you")
    await open_tree(hands)
    await expect(page.locator("#tree").get_by_role("link", name=NAME)).to_have_count(0)


async def test_a_worktree_made_by_hand_is_adopted_and_let_go(
    hands: Hands,
    project: Any,
    repository: Path,  # noqa: F811
    other: Socket,
    tmp_path: Path,
) -> None:
    by_hand = tmp_path / "by-hand"
    words = ["git", "worktree", "add", "-q", "-b", "theirs", str(by_hand)]
    subprocess.run(words, cwd=repository, check=True)
    page = hands.page
    await open_tree(hands)
    await hands.press(page.locator("#tree").get_by_role("link", name=project["name"]))
    await hands.press(button(page, "Adopt a worktree"))
    await hands.press(button(page, "Adopt theirs"))
    await expect(page.locator("#title")).to_have_text("theirs")
    (adopted,) = await other.call("list_worktrees", projectId=project["id"])
    assert adopted["path"] == str(by_hand) and adopted["adopted"] is True
    assert await other.call("list_outside_worktrees", projectId=project["id"]) == []
