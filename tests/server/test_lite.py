"""`/lite`: what its forms do, as a browser without JavaScript sends them."""

import asyncio
import re
from collections.abc import Awaitable, Callable

import aiohttp
import pytest

from model.backends import base
from model.commands.sessions import archive_session, create_session, delete_session
from model.events import WorktreeUpdated
from model.resources import Question, QuestionOption, Session, Worktree
from model.workspace import Workspace
from server.app import Server
from tests.conftest import Eventually
from tests.fakes import FakeAgent, FakeBackend, plan, silence
from tests.server.lite_browser import Browser
from tests.server.strict_html import Read

TEA = Question(
    question="Tea or coffee?", options=[QuestionOption(label="Tea"), QuestionOption(label="Coffee")]
)
SWEETS = Question(
    question="What with it?",
    multi_select=True,
    options=[QuestionOption(label="Milk"), QuestionOption(label="Sugar", description="brown")],
)

Waiting = Callable[..., Awaitable[Read]]


@pytest.fixture
async def browser(server: Server, http: aiohttp.ClientSession) -> Browser:
    """Signed in."""
    made = Browser(server, http)
    await made.sign_in()
    return made


@pytest.fixture
def path(session: Session) -> str:
    return f"/lite/sessions/{session.id}"


@pytest.fixture
def waiting(
    browser: Browser,
    backend: FakeBackend,
    session: Session,
    workspace: Workspace,
    eventually: Eventually,
) -> Waiting:
    """`await waiting(event)`: the session's page once its agent has asked this."""

    async def ask(*events: base.AgentEvent) -> Read:
        backend.script = lambda _: events
        path = f"/lite/sessions/{session.id}"
        await browser.done(await browser.see(path), "messages", message="go")
        await eventually(lambda: workspace.store.state.sessions[session.id].status == "waiting")
        return await browser.see(path)

    return ask


@pytest.fixture
def agent(backend: FakeBackend, session: Session) -> Callable[[], FakeAgent]:
    """The session's agent, once it was spoken to."""
    return lambda: backend.agents[session.id]


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
    await archive_session.function(workspace, session.id)
    words = '\n a long <thought> & more\n\nwith "quotes"</textarea>'
    seen = await browser.submit(page, "messages", message=words)
    assert seen.status >= 400
    assert seen.page.form("messages").fields["message"] == words


async def test_what_was_typed_is_given_back_where_the_session_is_gone(
    browser: Browser, path: str, session: Session, workspace: Workspace
) -> None:
    page = await browser.see(path)
    await delete_session.function(workspace, session.id)
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
    assert "waits: second" in page.text
    _, last = page.form("queue").buttons
    page = await browser.done(page, "queue", message_id=last[1])
    assert "waits: third" not in page.text
    assert [m.text for m in workspace.store.state.queued[session.id]] == ["second"]
    again = await browser.submit(page, "queue", message_id=last[1])
    assert (again.status, "does not wait any more" in again.page.text) == (404, True)


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
    browser: Browser, path: str, session: Session, workspace: Workspace
) -> None:
    page = await browser.see(path)
    assert page.form("mode").fields["mode"] == "build"
    page = await browser.done(page, "mode", mode="yolo")
    assert page.form("mode").fields["mode"] == "yolo"
    assert (await browser.submit(page, "mode", mode="wild")).status == 400
    assert workspace.store.state.sessions[session.id].execution_mode == "yolo"


# What is asked ----------------------------------------------------------------------------------


async def test_a_plan_is_built(
    browser: Browser, waiting: Waiting, agent: Callable[[], FakeAgent]
) -> None:
    page = await waiting(base.PlanProposed("plan-1", "1. Look\n2. Leap"))
    assert "Carry out this plan?" in page.text
    assert page.form("approve").buttons == [("mode", "build"), ("mode", "yolo")]
    await browser.done(page, "approve", mode="build")
    assert await agent().hears("approve") == ("approve", "plan-1", "build", None)


async def test_yolo_asks_once_more(
    browser: Browser, waiting: Waiting, agent: Callable[[], FakeAgent], session: Session
) -> None:
    page = await waiting(base.PlanProposed("plan-1", "1. Leap"))
    seen = await browser.submit(page, "approve", mode="yolo")
    assert seen.status == 200
    assert "Really? Nothing will be asked" in seen.page.text
    assert not any(call[0] == "approve" for call in agent().calls)
    assert seen.page.links()["‹ First"] == f"/lite/sessions/{session.id}#asked"
    await browser.done(seen.page, "approve", mode="yolo")
    assert await agent().hears("approve") == ("approve", "plan-1", "yolo", None)


