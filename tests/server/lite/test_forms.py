"""`/lite`: the forms, submitted by a browser without JavaScript."""

import asyncio
import re
import socket

import pytest

from model.backends import agent_events
from model.commands.sessions import archive_session, create_session, delete_session
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.fakes import FakeBackend, plan, silence
from tests.server.lite.browser import Browser
from tests.server.lite.conftest import AskUser
from tests.tables import table

# Messages ---------------------------------------------------------------------------------------


async def test_a_message_is_sent_and_its_answer_read(
    browser: Browser, path: str, session: Session, workspace: Workspace, eventually: Eventually
) -> None:
    page = await browser.get_page(path)
    seen = await browser.submit(page, "messages", message="hello\r\nthere")
    assert seen.location == f"{path}#end"
    await eventually(lambda: workspace.store.state.sessions[session.id].status == "idle")
    text = (await browser.get_page(path)).text
    assert "hello\nthere" in text
    assert "hello there" in text


async def test_reading_a_session_marks_it_read(
    browser: Browser, path: str, session: Session, workspace: Workspace, eventually: Eventually
) -> None:
    await browser.submit(await browser.get_page(path), "messages", message="hello")
    await eventually(lambda: workspace.store.state.sessions[session.id].unread)
    assert "finished, not read yet" in (await browser.get_page()).text
    await browser.get_page(f"{path}?before=1.0")
    await browser.request("HEAD", path)
    assert workspace.store.state.sessions[session.id].unread
    await browser.get_page(path)
    assert not workspace.store.state.sessions[session.id].unread


async def test_a_button_pressed_twice_sends_one_message(
    browser: Browser, path: str, session: Session, workspace: Workspace, backend: FakeBackend
) -> None:
    backend.script = silence
    page = await browser.get_page(path)
    for message in ("one", "one", "two"):
        assert (await browser.submit(page, "messages", message=message)).status == 303
    assert [m.text for m in workspace.store.state.queued[session.id]] == ["two"]


@pytest.mark.parametrize("message", ["", "  \n "])
async def test_an_empty_message_is_refused_at_the_top_of_the_page(
    browser: Browser, path: str, message: str
) -> None:
    seen = await browser.submit(await browser.get_page(path), "messages", message=message)
    assert seen.status == 400
    assert '<main><p class="bad" role="alert">' in seen.body
    assert seen.page.has_form("messages")


async def test_typed_text_stays_in_its_field_after_an_error(
    browser: Browser, path: str, session: Session, workspace: Workspace
) -> None:
    page = await browser.get_page(path)
    await archive_session(workspace, session.id)
    words = '\n a long <thought> & more\n\nwith "quotes"</textarea>'
    seen = await browser.submit(page, "messages", message=words)
    assert seen.status >= 400
    assert seen.page.form("messages").fields["message"] == words


async def test_typed_text_is_shown_again_if_the_session_was_deleted(
    browser: Browser, path: str, session: Session, workspace: Workspace
) -> None:
    page = await browser.get_page(path)
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
        page = await browser.submit_and_follow(
            await browser.get_page(path), "messages", message=message
        )
    assert "waiting: second" in page.text
    _, last = page.form("queue").buttons
    page = await browser.submit_and_follow(page, "queue", message_id=last[1])
    assert "waiting: third" not in page.text
    assert [m.text for m in workspace.store.state.queued[session.id]] == ["second"]
    again = await browser.submit(page, "queue", message_id=last[1])
    assert (again.status, "no longer queued" in again.page.text) == (404, True)


