"""What agents use: tokens and cost by day, model and session, and the limits of their accounts."""

from typing import Any

from tests.contract.conftest import Call, Chat, expect_error


async def test_usage_is_summed_by_everything_that_it_can_be_asked_by(
    call: Call, chat: Chat, session: Any, worktree: Any, project: Any
) -> None:
    own = {"projectId": project["id"]}
    assert (await call("get_usage", **own))["rows"] == []
    await chat.say(session, "/demo say one two")
    await chat.say(session, "/demo say three")
    shown = await call("get_session", sessionId=session["id"])
    report = await call("get_usage", **own)
    [row] = report["rows"]
    assert (row["key"], row["turns"]) == (report["today"], 2)
    assert row["usage"] == shown["usage"]
    assert row["tokens"] == sum(shown["usage"].values()) == 10
    assert row["cost_usd"] == shown["cost"]["usd"]
    assert round(row["cost_usd"], 6) == 0.01
    keys = {"project": project["id"], "worktree": worktree["id"], "session": session["id"]}
    for by, key in {**keys, "agent": "demo"}.items():
        [same] = (await call("get_usage", by=by, since=report["today"], **own))["rows"]
        assert (same["key"], same["tokens"]) == (key, 10)
    for name, key in keys.items():
        assert (await call("get_usage", **{f"{name}Id": key}))["total"]["turns"] == 2
    turns = (await call("get_usage", by="turn", sessionId=session["id"]))["rows"]
    assert [turn["tokens"] for turn in turns] == [4, 6]
    assert (await call("get_usage", until="2020-01-01", **own))["total"]["turns"] == 0


async def test_usage_of_an_impossible_day_or_of_turns_without_a_session_is_refused(
    call: Call,
) -> None:
    assert "Not a day: yesterday" in await expect_error(call, "get_usage", since="yesterday")
    assert "sessionId" in await expect_error(call, "get_usage", by="turn")
    assert "by" in await expect_error(call, "get_usage", by="moon")


async def test_limits_are_listed_as_agents_reported_them(
    call: Call, chat: Chat, session: Any
) -> None:
    await chat.say(session, "/demo used 83 20")
    [account] = await call("list_usage_limits")
    assert (account["id"], account["backend"], account["profile"]) == ("demo", "demo", "")
    [window] = account["windows"]
    assert (window["id"], window["used"], window["minutes"]) == ("five_hour", 0.83, 300)
    assert (account["label"], window["label"]) == ("Demo agent", "5 hours")


async def test_a_budget_of_a_session_pauses_it_until_it_is_raised(
    call: Call, chat: Chat, session: Any, project: Any
) -> None:
    given = {"sessionId": session["id"]}
    assert await call("list_budgets", **given) == []
    budget = await call("set_budget", usd=0.004, **given)
    assert (budget["scope"], budget["used"], budget["label"]) == ("session", 0, session["name"])
    await chat.say(session, "/demo say one two", until="paused")
    paused = await call("get_session", **given)
    assert paused["pause"]["kind"] == "budget"
    [budget] = await call("list_budgets", **given)
    assert budget["used"] > 1
    await call("set_budget", usd=None, **given)
    await chat.until(session, "idle")
    daily = await call("set_budget", usd=50, projectId=project["id"])
    assert (daily["scope"], daily["limit_usd"]) == ("project", 50)
    assert daily["spent_usd"] == budget["spent_usd"]
    assert "either" in await expect_error(call, "set_budget", usd=1)
    assert "dollars" in await expect_error(call, "set_budget", usd=-1, **given)
