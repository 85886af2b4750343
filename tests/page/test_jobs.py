"""The most frequent jobs on a phone take no more taps than they may, beside typing the text."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.page.browser import PHONE
from tests.page.conftest import OpenPage
from tests.page.diff.conftest import repository  # noqa: F401 - a fixture, with a remote
from tests.page.diff.work_tree import WorkTree
from tests.server.conftest import Socket

PLAN = "/demo plan write a.txt: b"
PERMISSION = "/demo permission true"
EDIT = "/demo write apples.txt: many\n/demo say carried out"
ENDLESS = "/demo say begun\n/demo wait 600"


@dataclass(frozen=True)
class Tap:
    """A tap on a control."""

    control: Callable[[Page], Locator]


@dataclass(frozen=True)
class Text:
    """A text to type into the control that has the focus, which is no tap."""

    text: str
    box: Callable[[Page], Locator]


def button(name: str, within: str = "body") -> Tap:
    return Tap(lambda page: page.locator(within).get_by_role("button", name=name, exact=True).last)


def link(name: str) -> Tap:
    return Tap(lambda page: page.locator("body").get_by_role("link", name=name).last)


def focused(page: Page) -> Locator:
    return page.locator("textarea:focus")


Done = Callable[[Page, WorkTree], Awaitable[None]]


def shows(find: Callable[[Page], Locator]) -> Done:
    """Whether the page shows something."""

    async def check(page: Page, _tree: WorkTree) -> None:
        await expect(find(page)).to_be_visible()

    return check


async def is_committed(page: Page, tree: WorkTree) -> None:
    await expect(page.get_by_text("Committed as ")).to_be_visible()
    assert tree.git("status", "--porcelain") == ""


async def is_pushed(page: Page, tree: WorkTree) -> None:
    await expect(page.get_by_role("dialog")).to_contain_text("Pushed.")
    branch = tree.git("branch", "--show-current").strip()
    assert tree.git("rev-parse", "HEAD") == tree.git("rev-parse", f"origin/{branch}")


async def is_taken_back(page: Page, _tree: WorkTree) -> None:
    await expect(page.locator(".composer textarea")).to_have_value("later")


@dataclass(frozen=True)
class Job:
    """A job: the most taps that it may take, what the agent did before, its steps, its effect."""

    name: str
    most: int
    steps: tuple[Tap | Text, ...]
    done: Done
    message: str = EDIT
    until: str = "message-completed"
    start: str = "/session"
    """Where the page is opened: the session or the feed."""


TO_SESSION = link("Fix the parser")
TO_CHANGES = link("Changes")
ANSWER = ".message[data-role='assistant']"

JOBS = (
    Job(
        "approve a plan having read it",
        1,
        (button("Build"),),
        shows(lambda page: page.get_by_text("All quiet.")),
        PLAN,
        "session-waiting",
        "/needs",
    ),
    Job(
        "allow a command",
        1,
        (button("Allow"),),
        shows(lambda page: page.get_by_text("All quiet.")),
        PERMISSION,
        "session-waiting",
        "/needs",
    ),
    Job(
        "what waits, from anywhere",
        1,
        (Tap(lambda page: page.locator("#needs")),),
        shows(lambda page: page.get_by_role("button", name="Allow", exact=True)),
        PERMISSION,
        "session-waiting",
        "/search",
    ),
    Job(
        "a new task",
        3,
        (link("New task"), Text("/demo say started", focused), button("Start")),
        shows(lambda page: page.locator(ANSWER).filter(has_text="started")),
        start="/needs",
    ),
    Job(
        "read a session",
        1,
        (TO_SESSION,),
        shows(lambda page: page.get_by_text("carried out").last),
        start="/needs",
    ),
    Job(
        "stop",
        1,
        (button("Stop"),),
        shows(lambda page: page.get_by_text("Stopped by you")),
        ENDLESS,
        "message-started",
    ),
    Job(
        "see the changes",
        2,
        (TO_SESSION, TO_CHANGES),
        shows(lambda page: page.locator(".diff-row.added").filter(has_text="many")),
        start="/needs",
    ),
    Job(
        "comment on a line and send it",
        5,
        (
            TO_CHANGES,
            Tap(lambda page: page.locator(".diff-row.added .no").last),
            button("Comment", ".selection-bar"),
            Text("Why?", focused),
            button("Add"),
            button("Send review"),
        ),
        shows(lambda page: page.get_by_text("Sent to 'Fix the parser'.")),
    ),
    Job("commit everything", 2, (button("Commit"), button("Commit", "dialog")), is_committed),
    Job(
        "commit and push",
        3,
        (TO_SESSION, button("Commit"), button("Commit and push")),
        is_pushed,
        start="/needs",
    ),
    Job(
        "archive the finished worktree",
        2,
        (button("Session actions"), button("Archive the worktree")),
        shows(lambda page: page.get_by_text("Its files are kept.")),
    ),
    Job(
        "take back the queued message",
        1,
        (button("Edit", ".queue"),),
        is_taken_back,
        ENDLESS,
        "message-started",
    ),
)


async def prepare(client: Socket, session: Any, job: Job) -> None:
    """Have the agent do what is there when the job begins."""
    to_session = {"sessionId": session["id"]}
    mode = "plan" if job.message == PLAN else "build"
    await client.call("update_session", **to_session, executionMode=mode)
    await client.call("send_chat_message", **to_session, message=job.message)
    await client.event(job.until)
    if "queued" in job.name:
        await client.call("send_chat_message", **to_session, message="later")


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
async def test_a_job_takes_no_more_taps_than_it_may(
    job: Job, open_page: OpenPage, client: Socket, session: Any, worktree: Any
) -> None:
    assert sum(isinstance(step, Tap) for step in job.steps) <= job.most
    await prepare(client, session, job)
    await client.call("fetch_worktrees_status", projectId=worktree["project_id"])
    place = f"/session/{session['id']}" if job.start == "/session" else job.start
    page = await open_page(place, screen=PHONE)
    for step in job.steps:
        if isinstance(step, Tap):
            await step.control(page).tap()
        else:
            await expect(step.box(page)).to_be_visible()
            await page.keyboard.type(step.text)
    await job.done(page, WorkTree(worktree["id"], Path(worktree["path"])))
