"""`/lite`: what its forms do, as a browser without JavaScript sends them."""

import asyncio
import re

import pytest

from model.backends import base
from model.commands.sessions import archive_session, create_session, delete_session
from model.domain.events import WorktreeUpdated
from model.domain.resources import Session, Worktree
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.fakes import FakeBackend, plan, silence
from tests.server.lite.browser import Browser
from tests.server.lite.conftest import Waiting

# Messages ---------------------------------------------------------------------------------------


async def test_a_message_is_sent_and_its_answer_read(
    browser: Browser, path: str, session: Session, workspace: Workspace, eventually: Eventually
) -> None:
    page = await browser.see(path)
    seen = await browser.submit(page, "messages", message="hello\r\nthere")
    assert seen.leads_to == f"{path}#end"
    await eventually(lambda: workspace.store.state.sessions[session.id].status == "idle")
    text = (await browser.see(path)).text
    assert "hello\nthere" in text
    assert "hello there" in text


async def test_reading_a_session_marks_it_read(
    browser: Browser, path: str, session: Session, workspace: Workspace, eventually: Eventually
) -> None:
    await browser.submit(await browser.see(path), "messages", message="hello")
    await eventually(lambda: workspace.store.state.sessions[session.id].unread)
    assert "finished, not read yet" in (await browser.see()).text
    await browser.see(f"{path}?before=1.0")
    await browser.ask("HEAD", path)
    assert workspace.store.state.sessions[session.id].unread
    await browser.see(path)
    assert not workspace.store.state.sessions[session.id].unread


async def test_a_button_pressed_twice_sends_one_message(
    browser: Browser, path: str, session: Session, workspace: Workspace, backend: FakeBackend
) -> None:
    backend.script = silence
    page = await browser.see(path)
    for message in ("one", "one", "two"):
        assert (await browser.submit(page, "messages", message=message)).status == 303
    assert [m.text for m in workspace.store.state.queued[session.id]] == ["two"]


@pytest.mark.parametrize("message", ["", "  \n "])
async def test_an_empty_message_is_refused_at_the_top_of_the_page(
    browser: Browser, path: str, message: str
) -> None:
    seen = await browser.submit(await browser.see(path), "messages", message=message)
    assert seen.status == 400
    assert '<main><p class="bad" role="alert">' in seen.body
    assert seen.page.has_form("messages")


async def test_what_was_typed_is_in_its_box_after_an_error(
    browser: Browser, path: str, session: Session, workspace: Workspace
) -> None:
    page = await browser.see(path)
    await archive_session(workspace, session.id)
    words = '\n a long <thought> & more\n\nwith "quotes"</textarea>'
    seen = await browser.submit(page, "messages", message=words)
    assert seen.status >= 400
    assert seen.page.form("messages").fields["message"] == words


async def test_what_was_typed_is_given_back_where_the_session_is_gone(
    browser: Browser, path: str, session: Session, workspace: Workspace
) -> None:
    page = await browser.see(path)
    await delete_session(workspace, session.id)
    seen = await browser.submit(page, "messages", message="not <lost>")
    assert seen.status == 404
    assert "Session not found" in seen.page.text
    assert "not <lost>" in seen.page.text


async def test_messages_wait_behind_a_run_and_can_be_removed(
    browser: Browser, path: str, session: Session, workspace: Workspace, backend: FakeBackend
) -> None:
    backend.script = silence
    for message in ("first", "second", "third"):
        page = await browser.done(await browser.see(path), "messages", message=message)
    assert "waiting: second" in page.text
    _, last = page.form("queue").buttons
    page = await browser.done(page, "queue", message_id=last[1])
    assert "waiting: third" not in page.text
    assert [m.text for m in workspace.store.state.queued[session.id]] == ["second"]
    again = await browser.submit(page, "queue", message_id=last[1])
    assert (again.status, "no longer queued" in again.page.text) == (404, True)


async def test_a_run_is_stopped(
    browser: Browser, path: str, session: Session, workspace: Workspace, backend: FakeBackend
) -> None:
    backend.script = silence
    page = await browser.see(path)
    assert not page.has_form("stop")
    page = await browser.done(page, "messages", message="go")
    assert "running" in page.text
    page = await browser.done(page, "stop")
    assert not page.has_form("stop")
    assert workspace.store.state.sessions[session.id].status == "idle"


