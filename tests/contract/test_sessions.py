"""Sections 2.3, 2.4 and 3 of the interface, and session commands beyond it."""

from pathlib import Path
from typing import Any

import pytest

from tests.contract.conftest import Call, Chat, RefusedError, expect_error, receive_payload
from tests.server.conftest import Socket

USAGE_FIELDS = {
    "input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
}  # fmt: skip


async def test_create_session_accepts_every_setting(call: Call, worktree: Any) -> None:
    wanted = {
        "name": "Mine", "execution_mode": "yolo", "model": "model_3", "thinking_level": "off",
        "backend": "backend_a",
    }  # fmt: skip
    made = await call("create_session", worktreeId=worktree["id"], **wanted)
    assert {key: made[key] for key in wanted} == wanted


@pytest.mark.parametrize("options", [()], ids=["without the demo agent"])
async def test_session_settings_override_project_settings_and_preferences(
    call: Call, worktree: Any, project: Any
) -> None:
    async def backend(**given: Any) -> str:
        made = await call("create_session", worktreeId=worktree["id"], **given)
        return str(made["backend"])

    assert await backend() == "backend_a"
    await call("update_preferences", changes={"default_backend": "backend_b"})
    assert await backend() == "backend_b"
    await call("update_project_settings", projectId=project["id"], defaultBackend="backend_c")
    assert await backend() == "backend_c"
    assert await backend(backend="backend_a") == "backend_a"


async def test_list_sessions_omits_archived_ones(call: Call, session: Any) -> None:
    listed = {"worktreeId": session["worktree_id"]}
    for command in ("list_sessions", "get_sessions"):
        assert await call(command, **listed) == [session]
    await call("archive_session", sessionId=session["id"])
    assert await call("list_sessions", **listed) == []
    assert len(await call("list_sessions", includeArchived=True, **listed)) == 1
    back = await call("unarchive_session", sessionId=session["id"])
    assert back.get("archived_at") is None
    assert len(await call("list_sessions", **listed)) == 1


async def test_archive_session_keeps_its_messages(call: Call, session: Any, chat: Chat) -> None:
    await chat.say(session, "/demo say hello")
    archived = await call("archive_session", sessionId=session["id"])
    assert archived["archived_at"] >= session["created_at"]
    assert await chat.last_text(session) == "hello"


async def test_delete_session_deletes_its_messages(call: Call, session: Any, chat: Chat) -> None:
    await chat.say(session, "/demo say shuttle")
    assert await call("search_messages", query="shuttle") != []
    assert await call("delete_session", sessionId=session["id"]) is None
    error = await expect_error(call, "get_messages", sessionId=session["id"])
    assert error == f"Session not found: {session['id']}"
    assert await call("search_messages", query="shuttle") == []


async def test_update_session_changes_name_and_mode(call: Call, session: Any) -> None:
    wanted = {"name": "New", "executionMode": "build"}
    changed = await call("update_session", sessionId=session["id"], **wanted)
    assert (changed["name"], changed["execution_mode"]) == ("New", "build")


async def test_send_chat_message_answers_at_once(call: Call, session: Any, chat: Chat) -> None:
    sent = await chat.say(session, "/demo say hello there")
    assert set(sent) == {"message_id", "status"}
    assert sent["status"] == "processing"
    asked, answered = (await call("get_messages", sessionId=session["id"]))["messages"]
    assert (asked["id"], asked["role"]) == (sent["message_id"], "user")
    assert asked["content"] == [{"type": "text", "text": "/demo say hello there"}]
    assert answered["role"] == "assistant"
    assert set(answered["usage"]) >= USAGE_FIELDS
    whole = await call("get_session", sessionId=session["id"])
    assert [m["id"] for m in whole["messages"]] == [asked["id"], answered["id"]]