async def test_a_run_is_stopped(
    browser: Browser, path: str, session: Session, workspace: Workspace, backend: FakeBackend
) -> None:
    backend.script = silence
    page = await browser.get_page(path)
    assert not page.has_form("stop")
    page = await browser.submit_and_follow(page, "messages", message="go")
    assert "running" in page.text
    page = await browser.submit_and_follow(page, "stop")
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
    page = await browser.get_page(path)
    assert page.form("mode").fields["mode"] == "build"
    page = await browser.submit_and_follow(page, "mode", mode="yolo")
    assert page.form("mode").fields["mode"] == "yolo"
    assert (await browser.submit(page, "mode", mode="wild")).status == 400
    now = lambda: workspace.store.state.sessions[session.id]  # noqa: E731
    assert now().execution_mode == "yolo"

    # An agent that changes its mode only with its next message.
    backend.script = lambda _: (agent_events.TurnModeReported("plan"),)
    await browser.submit_and_follow(page, "messages", message="go")
    await eventually(lambda: now().turn_mode == "plan")
    assert "from the next turn, now plan" in (await browser.get_page(path)).text


# New sessions, and lists ------------------------------------------------------------------------


async def test_a_session_is_created_with_its_first_message(
    browser: Browser, worktree: Worktree, workspace: Workspace, backend: FakeBackend
) -> None:
    backend.script = plan
    page = await browser.get_page(f"/lite/worktrees/{worktree.id}")
    assert page.form("sessions").fields["mode"] == "plan"
    seen = await browser.submit(
        page, "sessions", message="Mend it", name="Mending", mode="build", backend="backend_a"
    )
    session_id = re.sub(r"/lite/sessions/|#end", "", seen.location)
    made = workspace.store.state.sessions[session_id]
    assert (made.name, made.execution_mode, made.backend) == ("Mending", "build", "backend_a")
    assert "Mend it" in (await browser.get_page(seen.location)).text


async def test_a_button_pressed_twice_creates_one_session(
    browser: Browser, worktree: Worktree, workspace: Workspace
) -> None:
    page = await browser.get_page(f"/lite/worktrees/{worktree.id}")
    presses = [browser.submit(page, "sessions", message="one") for _ in range(3)]
    seen = await asyncio.gather(*presses)
    assert len({each.location for each in seen}) == 1
    assert (await browser.submit(page, "sessions", message="two")).location != seen[0].location
    assert len(workspace.store.state.sessions) == 2


async def test_a_session_can_be_created_without_a_message(
    browser: Browser, worktree: Worktree, workspace: Workspace
) -> None:
    page = await browser.submit_and_follow(
        await browser.get_page(f"/lite/worktrees/{worktree.id}"), "sessions"
    )
    assert "Session 1" in page.text
    (made,) = workspace.store.state.sessions.values()
    assert (made.execution_mode, made.message_count) == ("plan", 0)


async def test_a_session_that_cannot_be_created_keeps_the_typed_text(
    browser: Browser, worktree: Worktree, workspace: Workspace
) -> None:
    page = await browser.get_page(f"/lite/worktrees/{worktree.id}")
    seen = await browser.submit(
        page, "sessions", message="my <plan>", backend="nobody", mode="yolo"
    )
    assert seen.status == 400
    assert "must be one of" in seen.page.text
    fields = seen.page.form("sessions").fields
    assert (fields["message"], fields["mode"]) == ("my <plan>", "yolo")
    assert not workspace.store.state.sessions


async def test_sessions_that_need_the_user_come_first(
    browser: Browser, ask_user: AskUser, session: Session, worktree: Worktree, workspace: Workspace
) -> None:
    newer = await create_session(workspace, worktree.id, name="Newer")
    gone = await create_session(workspace, worktree.id, name="Put away")
    await archive_session(workspace, gone.id)
    await ask_user(agent_events.PlanProposed("plan-1", "1. Look"))
    page = await browser.get_page()
    assert page.text.index("First") < page.text.index("Newer")
    assert "has a plan" in page.text
    assert "1 need you" in page.text
    assert "Put away" not in page.text
    assert page.links()["First"] == f"/lite/sessions/{session.id}#asked"
    assert page.links()["Newer"] == f"/lite/sessions/{newer.id}#end"


