"""Sessions that pause at a limit, and messages with a time (`model.api.limits`)."""

import time
from typing import Any

import pytest

from tests.contract.conftest import Call, Chat, expect_error


async def test_a_paused_session_has_its_reason_and_resume_session_lets_it_go_on(
    call: Call, session: Any, chat: Chat
) -> None:
    about = {"sessionId": session["id"]}
    await chat.say(session, "/demo fail rate_limit 600", until="paused")
    pause = (await call("get_session", **about))["pause"]
    assert round(pause["until"] - pause["since"]) == 600
    assert {key: pause[key] for key in ("kind", "account", "text", "goes_on")} == {
        "kind": "usage_limit", "account": session["backend"], "goes_on": "turn",
        "text": "The demo's rate limit is reached.",
    }  # fmt: skip
    sent = await call("send_chat_message", message="/demo say after", **about)
    assert sent["status"] == "sent"
    assert (await call("resume_session", **about))["status"] == "running"
    assert (await call("resume_session", **about))["pause"] is None, "a second client"


async def test_set_resume_time_takes_texts_and_times_for_a_session_or_an_account(
    call: Call, session: Any, chat: Chat
) -> None:
    about, now = {"sessionId": session["id"]}, time.time()
    assert "not paused" in await expect_error(call, "set_resume_time", at="18:00", **about)
    await chat.say(session, "/demo fail rate_limit 600", until="paused")
    pause = (await call("get_session", **about))["pause"]
    account = {"account": pause["account"]}
    changed = await call("set_resume_time", at=None, **about)
    assert changed[0]["pause"]["until"] is None
    changed = await call("set_resume_time", at="in 2 h", **account)
    assert 7199 <= changed[0]["pause"]["until"] - now <= 7260
    assert changed[0]["pause"]["is_time_chosen"]
    changed = await call("set_resume_time", at="reset", **account)
    assert changed[0]["pause"]["until"] == pause["resets_at"]
    assert not changed[0]["pause"]["is_time_chosen"]
    for wrong in ("soon", 1e300, float("9e15")):
        await expect_error(call, "set_resume_time", at=wrong, **account)
    for neither in ({}, {**about, **account}, {"account": "nobody"}):
        await expect_error(call, "set_resume_time", at="now", **neither)
    await call("set_resume_time", at=1.0, **about)  # in the past: at once
    await chat.until(session, "idle")
    turns = await call("list_turns", **about)
    assert [turn["prompt"] for turn in turns][1:] == ["Continued after a pause"]


@pytest.mark.own_program  # without the usage windows that other tests have let it report
async def test_a_message_with_a_time_waits_and_can_be_changed(
    call: Call, session: Any, chat: Chat
) -> None:
    about, now = {"sessionId": session["id"]}, time.time()
    message = {"message": "/demo say later", **about}
    sent = await call("send_chat_message", sendAt="in 1 h", **message)
    assert sent["status"] == "sent"
    queued = await call("list_queued_messages", **about)
    assert 3599 <= queued[0]["send_at"] - now <= 3660
    error = await expect_error(call, "send_chat_message", sendAt="reset", **message)
    assert "not known when the limit" in error
    await expect_error(call, "send_chat_message", sendAt="18:00", steer=True, **message)
    of_message = {"messageId": sent["message_id"], **about}
    changed = await call("set_send_time", at=now + 7200, **of_message)
    assert changed["send_at"] == now + 7200
    await call("set_send_time", at=None, **of_message)
    await chat.until(session, "idle")
    assert await call("list_queued_messages", **about) == []
    await expect_error(call, "set_send_time", at=None, **of_message)
