"""Turns on every backend: the same commands produce the same events, in the same order, and the
same stored messages.
"""

import asyncio
import subprocess
from pathlib import Path

import pytest

from tests.live.every_backend.conftest import Begin, start_endless_tool
from tests.live.every_backend.kinds import KINDS
from tests.model.backends.agents import is_running, wait_until

pytestmark = [
    pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys(), scope="module"),
    pytest.mark.timeout(300),
]


def newest_commit(directory: str) -> str:
    """The subject of the commit that is checked out in a directory."""
    command = ["git", "-C", directory, "log", "-1", "--format=%s"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


# Answers -----------------------------------------------------------------------------------------


async def test_an_answer_streams_and_is_kept(begin: Begin) -> None:
    talk = await begin()
    session = await talk.say("say: warp and weft")
    assert talk.shape() == [
        "message processing",
        "answer begins",
        "text",
        "answer ends: end_turn",
    ]
    assert await talk.stored() == ["user text", "assistant text"]
    assert await talk.last_text() == "warp and weft"
    assert session["usage"]["output_tokens"] > 0
    assert session["last_run"]["status"] == "completed"


async def test_thinking_comes_before_the_text(begin: Begin) -> None:
    talk = await begin()
    await talk.say("think: about looms")
    assert talk.shape()[2:4] == ["thinking", "text"]
    assert await talk.stored() == ["user text", "assistant thinking", "assistant text"]


async def test_two_messages_are_answered_one_after_the_other(begin: Begin) -> None:
    talk = await begin("yolo")
    held = "bash: while [ ! -e go ]; do sleep 0.2; done"
    first, second = await talk.send_together(held, "say: two")
    assert (first["status"], second["status"]) == ("processing", "sent")
    (Path(talk.worktree["path"]) / "go").touch()
    await talk.wait_for_event("message-completed")
    await talk.wait_for_event("message-completed")
    await talk.until("idle")
    answers = ["assistant tool", "assistant result", "assistant text"]
    assert await talk.stored() == ["user text", *answers, "user text", "assistant text"]
    assert await talk.last_text() == "two"


async def test_the_usage_is_summed_over_the_session(begin: Begin) -> None:
    talk = await begin()
    once = (await talk.say("say: one"))["usage"]
    twice = (await talk.say("say: two"))["usage"]
    assert twice["input_tokens"] > once["input_tokens"]
    assert twice["output_tokens"] == 2 * once["output_tokens"]


# Tools -------------------------------------------------------------------------------------------


@pytest.mark.core
async def test_build_mode_writes_in_the_worktree(begin: Begin) -> None:
    talk = await begin("build")
    await talk.say("write a.txt: woven")
    assert (Path(talk.worktree["path"]) / "a.txt").read_text().strip() == "woven"
    assert talk.shape() == [
        "message processing",
        "answer begins",
        "text",
        "edit a.txt",
        "result",
        "text",
        "answer ends: end_turn",
    ]
    assert await talk.stored() == [
        "user text",
        "assistant text",
        "assistant edit a.txt",
        "assistant result",
        "assistant text",
    ]


async def test_plan_mode_changes_nothing(begin: Begin) -> None:
    talk = await begin("plan")
    await talk.say("write a.txt: woven")
    assert not (Path(talk.worktree["path"]) / "a.txt").exists()
    assert "result" not in talk.shape()


async def test_the_mode_may_change_between_two_turns(begin: Begin) -> None:
    talk = await begin("plan")
    await talk.say("say: hello")
    await talk.do("update_session", executionMode="yolo")
    await talk.say("bash: touch in-yolo.txt")
    assert (Path(talk.worktree["path"]) / "in-yolo.txt").exists()
    assert "waits for permission" not in talk.shape()


async def test_a_running_command_is_reported_with_its_output_if_known(
    begin: Begin,
) -> None:
    talk = await begin("yolo")
    await talk.send("bash: sleep 1; echo warp; echo weft; while [ ! -e go ]; do sleep 0.2; done")
    seen = await talk.wait_for_event("tool-running")
    while talk.kind.streams_output and seen["output"] != "warp\nweft\n":
        seen = await talk.wait_for_event("tool-running")
    (block,) = await talk.running_tools()
    assert block["output_so_far"] == seen["output"]
    (Path(talk.worktree["path"]) / "go").touch()
    await talk.until("idle")
    assert await talk.running_tools() == []
    assert "warp" in str(await talk.do("get_messages", limit=2))


async def test_an_agent_commits_in_a_linked_worktree(begin: Begin) -> None:
    talk = await begin("yolo")
    names = "-c user.name=Ada -c user.email=ada@example.org"
    await talk.say(f"bash: git {names} commit -q --allow-empty -m 'Weave'")
    subject = await asyncio.to_thread(newest_commit, talk.worktree["path"])
    assert subject == "Weave"


@pytest.mark.parametrize("decision", ["allow", "deny"])
async def test_build_mode_asks_before_a_risky_command(begin: Begin, decision: str) -> None:
    talk = await begin("build")
    request = (await talk.say("bash: sudo -n true; touch asked.txt", until="waiting"))["request"]
    assert "touch asked.txt" in str(request["tool_input"])
    why = {"requestId": request["id"], "decision": decision, "reason": "Not on a Sunday."}
    await talk.do("answer_permission", **why)
    await talk.until("idle")
    assert (Path(talk.worktree["path"]) / "asked.txt").exists() == (decision == "allow")
    assert await talk.denials() == (["Not on a Sunday."] if decision == "deny" else [])


# Stops and failures ------------------------------------------------------------------------------


async def test_a_stop_keeps_the_text_received_so_far(begin: Begin) -> None:
    talk = await begin()
    await talk.send("slow")
    await talk.wait_for_event("content-delta")
    await talk.do("stop_generation")
    session = await talk.until("idle")
    assert session["last_run"]["status"] == "cancelled"
    assert talk.shape()[-1] == "answer ends: stopped"
    assert await talk.last_text() != ""
    await talk.say("say: on we go")
    assert await talk.last_text() == "on we go"


@pytest.mark.core
async def test_a_stop_ends_the_running_tool(begin: Begin) -> None:
    talk = await begin("yolo")
    pid = await start_endless_tool(talk)
    await talk.do("stop_generation")
    await talk.until("idle")
    await wait_until(lambda: not is_running(pid))
    await talk.say("say: on we go")
    assert await talk.last_text() == "on we go"


async def test_a_failed_turn_reports_its_error_type_and_the_next_message_works(
    begin: Begin,
) -> None:
    talk = await begin()
    session = await talk.say("error 401", until="failed")
    assert session["last_run"]["error_type"] == "authentication_error"
    assert talk.shape()[-1] == "answer fails: authentication_error"
    await talk.say("say: on we go")
    assert await talk.last_text() == "on we go"