async def test_a_plan_is_edited_before_it_is_carried_out(
    browser: Browser, waiting: Waiting, agent: Callable[[], FakeAgent]
) -> None:
    page = await waiting(base.PlanProposed("plan-1", "\n1. Look </textarea>\n2. Leap"))
    edit = await browser.see(page.links()["Edit first"])
    assert edit.form("approve").fields["plan"] == "\n1. Look </textarea>\n2. Leap"
    sure = await browser.submit(edit, "approve", mode="yolo", plan="1. Only\r\nlook")
    await browser.done(sure.page, "approve", mode="yolo")
    assert await agent().hears("approve") == ("approve", "plan-1", "yolo", "1. Only\nlook")


async def test_a_plan_that_was_replaced_is_refused_and_the_edits_stay(
    browser: Browser, waiting: Waiting
) -> None:
    page = await waiting(base.PlanProposed("plan-1", "1. Look"))
    edit = await browser.see(page.links()["Edit first"])
    seen = await browser.submit(edit, "approve", mode="build", plan="my <own>", request_id="old")
    assert seen.status == 409
    assert "replaced by a newer one" in seen.page.text
    assert seen.page.form("approve").fields["plan"] == "my <own>"


async def test_a_plan_that_was_carried_out_cannot_be_edited(
    browser: Browser, waiting: Waiting
) -> None:
    page = await waiting(base.PlanProposed("plan-1", "1. Look"))
    edit = page.links()["Edit first"]
    await browser.done(page, "approve", mode="build")
    seen = await browser.ask("GET", edit)
    assert (seen.status, "No plan waits" in seen.page.text) == (404, True)


async def test_a_plan_is_discussed_in_the_message_box(
    browser: Browser, waiting: Waiting, agent: Callable[[], FakeAgent]
) -> None:
    page = await waiting(base.PlanProposed("plan-1", "1. Look"))
    await browser.done(page, "messages", message="Why?")
    assert await agent().hears("discuss") == ("discuss", "plan-1", "Why?")


@pytest.mark.parametrize(
    ("filled", "answers"),
    [
        ({"q0": "1", "q1": "0"}, {TEA.question: "Coffee", SWEETS.question: "Milk"}),
        (
            {"q0": "0", "own0": "Water", "own1": "Cake"},
            {"Tea or coffee?": "Water", "What with it?": "Cake"},
        ),
        (
            {"q0": "0", "q1": "1", "own1": "Honey"},
            {"Tea or coffee?": "Tea", "What with it?": "Sugar, Honey"},
        ),
    ],
)
async def test_questions_are_answered_by_choice_and_in_own_words(
    browser: Browser,
    waiting: Waiting,
    agent: Callable[[], FakeAgent],
    filled: dict[str, str],
    answers: dict[str, str],
) -> None:
    page = await waiting(base.QuestionAsked("q-1", (TEA, SWEETS)))
    kinds = [known["type"] for known in page.all("input") if str(known["name"]).startswith("q")]
    assert kinds == ["radio", "radio", "checkbox", "checkbox"]
    await browser.done(page, "answer", **filled)
    assert await agent().hears("answer") == ("answer", "q-1", answers)


async def test_several_choices_are_one_answer(
    browser: Browser, waiting: Waiting, agent: Callable[[], FakeAgent]
) -> None:
    page = await waiting(base.QuestionAsked("q-1", (SWEETS,)))
    form = page.form("answer")
    fields = [*form.fields.items(), ("q0", "1"), ("q0", "0")]
    assert (await browser.ask("POST", form.action, aiohttp.FormData(fields))).status == 303
    assert await agent().hears("answer") == ("answer", "q-1", {"What with it?": "Milk, Sugar"})


async def test_a_question_without_an_answer_is_named_and_the_others_stay_answered(
    browser: Browser, waiting: Waiting
) -> None:
    page = await waiting(base.QuestionAsked("q-1", (TEA, SWEETS)))
    seen = await browser.submit(page, "answer", q1="1", own1="and <jam>")
    assert seen.status == 400
    assert "This has no answer yet: Tea or coffee?" in seen.page.text
    fields = seen.page.form("answer").fields
    assert (fields["q1"], fields["own1"], "q0" in fields) == ("1", "and <jam>", False)


