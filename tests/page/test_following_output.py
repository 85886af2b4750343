"""Logs and output stay scrolled to their end until the user scrolls up, as a conversation does."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from model.api.landing import LandingMessage
from model.chat.raw_files import append
from model.commands.registry import IMPLEMENTATIONS
from model.domain.hosting import Check, CheckLog, PullRequestDetails
from model.domain.landing import Train, TrainCar
from model.domain.scripts import Script, ScriptRun
from tests.page.browser import PHONE
from tests.page.conftest import OpenPage
from tests.page.in_process import InProcessServer
from tests.page.test_following import BELOW, FRAMES, SIZES, wait_for_end, wait_until_still
from tests.page.user_input import Pointer
from tests.patience import PATIENCE

TEXT = "".join(f"line {number}\n" for number in range(200))

SHRINK = "(box) => { box.style.maxHeight = `${box.clientHeight - 40}px`; }"


@pytest.fixture
def server(in_process_server: InProcessServer) -> InProcessServer:
    return in_process_server


@dataclass
class Work:
    """A session whose agent, scripts and checks have written `TEXT`."""

    workspace: Any
    session: Any
    project: Any
    output: str = TEXT

    def __post_init__(self) -> None:
        self.raw_log = self.workspace.directories.raw_logs / self.session["id"]
        append(self.raw_log, [TEXT.encode()])

    def write(self, line: str) -> None:
        """Append to the raw log and to the output of the script."""
        self.output += line
        append(self.raw_log, [line.encode()])


@pytest.fixture
def work(
    monkeypatch: pytest.MonkeyPatch,
    in_process_server: InProcessServer,
    session: Any,
    project: Any,
) -> Work:
    made = Work(in_process_server.workspace, session, project)
    place = session["worktree_id"]
    failed = Check(id="test", name="test", state="failed", has_log=True)
    pull_request = PullRequestDetails(
        number=7, url="", title="Pears", body="", phase="open", author="ada", base="main",
        head="pears", head_commit="e" * 40, fetched_at=1.0, checks=[failed],
    )  # fmt: skip
    car = TrainCar(
        worktree_id=place, branch="pears", head_commit="e" * 40, status="failed", check="failed"
    )
    train = Train(
        id="train", project_id=project["id"], base="main", base_commit="e" * 40, method="merge",
        with_check=True, status="stopped", cars=[car], started_at=1.0, ended_at=2.0,
    )  # fmt: skip

    def implement(name: str, answer: Callable[[], Any]) -> None:
        async def run(workspace: Any, **given: Any) -> Any:
            return answer()

        monkeypatch.setitem(IMPLEMENTATIONS, name, run)

    def script_run() -> ScriptRun:
        return ScriptRun(
            worktree_id=place, script="run", status="running", started_at=1.0, output=made.output
        )

    implement("get_project_scripts", lambda: [Script(name="run", text="", hash="", trusted=True)])
    implement("get_script_output", script_run)
    implement("get_pull_request", lambda: pull_request)
    implement("get_check_log", lambda: CheckLog(check_id="test", name="test", text=TEXT))
    implement("get_train", lambda: train)
    implement("get_train_output", lambda: LandingMessage(message=TEXT))
    return made


async def open_raw_log(page: Page, work: Work) -> Locator:
    await page.goto(f"/#/raw/{work.session['id']}")
    return page.get_by_label("Raw log", exact=True)


async def open_script(page: Page, work: Work) -> Locator:
    await page.goto(f"/#/worktree/{work.session['worktree_id']}")
    await page.locator(".script summary", has_text="Output").tap()
    return page.get_by_role("group", name="Output of run")


async def open_check_log(page: Page, work: Work) -> Locator:
    await page.goto(f"/#/pull-request/{work.session['worktree_id']}")
    await page.locator(".log summary").tap()
    return page.get_by_role("group", name="Log of test")


async def open_train_output(page: Page, work: Work) -> Locator:
    await page.goto(f"/#/landing/{work.project['id']}")
    await page.locator(".train").get_by_role("button", name="Output of the check").tap()
    return page.get_by_role("group", name="Output of the check")


Open = Callable[[Page, Work], Awaitable[Locator]]


async def shrink(box: Locator) -> None:
    """Resize the window, then the box alone, and expect the end of its text each time."""
    await expect(box).to_contain_text("line 199")
    await wait_for_end(box, "opened")
    for width, height in SIZES:
        await box.page.set_viewport_size({"width": width, "height": height})
        await wait_for_end(box, f"{width} × {height}")
    await box.evaluate(SHRINK)
    await wait_for_end(box, "the box shrinks")


async def scroll_up(box: Locator) -> float:
    """Scroll a bit up; return the scroll position."""
    await box.scroll_into_view_if_needed()
    await Pointer(box.page, touch=True).scroll(box, -50)
    async with asyncio.timeout(PATIENCE):
        while await box.evaluate(BELOW) < 2:
            await box.page.evaluate(FRAMES)
    return await wait_until_still(box.page, box)


async def count_listeners(page: Page) -> int:
    """Listeners of the document for the event for which only boxes that follow have one."""
    devtools = await page.context.new_cdp_session(page)
    document = await devtools.send("Runtime.evaluate", {"expression": "document"})
    found = await devtools.send(
        "DOMDebugger.getEventListeners", {"objectId": document["result"]["objectId"]}
    )
    await devtools.detach()
    return sum(listener["type"] == "selectionchange" for listener in found["listeners"])


async def wait_for_listeners(page: Page, count: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while await count_listeners(page) != count:
            await page.evaluate(FRAMES)


@pytest.mark.parametrize("open_box", [open_raw_log, open_script])
async def test_text_is_followed_after_its_box_has_shrunk_unless_the_reader_has_scrolled_up(
    open_page: OpenPage, work: Work, open_box: Open
) -> None:
    box = await open_box(await open_page(screen=PHONE), work)
    await shrink(box)
    work.write("followed\n" * 50)
    await expect(box).to_contain_text("followed")
    await wait_for_end(box, "text was appended")

    top = await scroll_up(box)
    await box.evaluate(SHRINK)
    work.write("below\n")
    await expect(box).to_contain_text("below")
    assert await wait_until_still(box.page, box) == top
    assert await box.evaluate(BELOW) > 2


@pytest.mark.parametrize("open_box", [open_check_log, open_train_output])
async def test_the_end_of_a_text_stays_visible_unless_the_reader_has_scrolled_up(
    open_page: OpenPage, work: Work, open_box: Open
) -> None:
    box = await open_box(await open_page(screen=PHONE), work)
    await shrink(box)
    top = await scroll_up(box)
    await box.evaluate(SHRINK)
    assert await wait_until_still(box.page, box) == top


@pytest.mark.parametrize("open_box", [open_raw_log, open_check_log])
async def test_a_box_listens_only_while_it_is_shown(
    open_page: OpenPage, work: Work, open_box: Open
) -> None:
    page = await open_page(screen=PHONE)
    before = await count_listeners(page)
    box = await open_box(page, work)
    await wait_for_end(box, "opened")
    await wait_for_listeners(page, before + 1)
    if open_box is open_check_log:
        await page.locator(".log summary").tap()  # hidden before it is removed
        await expect(box).to_be_hidden()
    await page.goto("/#/")
    await expect(box).to_have_count(0)
    await wait_for_listeners(page, before)
