"""The pull request of a worktree on the page: what it shows, and what can be done with it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from model.base.errors import SpinneyError
from model.commands.registry import IMPLEMENTATIONS
from model.domain.hosting import (
    Check,
    CheckLog,
    PullRequestDetails,
    Reviewer,
    ReviewThread,
    ReviewThreadComment,
)
from model.domain.messages import SessionMessage
from tests.page.browser import PHONE
from tests.page.conftest import OpenPage
from tests.page.diff.work_tree import button
from tests.page.hostile import HANDLERS, SCRIPTS
from tests.page.in_process import InProcessServer
from tests.page.test_foreign_text import ACTIVE_CONTENT
from tests.page.test_overflow import TOO_WIDE
from tests.server.conftest import Socket

HEAD = "e" * 40
URL = "https://github.com/ada/orchard/pull/7"


@pytest.fixture
def server(in_process_server: InProcessServer) -> InProcessServer:
    return in_process_server


def a_check(name: str, state: Any, **more: Any) -> Check:
    return Check(id=name, name=name, state=state, **more)


def a_thread(name: str, text: str, **more: Any) -> ReviewThread:
    comment = ReviewThreadComment(id=f"{name}-1", author="grace", body=text)
    return ReviewThread(id=name, path="orchard.py", line=2, comments=[comment], **more)


@dataclass
class Service:
    """The hosting service, as the commands see it."""

    found: PullRequestDetails
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    refusal: str = ""

    def change(self, **fields: Any) -> None:
        self.found = self.found.model_copy(update=fields)


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Service:
    """A pull request with a red check among many and two open comments."""
    made = Service(
        PullRequestDetails(
            number=7, url=URL, title="Count the pears", body="".join(HANDLERS),
            phase="changes_requested", author=HANDLERS[1], base="main", head="pears",
            head_commit=HEAD, behind=2, fetched_at=1.0, merge_methods=["squash", "merge"],
            merge_note="A required check has failed.", can_auto_merge=True, can_update=True,
            can_edit=True, reviewers=[Reviewer(name=HANDLERS[0], state="changes_requested")],
            checks=[
                *(a_check(f"job {number}", "passed") for number in range(499)),
                a_check("CI / test", "failed", has_log=True, is_required=True),
            ],
            threads=[a_thread("first", "".join(SCRIPTS)), a_thread("second", "Why?")],
        )
    )  # fmt: skip

    def implement(name: str, answer: Callable[..., Any]) -> None:
        async def run(workspace: Any, worktree_id: str, **given: Any) -> Any:
            made.calls.append((name, given))
            if made.refusal:
                raise SpinneyError(made.refusal, "conflict")
            return answer(**given)

        monkeypatch.setitem(IMPLEMENTATIONS, name, run)

    def resolve(thread_id: str, **_: Any) -> PullRequestDetails:
        made.change(
            threads=[one for one in made.found.threads if one.id != thread_id],
            conversation=[one for one in made.found.conversation if one.id != thread_id],
        )
        return made.found

    def merge(**_: Any) -> PullRequestDetails:
        made.change(phase="merged", can_merge=False)
        return made.found

    implement("get_pull_request", lambda **_: made.found)
    implement(
        "get_check_log",
        lambda check_id: CheckLog(
            check_id=check_id, name=check_id, text="E   assert 1 == 2", left_out=1200
        ),
    )
    implement("reply_to_thread", resolve)
    implement("merge_pull_request", merge)
    implement(
        "fix_checks",
        lambda session_id=None: SessionMessage(
            session_id=session_id or "", message_id="m", status="processing"
        ),
    )
    return made


@pytest_asyncio.fixture(loop_scope="session")
async def linked(client: Socket, session: Any) -> Any:
    """A session in a worktree with a pull request."""
    await client.call("save_worktree_pr", worktreeId=session["worktree_id"], prNumber=7, prUrl=URL)
    return session


def names_of(service: Service) -> list[str]:
    return [name for name, _ in service.calls if name != "get_pull_request"]


async def open_it(page: Page, session: Any) -> None:
    await page.goto(f"/#/pull-request/{session['worktree_id']}")
    await expect(page.locator("#title")).to_have_text("#7 Count the pears")


async def test_red_checks_have_their_log_and_are_given_to_a_session(
    service: Service, client: Socket, open_page: OpenPage, linked: Any
) -> None:
    page = await open_page(screen=PHONE)
    await page.evaluate("() => { window.ran = () => console.error('foreign text ran'); }")
    await open_it(page, linked)
    checks = page.get_by_role("region", name="Checks")
    await expect(checks).to_contain_text("Checks: 1 failed, 499 passed")
    await expect(checks.get_by_text("job 3", exact=True)).to_be_hidden()
    await checks.locator("summary", has_text="Log").tap()
    await expect(checks.get_by_role("group", name="Log of CI / test")).to_have_text(
        "E   assert 1 == 2"
    )
    await expect(checks).to_contain_text("1,200 lines before are left out.")
    comment = page.locator(".thread-comment .verbatim").first
    assert await comment.text_content() == "".join(SCRIPTS)
    await page.locator("summary", has_text="Description").tap()
    assert await page.locator(".pr-body .verbatim").text_content() == "".join(HANDLERS)
    assert await page.evaluate(ACTIVE_CONTENT) == []
    assert await page.evaluate(TOO_WIDE) == ""
    await button(checks, "Fix the checks…").tap()
    await button(page.get_by_role("dialog"), "Send").tap()
    await expect(page.locator(".toast")).to_contain_text("Sent to 'Fix the parser'.")
    assert service.calls[-1] == ("fix_checks", {"session_id": linked["id"]})

    loop = page.get_by_role("switch", name="Fix checks and answer comments by itself")
    await loop.tap()
    await expect(page.get_by_role("region", name="By itself")).to_contain_text("0 of 3 times")
    changed = await client.call("get_session", sessionId=linked["id"])
    assert changed["pull_request_loop"]["limit"] == 3


async def test_a_comment_is_answered_and_a_reply_that_failed_is_kept(
    service: Service, open_page: OpenPage, linked: Any
) -> None:
    page = await open_page()
    await open_it(page, linked)
    threads = page.get_by_role("region", name="Comments")
    await expect(threads).to_contain_text("2 open comments")
    box = threads.get_by_role("textbox").last
    await box.fill("Because of the birds.")
    service.refusal = "GitHub allows no more requests until 14:00."
    await threads.get_by_role("button", name="Reply and resolve").click()
    await expect(page.locator(".toast")).to_contain_text(service.refusal)
    service.refusal = ""
    await page.reload()
    await expect(threads.get_by_role("textbox").last).to_have_value("Because of the birds.")
    await threads.get_by_role("button", name="Reply and resolve").click()
    await expect(threads).to_contain_text("1 open comment")
    assert service.calls[-1] == (
        "reply_to_thread",
        {"thread_id": "second", "text": "Because of the birds.", "resolve": True},
    )


async def test_the_conversation_is_shown_and_replied_to(
    service: Service, open_page: OpenPage, linked: Any
) -> None:
    def said(name: str, text: str, **more: Any) -> ReviewThread:
        place = {"path": "", "line": None, "resolve_note": "It cannot be resolved."}
        return a_thread(name, text).model_copy(update={**place, **more})

    earlier = [said(f"c{number}", f"Number {number}.") for number in range(11)]
    asked = said("asked", "".join(SCRIPTS) + "w" * 200, needs_answer=True)
    service.change(threads=[], conversation=[*earlier, asked])
    page = await open_page(screen=PHONE)
    await page.evaluate("() => { window.ran = () => console.error('foreign text ran'); }")
    await open_it(page, linked)
    talk = page.get_by_role("region", name="Conversation")
    await expect(talk).to_contain_text("Conversation: 1 not answered")
    await expect(talk.get_by_text("Number 1.", exact=True)).to_be_hidden()
    await talk.get_by_text("2 earlier comments").tap()
    await expect(talk.get_by_text("Number 1.", exact=True)).to_be_visible()
    assert (await talk.locator(".verbatim").last.text_content() or "").startswith(SCRIPTS[0])
    assert await page.evaluate(ACTIVE_CONTENT) == []
    assert await page.evaluate(TOO_WIDE) == ""
    await expect(button(talk, "Answer the comments…")).to_be_visible()
    await talk.get_by_role("textbox").last.fill("Renamed.")
    await expect(talk.get_by_role("button", name="Resolve")).to_have_count(0)
    await talk.get_by_role("button", name="Reply", exact=True).tap()
    await expect(talk).not_to_contain_text("not answered")
    assert service.calls[-1] == (
        "reply_to_thread",
        {"thread_id": "asked", "text": "Renamed.", "resolve": False},
    )


async def test_it_is_merged_at_the_commit_that_was_shown(
    service: Service, open_page: OpenPage, linked: Any
) -> None:
    service.change(phase="approved", can_merge=True, merge_note="", checks=[], threads=[])
    page = await open_page()
    await open_it(page, linked)
    merge = page.get_by_role("region", name="Merge")
    await button(merge, "Merge…").click()
    await button(page.get_by_role("dialog"), "Cancel").click()
    assert "merge_pull_request" not in names_of(service)
    await merge.get_by_text("Squash", exact=True).click()
    await button(merge, "Merge…").click()
    await button(page.get_by_role("dialog"), "Merge").click()
    await expect(merge).to_contain_text("It was merged into 'main'.")
    assert service.calls[-1] == (
        "merge_pull_request",
        {"method": "squash", "auto": False, "head_commit": HEAD},
    )