async def test_an_answer_to_questions_that_were_replaced_is_refused(
    browser: Browser, waiting: Waiting
) -> None:
    page = await waiting(base.QuestionAsked("q-1", (TEA,)))
    seen = await browser.submit(page, "answer", q0="1", request_id="older")
    assert (seen.status, "replaced" in seen.page.text) == (409, True)


@pytest.mark.parametrize(
    ("filled", "told"),
    [
        ({"decision": "allow", "reason": "not read"}, ("allow", "")),
        ({"decision": "allow_session"}, ("allow_session", "")),
        ({"decision": "deny"}, ("deny", "")),
        ({"decision": "deny", "reason": " Use <make> "}, ("deny", "Use <make>")),
    ],
)
async def test_a_permission_is_given_or_denied_with_a_reason(
    browser: Browser,
    waiting: Waiting,
    agent: Callable[[], FakeAgent],
    filled: dict[str, str],
    told: tuple[str, str],
) -> None:
    page = await waiting(base.PermissionAsked("p-1", "Bash", {"command": "rm -r <x>"}, "Clean"))
    assert "May it use Bash?" in page.text
    assert "rm -r <x>" in page.text
    assert page.has_form("stop")
    await browser.done(page, "permission", **filled)
    assert (await agent().hears("permit"))[1:] == ("p-1", *told)


async def test_the_enter_key_in_the_reason_never_allows(waiting: Waiting) -> None:
    """It presses the first button of the form that the field is in."""
    page = await waiting(base.PermissionAsked("p-1", "Bash", {"command": "ls"}))
    form = next(form for form in page.forms if "reason" in form.fields)
    assert form.buttons == [("decision", "deny")]


async def test_a_permission_that_is_over_is_told_and_the_reason_kept(
    browser: Browser, waiting: Waiting
) -> None:
    page = await waiting(base.PermissionAsked("p-1", "Bash", {"command": "ls"}))
    seen = await browser.submit(
        page, "permission", decision="deny", reason="no <way>", request_id="x"
    )
    assert seen.status == 409
    fields = next(form.fields for form in seen.page.forms if "reason" in form.fields)
    assert fields["reason"] == "no <way>"


async def test_a_long_permission_can_be_read_to_its_end(browser: Browser, waiting: Waiting) -> None:
    command = "\n".join(f"echo {n}" for n in range(3000))
    page = await waiting(base.PermissionAsked("p-1", "Bash", {"command": command}))
    assert "Not all of it is shown." in page.text
    page = await browser.see(page.links()["All of it"])
    read = page.text
    while "Further on" in page.links():
        page = await browser.see(page.links()["Further on"])
        read += page.text
    assert all(f"{n}" in re.findall(r"\d+", read) for n in (0, 1500, 2999))


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
    newer = await create_session.function(workspace, worktree.id, name="Newer")
    gone = await create_session.function(workspace, worktree.id, name="Put away")
    await archive_session.function(workspace, gone.id)
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
        await create_session.function(workspace, worktree.id, name=f"Number {number}.")
    for path in ("/lite", f"/lite/worktrees/{worktree.id}"):
        page, read = await browser.see(path), ""
        assert "Before" not in page.links()
        for _ in range(2):
            read += page.text
            page = await browser.see(page.links()["More"])
        read += page.text
        assert all(f"Number {number}." in read for number in range(45))
        assert "More" not in page.links()
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

    monkeypatch.setattr("server.lite.routes.sessions_page", explode)
    seen = await browser.ask("GET", "/lite")
    assert seen.status == 500
    assert "its log has the details under" in seen.page.text
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
    page = await browser.see(page.links()["Renew every 5 seconds"])
    seconds, address = renews.findall(page.source)[0]
    assert (seconds, address) == ("5", f"{path}?every=5&amp;beat=1#end")
    # Browsers load nothing where only what follows the # differs.
    again = await browser.see(address.replace("&amp;", "&"))
    assert renews.findall(again.source)[0][1] != address
    # What one types into a page that renews itself would be lost.
    assert not page.has_form("messages")
    assert page.has_form("stop")
    back = await browser.see(page.links()["Stop renewing, and write"])
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
