"""Notices: what stands, who is sent, what a client shows."""

from typing import Any

from tests.contract.conftest import Call, Chat, expect_error, receive_payload
from tests.server.conftest import Socket


async def test_a_question_is_a_notice_until_it_is_answered(
    call: Call, session: Any, chat: Chat, listener: Socket
) -> None:
    await chat.say(session, "/demo ask Which? | A | B", until="waiting")
    notice = (await receive_payload(listener, "notice:raised"))["notice"]
    assert (notice["reason"], notice["session_id"]) == ("question", session["id"])
    assert notice["id"] in [each["id"] for each in await call("list_notices")]
    assert "answer" in await expect_error(call, "dismiss_notice", noticeId=notice["id"])
    await call("answer_question", sessionId=session["id"], answer="A")
    withdrawn = await receive_payload(listener, "notice:withdrawn")
    assert withdrawn == {"notice_id": notice["id"], "session_id": session["id"]}
    await chat.until(session, "idle")
    finished = (await receive_payload(listener, "notice:raised"))["notice"]
    assert finished["reason"] == "finished"
    assert await call("dismiss_notice", noticeId=finished["id"]) is None
    error = await expect_error(call, "dismiss_notice", noticeId=finished["id"])
    assert error == "This notice no longer stands."


async def test_nothing_is_sent_about_a_session_that_a_client_shows(
    call: Call, session: Any, chat: Chat, listener: Socket
) -> None:
    await listener.call("set_focus", sessionId=session["id"])
    await chat.say(session, "/demo ask Which? | A | B", until="waiting")
    await receive_payload(listener, "notice:raised")
    [notice] = [each for each in await call("list_notices") if each["request_id"]]
    assert notice["sent"] == {}
    assert await expect_error(call, "set_focus", sessionId="none")


async def test_a_test_notice_says_which_channels_are_set_up(call: Call) -> None:
    results = {each["channel"]: each for each in await call("test_notice")}
    assert results.keys() == {"terminal", "page"}
    [ntfy] = await call("test_notice", channel="ntfy")
    assert not ntfy["ok"] and "not set up" in ntfy["detail"]
    await call("update_preferences", changes={"notify_command": ["/no/such/program"]})
    [command] = await call("test_notice", channel="command")
    assert not command["ok"] and "could not be started" in command["detail"]
    channels = {each["name"]: each for each in await call("list_notice_channels")}
    assert channels["command"]["is_ready"] and not channels["ntfy"]["is_ready"]


async def test_addresses_with_keys_stay_hidden_and_survive_being_sent_back(call: Call) -> None:
    key = "notify_urls"
    given = ["tgram://123/abc", "slack://T/B/C"]
    shown = (await call("update_preferences", changes={key: given}))[key]
    if shown != given:  # another machine
        assert shown == ["tgram://(hidden) 1", "slack://(hidden) 2"]
        await call("update_preferences", changes={key: [shown[1], "mailto://x"]})
        assert (await call("get_preferences"))[key] == ["slack://(hidden) 1", "mailto://(hidden) 2"]


async def test_a_browser_subscribes_to_push_and_leaves_again(call: Call) -> None:
    key = await call("get_push_key")
    assert len(key) == 87 and await call("get_push_key") == key
    browser = {
        "endpoint": "https://push.example/1",
        "p256dh": key,
        "auth": "MDEyMzQ1Njc4OWFiY2RlZg",
    }
    await call("add_push_subscription", **browser)
    channels = {each["name"]: each for each in await call("list_notice_channels")}
    assert channels["push"]["is_ready"]
    error = await expect_error(call, "add_push_subscription", **{**browser, "endpoint": "ftp://x"})
    assert "endpoint" in error
    await call("remove_push_subscription", endpoint=browser["endpoint"])
    channels = {each["name"]: each for each in await call("list_notice_channels")}
    assert not channels["push"]["is_ready"]