async def test_the_mode_is_changed(
    browser: Browser,
    path: str,
    session: Session,
    workspace: Workspace,
    backend: FakeBackend,
    eventually: Eventually,
) -> None:
    page = await browser.see(path)
    assert page.form("mode").fields["mode"] == "build"
    page = await browser.done(page, "mode", mode="yolo")
    assert page.form("mode").fields["mode"] == "yolo"
    assert (await browser.submit(page, "mode", mode="wild")).status == 400
    now = lambda: workspace.store.state.sessions[session.id]  # noqa: E731
    assert now().execution_mode == "yolo"

    # An agent that takes another mode with its next message only.
    backend.script = lambda _: (base.TurnModeReported("plan"),)
    await browser.done(page, "messages", message="go")
    await eventually(lambda: now().turn_mode == "plan")
    assert "from the next turn, now plan" in (await browser.see(path)).text


# New sessions, and lists ------------------------------------------------------------------------


async def test_a_session_begins_with_its_first_message(
    browser: Browser, worktree: Worktree, workspace: Workspace, backend: FakeBackend
) -> None:
    backend.script = plan
    page = await browser.see(f"/lite/worktrees/{worktree.id}")
    assert page.form("sessions").fields["mode"] == "plan"
    seen = await browser.submit(
        page, "sessions", message="Mend it", name="Mending", mode="build", backend="backend_a"
    )
    session_id = re.sub(r"/lite/sessions/|#end", "", seen.leads_to)
    made = workspace.store.state.sessions[session_id]
    assert (made.name, made.execution_mode, made.backend) == ("Mending", "build", "backend_a")
    assert "Mend it" in (await browser.see(seen.leads_to)).text


async def test_a_button_pressed_twice_begins_one_session(
    browser: Browser, worktree: Worktree, workspace: Workspace
) -> None:
    page = await browser.see(f"/lite/worktrees/{worktree.id}")
    presses = [browser.submit(page, "sessions", message="one") for _ in range(3)]
    seen = await asyncio.gather(*presses)
    assert len({each.leads_to for each in seen}) == 1
    assert (await browser.submit(page, "sessions", message="two")).leads_to != seen[0].leads_to
    assert len(workspace.store.state.sessions) == 2


async def test_a_session_begins_without_a_message_as_usual(
    browser: Browser, worktree: Worktree, workspace: Workspace
) -> None:
    page = await browser.done(await browser.see(f"/lite/worktrees/{worktree.id}"), "sessions")
    assert "Session 1" in page.text
    (made,) = workspace.store.state.sessions.values()
    assert (made.execution_mode, made.message_count) == ("plan", 0)


async def test_a_session_that_cannot_begin_keeps_what_was_typed(
    browser: Browser, worktree: Worktree, workspace: Workspace
) -> None:
    page = await browser.see(f"/lite/worktrees/{worktree.id}")
    seen = await browser.submit(
        page, "sessions", message="my <plan>", backend="nobody", mode="yolo"
    )
    assert seen.status == 400
    assert "must be one of" in seen.page.text
    fields = seen.page.form("sessions").fields
    assert (fields["message"], fields["mode"]) == ("my <plan>", "yolo")
    assert not workspace.store.state.sessions


async def test_sessions_that_need_somebody_come_first(
    browser: Browser, waiting: Waiting, session: Session, worktree: Worktree, workspace: Workspace
) -> None:
    newer = await create_session(workspace, worktree.id, name="Newer")
    gone = await create_session(workspace, worktree.id, name="Put away")
    await archive_session(workspace, gone.id)
    await waiting(base.PlanProposed("plan-1", "1. Look"))
    page = await browser.see()
    assert page.text.index("First") < page.text.index("Newer")
    assert "has a plan" in page.text
    assert "1 need you" in page.text
    assert "Put away" not in page.text
    assert page.links()["First"] == f"/lite/sessions/{session.id}#asked"
    assert page.links()["Newer"] == f"/lite/sessions/{newer.id}#end"