async def test_a_message_sent_twice_with_the_same_id_is_accepted_once(
    call: Call, session: Any, worktree: Any, chat: Chat
) -> None:
    given = {"sessionId": session["id"], "messageId": "0B9F4B9E-6C1D-4E0A-9C57-3F8B8D8A1C11"}
    first = await call("send_chat_message", message="/demo stream 1000000 50", **given)
    assert first == {"message_id": given["messageId"].lower(), "status": "processing"}
    waiting = {**given, "messageId": "5f2d0f8e-0d3b-4a51-8f6e-2c9f5f5b7a22"}
    for words in ("/demo say once", "/demo say twice"):
        sent = await call("send_chat_message", message=words, **waiting)
        assert sent == {"message_id": waiting["messageId"], "status": "sent"}
    assert await call("send_chat_message", message="again", **given) == first
    (queued,) = await call("list_queued_messages", sessionId=session["id"])
    assert queued["content"][0]["text"] == "/demo say once"
    other = await call("create_session", worktreeId=worktree["id"])
    elsewhere = {**given, "sessionId": other["id"]}
    error = await expect_error(call, "send_chat_message", message="x", **elsewhere)
    assert error == "Invalid field 'messageId': another message has it"
    assert (await call("get_messages", sessionId=other["id"]))["messages"] == []
    error = await expect_error(
        call, "send_chat_message", message="x", **{**given, "messageId": "mine"}
    )
    assert error.startswith("Invalid field 'messageId': ")


async def test_get_messages_pages_from_the_newest(call: Call, session: Any, chat: Chat) -> None:
    for word in ("one", "two"):
        await chat.say(session, f"/demo say {word}")
    page = await call("get_messages", sessionId=session["id"], limit=2, offset=1)
    texts = [message["content"][0]["text"].strip() for message in page["messages"]]
    assert texts == ["one", "/demo say two"]
    assert page["total"] == 4


async def test_a_message_sent_during_a_run_is_queued_and_can_be_removed(
    call: Call, session: Any, chat: Chat
) -> None:
    await chat.say(session, "/demo wait 60", until="running")
    about = {"sessionId": session["id"]}
    waiting = await call("send_chat_message", message="/demo say later", **about)
    assert waiting["status"] == "sent"
    queued = await call("list_queued_messages", **about)
    assert [message["id"] for message in queued] == [waiting["message_id"]]
    assert await call("remove_queued_message", messageId=waiting["message_id"], **about) is None
    assert await call("list_queued_messages", **about) == []


async def test_a_message_is_sent_into_the_running_turn(
    call: Call, session: Any, chat: Chat
) -> None:
    about = {"sessionId": session["id"]}
    await chat.say(session, "/demo wait 1", until="running")
    sent = await call("send_chat_message", message="be short", steer=True, **about)
    later = await call("send_chat_message", message="be kind", **about)
    steered = await call("steer_queued_message", messageId=later["message_id"], **about)
    assert (sent["status"], steered) == ("sent", later)
    queued = await call("list_queued_messages", **about)
    assert [message["steered"] for message in queued] == [True, True]
    await chat.until(session, "idle")
    assert await call("list_queued_messages", **about) == []
    found = (await call("get_messages", **about))["messages"]
    assert [message.get("steered", False) for message in found if message["role"] == "user"] == [
        False, True, True,
    ]  # fmt: skip
    error = await expect_error(call, "steer_queued_message", messageId=sent["message_id"], **about)
    assert error == "This message is no longer queued."
    await chat.say(session, "/demo say after")
    turn = (await call("list_turns", **about))[0]
    undone = await call("undo_turn", turnId=turn["turn_id"], what="conversation")
    assert undone["message"] == "/demo wait 1\n\nbe short\n\nbe kind"


@pytest.mark.parametrize("command", ["stop_generation", "cancel_chat_message"])
async def test_stop_generation_keeps_the_partial_answer(
    call: Call, session: Any, chat: Chat, command: str, listener: Socket
) -> None:
    assert (await call(command, sessionId=session["id"]))["status"] == "idle"
    await chat.say(session, "/demo say thinking\n/demo wait 60", until="running")
    await listener.event("content-delta")
    await call(command, sessionId=session["id"])
    await chat.until(session, "idle")
    assert await chat.last_text(session) == "thinking"
    await chat.say(session, "/demo say on")
    assert await chat.last_text(session) == "on"


@pytest.mark.parametrize("mode", ["build", "yolo"])
async def test_approve_plan_carries_it_out_in_that_mode(
    call: Call, session: Any, worktree: Any, chat: Chat, mode: str
) -> None:
    await chat.say(session, "/demo plan write made.txt: yes", until="waiting")
    assert (await call("get_session", sessionId=session["id"]))["waiting_for"] == "plan"
    assert not Path(worktree["path"], "made.txt").exists()
    approved = await call("approve_plan", sessionId=session["id"], mode=mode)
    assert approved["execution_mode"] == mode
    await chat.until(session, "idle")
    assert Path(worktree["path"], "made.txt").read_text() == "yes\n"
    error = await expect_error(call, "approve_plan", sessionId=session["id"], mode="plan")
    assert error == "Invalid field 'mode': must be 'build' or 'yolo'"


