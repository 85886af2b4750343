"""Open work on the page: read, found and started from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from model.api.hosting import StartedWork
from model.api.sessions import create_session
from model.api.tasks import StartedTask, TaskContext
from model.api.worktrees import create_worktree
from model.base.errors import SpinneyError
from model.commands.dispatch import run
from model.commands.registry import IMPLEMENTATIONS
from model.domain.hosting import (
    ItemLabel,
    OpenIssue,
    OpenPullRequest,
    OpenWork,
    OpenWorkItem,
    OpenWorkProblem,
    WorkflowRun,
    WorkItem,
)
from tests.page.browser import PHONE
from tests.page.conftest import OpenPage
from tests.page.diff.work_tree import button
from tests.page.hostile import SCRIPTS
from tests.page.in_process import InProcessServer
from tests.page.test_overflow import TOO_WIDE

LABEL = ItemLabel(name="bug", color="#d73a4a")
ISSUES = [
    OpenIssue(
        id=str(number), number=number, title=f"Pear {number}", author="grace", state="open",
        updated_at=1.0, labels=[LABEL], assignees=["ada"], body="".join(SCRIPTS),
    )
    for number in range(1, 251)
]  # fmt: skip
PULL = OpenPullRequest(
    id="400", number=400, title="Plums", head_ref_name="plums", base_ref_name="main"
)
RUN = WorkflowRun(
    id="9", title="Count", state="failure", workflow="CI", branch="main", commit="e" * 40, number=9
)


@pytest.fixture
def server(in_process_server: InProcessServer) -> InProcessServer:
    return in_process_server


@dataclass
class Service:
    """The hosting service, as the commands see it."""

    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    def of(self, name: str) -> list[dict[str, Any]]:
        return [given for command, given in self.calls if command == name]


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch, project: Any) -> Service:
    """250 issues, a pull request, a failed run, and another project that cannot be read."""
    made = Service()

    async def list_all(workspace: Any, **given: Any) -> OpenWork:
        made.calls.append(("list_open_work", given))
        found: Sequence[OpenIssue | OpenPullRequest] = [*ISSUES[:2], PULL]
        if given["search"]:
            found = [item for item in ISSUES if given["search"] in item.title]
        items = [OpenWorkItem(project_id=project["id"], item=item) for item in found]
        problem = OpenWorkProblem(project_id="gone", message="gh is not signed in.")
        return OpenWork(items=items, problems=[problem])

    def list_pages(name: str, items: Sequence[WorkItem]) -> None:
        async def answer(workspace: Any, project_id: str, page: int = 1, **given: Any) -> Any:
            made.calls.append((name, {"page": page, **given}))
            if name == "list_advisories":
                raise SpinneyError("GitHub allows no more requests until 14:00.")
            return items[(page - 1) * 100 : page * 100]

        monkeypatch.setitem(IMPLEMENTATIONS, name, answer)

    async def start(workspace: Any, project_id: str, item_id: str, **given: Any) -> StartedWork:
        made.calls.append(("start_work", {"item_id": item_id, **given}))
        if made.refusals:
            raise SpinneyError(made.refusals.pop(), "conflict")
        context = {"number": int(item_id), "title": "Pear"}
        of_it = {"projectId": project_id, "issueContext": context}
        worktree = await run(workspace, create_worktree, of_it)
        session = await run(workspace, create_session, {"worktreeId": worktree.id})
        return StartedWork(worktree=worktree, session=session)

    start_plainly = IMPLEMENTATIONS["start_task"]

    async def start_task(workspace: Any, context: TaskContext, **given: Any) -> StartedTask:
        made.calls.append(("start_task", {"context": context}))
        started: StartedTask = await start_plainly(workspace, **given)
        return started

    monkeypatch.setitem(IMPLEMENTATIONS, "start_task", start_task)
    monkeypatch.setitem(IMPLEMENTATIONS, "list_open_work", list_all)
    monkeypatch.setitem(IMPLEMENTATIONS, "start_work", start)
    list_pages("list_issues", ISSUES)
    list_pages("list_workflow_runs", [RUN])
    list_pages("list_advisories", [])
    return made


def row(page: Page, title: str) -> Locator:
    reads = page.get_by_role("button", name=f"Read {title}", exact=True)
    return page.locator(".work-row").filter(has=reads)


async def test_several_items_are_started_and_lead_to_their_sessions(
    service: Service, open_page: OpenPage, project: Any
) -> None:
    page = await open_page()
    await page.evaluate("() => { window.ran = () => console.error('foreign text ran'); }")
    await page.get_by_role("link", name="Open work").first.click()
    await expect(page.get_by_role("status").filter(has_text="3 items")).to_be_visible()
    await expect(page.get_by_role("list", name="Problems")).to_contain_text("gh is not signed in.")
    await expect(row(page, "PR 400 Plums")).to_contain_text(project["name"])
    await button(page, "Read #1 Pear 1").click()
    text = page.get_by_role("dialog").get_by_role("group", name="Text")
    assert await text.text_content() == "".join(SCRIPTS)
    await page.keyboard.press("Escape")

    for title in ("#1 Pear 1", "#2 Pear 2"):
        await page.get_by_role("checkbox", name=f"Select {title}").check()
    await button(page.get_by_role("group", name="Actions for selected items"), "Start…").click()
    dialog = page.get_by_role("dialog", name="New worktrees")
    service.refusals.append("The branch exists already.")
    await dialog.get_by_text("Build", exact=True).click()
    await button(dialog, "Create 2").click()
    await expect(dialog).to_contain_text("The branch exists already.")
    await expect(dialog.get_by_role("img", name="created")).to_have_count(1)
    await button(dialog, "Try again").click()
    await expect(page.locator(".toast").last).to_contain_text("2 worktrees of 2 created.")
    started = [given["item_id"] for given in service.of("start_work")]
    assert started == ["1", "2", "1"]
    assert service.of("start_work")[-1]["mode"] == "build"
    await row(page, "#1 Pear 1").locator(".place a").click()
    await expect(page.locator('body[data-view="session"]')).to_be_attached()


async def test_a_list_is_searched_at_the_service_filtered_and_paged(
    service: Service, open_page: OpenPage, project: Any
) -> None:
    page = await open_page("/work", screen=PHONE)
    await expect(row(page, "#1 Pear 1")).to_be_visible()
    box = page.get_by_role("searchbox", name="Search open work")
    await box.fill("Pear 24")
    await expect(row(page, "#240 Pear 240")).to_be_visible()
    assert service.of("list_open_work")[-1]["search"] == "Pear 24"
    assert await page.evaluate(TOO_WIDE) == ""

    lists = page.get_by_role("navigation", name="Lists")
    await lists.get_by_role("link", name="Issues", exact=True).tap()
    await expect(page.locator(".work-row")).to_have_count(100)
    await button(page, "Show more").tap()
    await expect(page.locator(".work-row")).to_have_count(200)
    await button(page, "Show more").tap()
    await expect(page.locator(".work-row")).to_have_count(250)
    await expect(button(page, "Show more")).to_be_hidden()
    await page.get_by_role("combobox", name="State").select_option("closed")
    await page.get_by_role("textbox", name="Assignee").fill("@me")
    await page.get_by_role("textbox", name="Labels").fill("bug, old ")
    await page.get_by_role("textbox", name="Labels").press("Enter")
    await expect(page.locator(".work-row")).to_have_count(100)
    wanted = {"page": 1, "search": "", "state": "closed", "labels": ["bug", "old"]}
    assert service.of("list_issues")[-1] == {**wanted, "assignee": "@me", "refresh": False}

    await lists.get_by_role("link", name="Workflow runs").tap()
    await expect(row(page, "#9 Count")).to_contain_text("failure · CI · main")
    assert service.of("list_workflow_runs")[-1]["state"] == "failed"
    await lists.get_by_role("link", name="Advisories").tap()
    await expect(page.get_by_role("status").filter(has_text="allows no more")).to_be_visible()


async def test_a_new_task_starts_from_a_failed_run_or_an_issue_that_is_searched(
    service: Service, open_page: OpenPage, project: Any
) -> None:
    page = await open_page("/new")
    await page.locator("details.origin summary").click()
    await page.get_by_text("Issue", exact=True).click()
    items = page.locator("details.origin select").last
    await expect(items).to_contain_text("#1 Pear 1")
    await page.get_by_role("searchbox", name="Search items").press_sequentially("240")
    await expect(items).to_have_value("1")
    while service.of("list_issues")[-1]["search"] != "240":
        await page.wait_for_function("() => new Promise(requestAnimationFrame)")
    await page.get_by_text("Other", exact=True).click()
    await page.get_by_role("combobox", name="Kind").select_option("Workflow runs")
    await expect(items).to_contain_text("#9 Count")
    await expect(page.get_by_role("textbox", name="First message")).to_have_value(
        "Resolve issue #1 Pear 1"
    )
    await button(page, "Start").click()
    await expect(page.locator('body[data-view="session"]')).to_be_attached()
    [given] = service.of("start_task")
    assert given["context"] == TaskContext(kind="workflow_run", item_id="9")
