"""`/act/{token}`: a token that answers one request of a session, once."""

import asyncio
import logging
from collections.abc import Callable

import pytest

from model.access import actions
from model.backends import agent_events
from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from server.guesses import MAX_WRONG
from tests.conftest import Eventually
from tests.fakes import FakeAgent
from tests.server.lite.browser import Browser
from tests.server.lite.conftest import AskUser
from tests.server.lite.test_asked import TEA

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PERMISSION = agent_events.PermissionRequested("p-1", "Bash", {"command": f"ls <x> {KEY}"})


async def test_opening_the_address_says_what_it_does_and_does_nothing(
    browser: Browser, ask_user: AskUser, agent: Callable[[], FakeAgent], workspace: Workspace,
    session: Session,
) -> None:  # fmt: skip
    await ask_user(PERMISSION)
    token = await workspace.grants.create_action(session.id, "p-1", "allow")
    browser.cookies.clear()
    page = await browser.get_page(f"/act/{token}")
    assert "Allow this once?" in page.text
    assert "ls <x>" in page.text
    assert KEY not in page.text
    assert not any(call[0] == "permit" for call in agent().calls)
    done = await browser.request("POST", f"/act/{token}", Accept="text/html")
    assert "Allowed once." in done.page.text
    assert await agent().wait_for_call("permit") == ("permit", "p-1", "allow", "")
    assert (await browser.request("GET", f"/act/{token}")).status == 404


@pytest.mark.parametrize(
    ("event", "request_id", "decision", "answer", "expected"),
    [
        (PERMISSION, "p-1", "deny", "", ("permit", "p-1", "deny", "")),
        (
            agent_events.PlanProposed("pl", "1. Leap"), "pl", "approve", "",
            ("approve", "pl", "build", None),
        ),
        (
            agent_events.QuestionAsked("q", [TEA]), "q", "answer", "Tea",
            ("answer", "q", {"Tea or coffee?": "Tea"}),
        ),
    ],
)  # fmt: skip
async def test_a_program_answers_with_one_request(
    browser: Browser, ask_user: AskUser, agent: Callable[[], FakeAgent], workspace: Workspace,
    session: Session, event: agent_events.AgentEvent, request_id: str,
    decision: actions.ActionDecision, answer: str, expected: tuple[object, ...],
) -> None:  # fmt: skip
    await ask_user(event)
    token = await workspace.grants.create_action(session.id, request_id, decision, answer)
    browser.cookies.clear()
    assert (await browser.request("POST", f"/act/{token}")).status == 200
    assert await agent().wait_for_call(str(expected[0])) == expected


async def test_of_several_tokens_and_tries_exactly_one_decides(
    browser: Browser, ask_user: AskUser, agent: Callable[[], FakeAgent], workspace: Workspace,
    session: Session,
) -> None:  # fmt: skip
    await ask_user(PERMISSION)
    tokens = [
        await workspace.grants.create_action(session.id, "p-1", "allow"),
        await workspace.grants.create_action(session.id, "p-1", "deny"),
    ]
    tries = [browser.request("POST", f"/act/{token}") for token in tokens * 4]
    statuses = [each.status for each in await asyncio.gather(*tries)]
    assert statuses.count(200) == 1
    assert sum(call[0] == "permit" for call in agent().calls) == 1


async def test_a_token_dies_with_its_request_and_after_a_day(
    browser: Browser, ask_user: AskUser, workspace: Workspace, session: Session,
    eventually: Eventually, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    page = await ask_user(PERMISSION)
    grants = workspace.grants
    monkeypatch.setattr(actions, "LIFETIME", -1.0)
    expired = await grants.create_action(session.id, "p-1", "allow")
    monkeypatch.undo()
    token = await grants.create_action(session.id, "p-1", "allow")
    await browser.submit_and_follow(page, "permission", decision="deny", request_id="p-1")
    await eventually(lambda: workspace.store.state.sessions[session.id].request is None)
    for dead in (token, expired):
        assert (await browser.request("POST", f"/act/{dead}")).status == 404
    with pytest.raises(SpinneyError) as refused:
        await grants.create_action(session.id, "p-1", "allow")
    assert refused.value.error_type == "conflict"


async def test_a_token_outlives_a_restart_and_is_stored_as_a_hash_only(
    ask_user: AskUser, workspace: Workspace, session: Session, directories: Directories
) -> None:
    await ask_user(agent_events.PlanProposed("pl", "1. Leap"))
    token = await workspace.grants.create_action(session.id, "pl", "approve")
    file = directories.access / "actions.json"
    assert token.encode() not in file.read_bytes()
    assert file.stat().st_mode & 0o077 == 0
    restarted = actions.OneTimeActions(file, lambda: workspace.store.state)
    await restarted.load()
    assert restarted.find(token).decision == "approve"


async def test_guesses_are_limited_and_a_right_token_still_works(
    browser: Browser, ask_user: AskUser, workspace: Workspace, session: Session,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    await ask_user(PERMISSION)
    token = await workspace.grants.create_action(session.id, "p-1", "deny")
    with caplog.at_level(logging.INFO):
        guesses = [await browser.request("POST", f"/act/sga_{n}") for n in range(MAX_WRONG + 1)]
        assert [each.status for each in guesses] == [404] * MAX_WRONG + [429]
        assert int(guesses[-1].headers["Retry-After"]) > 0
        assert (await browser.request("POST", f"/act/{token}")).status == 200
    assert token not in caplog.text