async def test_long_lists_come_in_pages(
    browser: Browser, worktree: Worktree, workspace: Workspace
) -> None:
    for number in range(45):
        await create_session(workspace, worktree.id, name=f"Number {number}.")
    for path in ("/lite", f"/lite/worktrees/{worktree.id}"):
        page, read = await browser.see(path), ""
        assert "Previous" not in page.links()
        for _ in range(2):
            read += page.text
            page = await browser.see(page.links()["Next"])
        read += page.text
        assert all(f"Number {number}." in read for number in range(45))
        assert "Next" not in page.links()
    assert "Page 3 of 3" in (await browser.see("/lite?page=99")).text
    for nonsense in ("-1", "x", "9" * 5000, "%C2%B2"):
        assert "Page 1 of 3" in (await browser.see(f"/lite?page={nonsense}")).text


async def test_worktrees_are_shown_with_what_git_says(
    browser: Browser, worktree: Worktree, workspace: Workspace
) -> None:
    counts = {
        "cached_uncommitted_added": 3,
        "cached_uncommitted_removed": 1,
        "cached_ahead_count": 2,
        "cached_behind_count": 5,
        "cached_conflict_count": 1,
        "pr_number": 7,
        "pr_url": "javascript:ran()",
        "cached_pr_status": "open",
        "cached_check_status": "failure",
    }
    await workspace.store.accept(WorktreeUpdated(worktree=worktree.model_copy(update=counts)))
    told = "+3 −1 · 2 ahead · 5 behind · 1 conflict · PR 7 open ✗"
    assert told in (await browser.see("/lite/worktrees")).text
    assert told in (await browser.see(f"/lite/worktrees/{worktree.id}")).text


async def test_what_is_not_there_is_a_404_that_says_so(browser: Browser) -> None:
    for path in (
        "/lite/sessions/x",
        "/lite/worktrees/x",
        "/lite/nothing",
        "/lite/sessions/x?part=1.1",
    ):
        seen = await browser.ask("GET", path)
        assert seen.status == 404
        assert "not found" in seen.page.text or "nothing at this address" in seen.page.text


async def test_what_nobody_foresaw_is_a_page_with_a_reference(
    browser: Browser, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(*_: object) -> None:
        raise RuntimeError("password is hunter2")

    monkeypatch.setattr("server.lite.routes.render_sessions", explode)
    seen = await browser.ask("GET", "/lite")
    assert seen.status == 500
    assert "Its log has the details under" in seen.page.text
    assert "hunter2" not in seen.body


# Renewing ---------------------------------------------------------------------------------------


async def test_the_page_renews_itself_only_when_asked_and_while_a_run_goes_on(
    browser: Browser, path: str, backend: FakeBackend
) -> None:
    backend.script = silence
    renews = re.compile(r'<meta http-equiv="refresh" content="(\d+);url=([^"]*)">')
    assert not renews.search((await browser.see(f"{path}?every=5")).source)
    page = await browser.done(await browser.see(path), "messages", message="go")
    assert not renews.search(page.source)
    page = await browser.see(page.links()["Refresh every 5 seconds"])
    seconds, address = renews.findall(page.source)[0]
    assert (seconds, address) == ("5", f"{path}?every=5&amp;beat=1#end")
    # Browsers load nothing where only what follows the # differs.
    again = await browser.see(address.replace("&amp;", "&"))
    assert renews.findall(again.source)[0][1] != address
    # What one types into a page that renews itself would be lost.
    assert not page.has_form("messages")
    assert page.has_form("stop")
    back = await browser.see(page.links()["Stop refreshing to write"])
    assert back.has_form("messages")
    assert not renews.search(back.source)
    await browser.done(page, "stop")
    assert not renews.search((await browser.see(f"{path}?every=5")).source)


@pytest.mark.parametrize("every", ["0", "-5", "x", "9999", "5;url=https://evil.test"])
async def test_nonsense_does_not_renew(
    browser: Browser, path: str, backend: FakeBackend, every: str
) -> None:
    backend.script = silence
    await browser.done(await browser.see(path), "messages", message="go")
    seen = await browser.ask("GET", f"{path}?every={every}")
    assert seen.status == 200
    assert "refresh" not in seen.body