async def test_answer_question_answers_the_pending_one(
    call: Call, session: Any, chat: Chat, listener: Socket
) -> None:
    await chat.say(session, "/demo ask Which? | A | B", until="waiting")
    while (asked := await receive_payload(listener, "session-waiting"))["waiting_for"] is None:
        pass
    assert set(asked) == {"session_id", "waiting_for", "request"}
    assert (asked["session_id"], asked["waiting_for"]) == (session["id"], "question")
    await call("answer_question", sessionId=session["id"], answer="A")
    await chat.until(session, "idle")
    assert await chat.last_text(session) == "You answered: A"


@pytest.mark.parametrize(("decision", "ran"), [("allow", True), ("deny", False)])
async def test_answer_permission_decides_what_runs(
    call: Call, worktree: Any, chat: Chat, listener: Socket, decision: str, ran: bool
) -> None:
    session = await call("create_session", worktreeId=worktree["id"], executionMode="build")
    await chat.say(session, "/demo permission touch made.txt", until="waiting")
    asked = (await call("get_session", sessionId=session["id"]))["request"]
    answer = {"requestId": asked["id"], "decision": decision}
    await call("answer_permission", sessionId=session["id"], **answer)
    await chat.until(session, "idle")
    assert Path(worktree["path"], "made.txt").exists() is ran


async def test_get_tool_output_returns_the_whole_output_in_pieces(
    call: Call, worktree: Any, chat: Chat, listener: Socket
) -> None:
    session = await call("create_session", worktreeId=worktree["id"], executionMode="build")
    await chat.say(session, "/demo run seq 10000")
    messages = (await call("get_messages", sessionId=session["id"]))["messages"]
    (result,) = (b for m in messages for b in m["content"] if b["type"] == "tool_result")
    assert "are left out here" in result["content"]
    about = {"sessionId": session["id"], "toolUseId": result["tool_use_id"]}
    whole = await call("get_tool_output", **about)
    lines = whole["content"].splitlines()
    assert [line for line in lines if line.isdigit()] == [str(n) for n in range(1, 10001)]
    assert (whole["offset"], whole["next_offset"]) == (0, None)
    piece = await call("get_tool_output", offset=10, limit=20, **about)
    assert piece["content"] == whole["content"].encode()[10:30].decode()
    assert (piece["next_offset"], piece["size"]) == (30, len(whole["content"].encode()))


async def test_get_raw_log_returns_the_traffic_of_the_program(
    call: Call, session: Any, chat: Chat
) -> None:
    about = {"sessionId": session["id"]}
    await call("update_preferences", changes={"debug_mode_enabled": True})
    await chat.say(session, "/demo say the heddle")
    await call("update_preferences", changes={"debug_mode_enabled": False})
    log = await call("get_raw_log", **about)
    assert '\u2192 {"type":"prompt","text":"/demo say the heddle"' in log["text"]
    assert (log["start"], log["end"], log["is_first"]) == (0, log["size"], True)
    assert log["recording"] is False and Path(log["path"]).read_text() == log["text"]
    nothing = await call("get_raw_log", after=log["end"], **about)
    assert (nothing["text"], nothing["end"]) == ("", log["end"])
    tail = await call("get_raw_log", before=log["end"] - 1, limit=1024, **about)
    assert tail["text"] in log["text"] and 0 < len(tail["text"].encode()) <= 1024
    with pytest.raises(RefusedError, match="'after'"):
        await call("get_raw_log", before=1, after=1, **about)
    with pytest.raises(RefusedError, match="'limit'"):
        await call("get_raw_log", limit=10**9, **about)


async def test_search_messages_finds_words(call: Call, session: Any, chat: Chat) -> None:
    await chat.say(session, "/demo say the shuttle of the loom")
    hits = await call("search_messages", query="shuttle")
    assert {hit["session"]["id"] for hit in hits} == {session["id"]}


async def test_reorder_sessions_sets_the_order(call: Call, worktree: Any) -> None:
    about = {"worktreeId": worktree["id"]}
    made = [(await call("create_session", **about))["id"] for _ in range(3)]
    wanted = [made[2], made[0], made[1]]
    assert await call("reorder_sessions", sessionIds=wanted, **about) is None
    assert [s["id"] for s in await call("list_sessions", **about)] == wanted