async def test_long_lists_are_paged(
    browser: Browser, worktree: Worktree, workspace: Workspace
) -> None:
    for number in range(45):
        await create_session(workspace, worktree.id, name=f"Number {number}.")
    for path in ("/lite", f"/lite/worktrees/{worktree.id}"):
        page, read = await browser.get_page(path), ""
        assert "Previous" not in page.links()
        for _ in range(2):
            read += page.text
            page = await browser.get_page(page.links()["Next"])
        read += page.text
        assert all(f"Number {number}." in read for number in range(45))
        assert "Next" not in page.links()
    assert "Page 3 of 3" in (await browser.get_page("/lite?page=99")).text
    for nonsense in ("-1", "x", "9" * 5000, "%C2%B2"):
        assert "Page 1 of 3" in (await browser.get_page(f"/lite?page={nonsense}")).text


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
    status = "+3 −1 · 2 ahead · 5 behind · 1 conflict · PR 7 open ✗"
    assert status in (await browser.get_page("/lite/worktrees")).text
    assert status in (await browser.get_page(f"/lite/worktrees/{worktree.id}")).text


async def test_a_worktree_links_to_the_ports_on_which_something_listens(
    browser: Browser, worktree: Worktree, workspace: Workspace
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        changed = worktree.model_copy(update={"port": port})
        await workspace.store.accept(WorktreeUpdated(worktree=changed))
        page = await browser.get_page(f"/lite/worktrees/{worktree.id}")
    assert f"Ports {port}–{port + 9}" in page.text
    assert page.links()[f":{port}"] == f"http://127.0.0.1:{port}"


async def test_an_unknown_path_is_a_404_page(browser: Browser) -> None:
    for path in (
        "/lite/sessions/x",
        "/lite/worktrees/x",
        "/lite/nothing",
        "/lite/sessions/x?part=1.1",
    ):
        seen = await browser.request("GET", path)
        assert seen.status == 404
        assert "not found" in seen.page.text or "nothing at this address" in seen.page.text


async def test_an_unexpected_error_is_a_page_with_a_reference(
    browser: Browser, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(*_: object) -> None:
        raise RuntimeError("password is hunter2")

    monkeypatch.setattr("server.lite.routes.render_sessions", explode)
    seen = await browser.request("GET", "/lite")
    assert seen.status == 500
    assert "Its log has the details under" in seen.page.text
    assert "hunter2" not in seen.body


# Refreshing -------------------------------------------------------------------------------------


async def test_the_page_refreshes_only_on_request_and_during_a_run(
    browser: Browser, path: str, backend: FakeBackend
) -> None:
    backend.script = silence
    refresh = re.compile(r'<meta http-equiv="refresh" content="(\d+);url=([^"]*)">')
    assert not refresh.search((await browser.get_page(f"{path}?every=5")).source)
    page = await browser.submit_and_follow(await browser.get_page(path), "messages", message="go")
    assert not refresh.search(page.source)
    page = await browser.get_page(page.links()["Refresh every 5 seconds"])
    seconds, address = refresh.findall(page.source)[0]
    assert (seconds, address) == ("5", f"{path}?every=5&amp;beat=1#end")
    # Browsers do not reload if only the fragment differs.
    again = await browser.get_page(address.replace("&amp;", "&"))
    assert refresh.findall(again.source)[0][1] != address
    # Text typed into a page that refreshes would be lost.
    assert not page.has_form("messages")
    assert page.has_form("stop")
    back = await browser.get_page(page.links()["Stop refreshing to write"])
    assert back.has_form("messages")
    assert not refresh.search(back.source)
    await browser.submit_and_follow(page, "stop")
    assert not refresh.search((await browser.get_page(f"{path}?every=5")).source)


@table("every", ["0", "-5", "x", "9999", "5;url=https://evil.test"])
async def test_an_invalid_interval_does_not_refresh(
    browser: Browser, path: str, backend: FakeBackend, every: str
) -> None:
    backend.script = silence
    await browser.submit_and_follow(await browser.get_page(path), "messages", message="go")
    seen = await browser.request("GET", f"{path}?every={every}")
    assert seen.status == 200
    assert "refresh" not in seen.body
