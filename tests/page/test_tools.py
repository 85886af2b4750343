"""Agents' tools in the page: to-do lists, sub-agents, questions, recaps, diffs."""

import re
import time
import uuid
from typing import Any

import pytest
from playwright.async_api import Page, expect

from model.backends import agent_events
from model.domain.events.messages import MessageQueued
from model.domain.events.sessions import SessionUpdated
from model.domain.messages import Message, TextBlock
from model.domain.requests import Question, QuestionOption
from model.domain.usage import Usage
from tests.page.browser import Screen
from tests.page.conftest import OpenPage
from tests.page.in_process import InProcessServer, begin_turn
from tests.page.user_input import Pointer, SessionPage
from tests.server.conftest import Socket


@pytest.fixture
def server(in_process_server: InProcessServer) -> InProcessServer:
    return in_process_server


async def open_session(open_page: OpenPage, session: Any) -> Page:
    return await open_page(f"/session/{session['id']}")


async def test_a_to_do_list_is_shown_as_a_list(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_session(open_page, session)
    puppet = await begin_turn(in_process_server, client, session)
    todos = [
        {"content": "read it", "status": "completed"},
        {"content": "mend it", "status": "in_progress"},
        {"content": "test it", "status": "pending"},
    ]
    puppet.say(agent_events.ToolUse("t", "todowrite", {"todos": todos}))
    tool = page.locator("details.tool")
    await expect(tool).to_contain_text("1 of 3 done")
    await tool.locator("summary").click()
    items = tool.locator(".todos li")
    await expect(items).to_have_text(["☑ read it", "◐ mend it", "☐ test it"])
    await expect(items.nth(1).get_by_role("img", name="in progress")).to_be_visible()
    puppet.say(agent_events.TurnFinished("end_turn", Usage()))


async def test_tools_of_a_sub_agent_are_in_its_fold_which_keeps_the_focus(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_session(open_page, session)
    puppet = await begin_turn(in_process_server, client, session)
    puppet.say(agent_events.ToolUse("task", "task", {"description": "look around"}))
    task = page.locator(".message > [data-tool] > details.tool")
    await task.locator("summary").focus()
    await page.keyboard.press("Enter")
    for number in range(3):
        key = f"read {number}"
        puppet.say(agent_events.ToolUse(key, "read", {"file_path": f"file{number}.py"}, "task"))
        puppet.say(agent_events.ToolResult(key, "seen"))
        below = task.locator("details.tool").nth(number)
        await expect(below).to_contain_text(f"file{number}.py")
        await expect(below.get_by_role("img", name="done")).to_be_visible()
        await expect(task.locator("summary").first).to_be_focused()
    await expect(task).to_have_count(1)
    puppet.say(agent_events.ToolResult("task", "looked around"))
    finished = page.locator(".message > details.tool")
    await expect(finished.get_by_role("img", name="done").first).to_be_visible()
    await expect(finished.locator("summary").first).to_be_focused()
    puppet.say(agent_events.TurnFinished("end_turn", Usage()))


async def test_a_recap_and_the_mode_of_the_turn_are_shown_while_they_apply(
    in_process_server: InProcessServer,
    client: Socket,
    open_page: OpenPage,
    session: Any,
    screen: Screen,
) -> None:
    page = await open_page(f"/session/{session['id']}", screen=screen)
    update = SessionUpdated(session_id=session["id"], updates={"recap": "It mended two tests."})
    await in_process_server.workspace.store.accept(update)
    recap = page.locator(".recap")
    await expect(recap).to_have_text("While you were awayIt mended two tests.")
    puppet = await begin_turn(in_process_server, client, session)
    await expect(recap).to_have_count(0)

    # This agent changes its mode only with the next message.
    session_page = SessionPage(Pointer(page, touch=screen.touch))
    await session_page.choose_mode("build")
    await puppet.wait_for_call("configure")
    puppet.say(agent_events.TurnModeReported("plan"))
    if screen.touch:
        pending = session_page.mode.filter(has_text="now plan")
        await expect(pending).to_have_accessible_name(re.compile("build, from the next turn, now"))
    else:
        pending = page.get_by_role("group", name="Session settings").get_by_role("status")
        await expect(pending).to_have_text("from the next turn, now plan")
    await expect(pending).to_be_in_viewport(ratio=1)
    puppet.say(agent_events.TurnFinished("end_turn", Usage()))
    await expect(pending).to_be_hidden()


async def test_text_can_be_added_to_several_choices(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_session(open_page, session)
    puppet = await begin_turn(in_process_server, client, session)
    sweets = [QuestionOption(label="Milk"), QuestionOption(label="Sugar")]
    asked = Question(question="What with it?", options=sweets, multi_select=True)
    puppet.say(agent_events.QuestionAsked("q", (asked,)))
    card = page.locator(".request")
    for label in ("Milk", "Sugar"):
        await card.get_by_role("button", name=label).click()
    await card.get_by_role("textbox").fill("and lemon")
    await card.get_by_role("button", name="Answer").click()
    call = await puppet.wait_for_call("answer")
    assert "Milk, Sugar, and lemon" in str(call)


REVIEW = """Please change this:

```diff
-old line
+new line
```
and *nothing* else."""


async def test_diffs_task_lists_and_dates_are_rendered(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    yesterday = time.time() - 24 * 3600
    message = Message(
        id=str(uuid.uuid4()),
        role="user",
        content=[TextBlock(text="long ago")],
        timestamp=yesterday,
        session_id=session["id"],
    )
    in_process_server.workspace.store.record(
        MessageQueued(session_id=session["id"], message=message, status="processing")
    )
    page = await open_session(open_page, session)
    puppet = await begin_turn(in_process_server, client, session, REVIEW)
    puppet.say(
        agent_events.TextDelta("a", "- [x] read it\n- [ ] mend `it`\n- [link](https://a.example)\n")
    )
    puppet.say(
        agent_events.PermissionRequested("p", "bash", {"command": "rm x"}, "Run `rm x` in `tmp`?")
    )
    card = page.locator("section.request")
    await expect(card.locator("p code")).to_have_text(["rm x", "tmp"])
    review = page.locator('.message[data-role="user"]').last.locator(".verbatim")
    await expect(review.locator("figure .line.removed")).to_have_text("-old line")
    await expect(review.locator("figure .line.added")).to_have_text("+new line")
    await expect(review).to_contain_text("and *nothing* else.")
    for reloads in (False, True):
        if reloads:
            await page.reload()
        tasks = page.locator("li.task")
        await expect(tasks).to_have_text(["☑ read it", "☐ mend it"])
        await expect(tasks.first.get_by_role("img", name="done")).to_be_visible()
        days = page.locator(".day")
        await expect(days).to_have_count(2)
        assert await days.last.inner_text() == await page.evaluate(
            "new Date().toLocaleDateString('en', "
            "{ weekday: 'long', month: 'long', day: 'numeric' })"
        )
    await client.call("stop_generation", sessionId=session["id"])


async def test_an_answer_that_edited_files_ends_in_a_card_with_what_to_do_next(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_session(open_page, session)
    puppet = await begin_turn(in_process_server, client, session)
    for key, path, old, new in (("1", "a.py", "one\n", "1\n2\n"), ("2", "b.py", "", "new\n")):
        given = {"file_path": path, "old_content": old, "new_content": new}
        puppet.say(agent_events.ToolUse(key, "edit", given))
        puppet.say(agent_events.ToolResult(key, "done"))
    card = page.locator(".change-card")
    await expect(card).to_have_count(0)
    puppet.say(agent_events.TurnFinished("end_turn", Usage()))
    await expect(card.get_by_role("heading")).to_have_text("2 files changed +3 −1")
    await expect(card.get_by_role("listitem")).to_have_text(["a.py+2 −1", "b.py+1 −0"])
    await page.reload()
    await expect(card.get_by_role("listitem")).to_have_count(2)
    await card.get_by_role("link", name="Review").click()
    await expect(page).to_have_url(re.compile("/diff/"))
    await page.go_back()
    await begin_turn(in_process_server, client, session)
    await expect(card).to_have_count(0)
