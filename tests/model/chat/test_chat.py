"""A session's messages, turns and failures, with a puppet as the agent."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from model.backends import agent_events
from model.base.errors import SpinneyError
from model.domain.events.sessions import SessionUpdated
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.messages import TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock
from model.domain.requests import Question, QuestionOption
from model.domain.usage import Usage
from tests.model.chat.harness import DONE, Harness
from tests.patience import PATIENCE


async def test_a_message_runs_and_its_answer_streams_into_the_store(harness: Harness) -> None:
    sent = await harness.chats.send("s", "Fix the parser\nplease")
    assert sent.status == "processing"
    assert harness.session.status == "running"
    assert harness.session.name == "Fix the parser"
    puppet = await harness.backend.newest()
    assert await puppet.wait_for_call("send") == ("send", "Fix the parser\nplease")
    puppet.say(
        agent_events.TextDelta("t", "let me see", "thinking"),
        agent_events.TextDelta("a", "It is "),
        agent_events.TextDelta("a", "easy."),
        agent_events.ToolUse("u", "read", {"file_path": "a.py"}),
        agent_events.ToolResult("u", "x = 1"),
        agent_events.TextDelta("b", "Done."),
        DONE,
    )
    answer = await harness.wait_for_turn()
    thinking, *rest = answer.content
    assert isinstance(thinking, ThinkingBlock)
    assert thinking.text == "let me see"
    assert thinking.seconds is not None
    assert rest == [
        TextBlock(text="It is easy."),
        ToolUseBlock(id="u", name="read", input={"file_path": "a.py"}),
        ToolResultBlock(tool_use_id="u", content="x = 1"),
        TextBlock(text="Done."),
    ]
    assert (answer.status, answer.stop_reason) == ("completed", "end_turn")
    assert harness.session.usage == Usage(input_tokens=2, output_tokens=3)
    assert harness.session.unread
    assert harness.session.last_run is not None
    assert harness.session.last_run.status == "completed"
    assert harness.session.message_count == len(await harness.messages()) == 2


async def test_blocks_out_of_order_keep_their_places(harness: Harness) -> None:
    puppet = await harness.start_turn("go")
    puppet.say(
        agent_events.TextDelta("a", "one"),
        agent_events.ToolUse("x", "run", {}),
        agent_events.ToolUse("y", "run", {}),
        agent_events.ToolResult("y", "second"),
        agent_events.TextDelta("a", "!"),
        agent_events.ToolResult("x", "first"),
        agent_events.ToolUse("x", "run", {"command": "ls"}),
        DONE,
    )
    answer = await harness.wait_for_turn()
    assert answer.content == [
        TextBlock(text="one!"),
        ToolUseBlock(id="x", name="run", input={"command": "ls"}),
        ToolUseBlock(id="y", name="run"),
        ToolResultBlock(tool_use_id="y", content="second"),
        ToolResultBlock(tool_use_id="x", content="first"),
    ]


async def test_the_final_text_replaces_what_was_streamed_and_dropped_text_is_gone(
    harness: Harness,
) -> None:
    puppet = await harness.start_turn("go")
    puppet.say(
        agent_events.TextDelta("a", "provisional"),
        agent_events.BlockDropped("a"),
        agent_events.TextFinal("b", "never streamed"),
        agent_events.TextDelta("c", "almost rigth"),
        agent_events.TextFinal("c", "almost right"),
        DONE,
    )
    assert (await harness.wait_for_turn()).text.strip() == "never streamed\n\nalmost right"


async def test_hostile_text_of_an_agent_is_escaped_in_the_store(harness: Harness) -> None:
    puppet = await harness.start_turn("go \x1b[31m")
    puppet.say(
        agent_events.TextDelta("a", "\x1b]52;c;aGk=\x07hi \ud800"),
        agent_events.ToolUse("u", "run", {"command": "\x1b[2Jls"}),
        agent_events.ToolResult("u", "\x9b31m"),
        DONE,
    )
    answer = await harness.wait_for_turn()
    everything = answer.model_dump_json()
    assert "␛]52;c;aGk=␇hi <U+D800>" in everything
    assert "␛[2Jls" in everything
    assert "<U+009B>31m" in everything
    assert "\\u001b" not in everything
    assert "\x9b" not in everything


@pytest.mark.parametrize("kind", ["plan", "question", "permission", "failure"])
async def test_hostile_text_in_requests_is_escaped_and_answers_reach_the_agent(
    harness: Harness, kind: str
) -> None:
    bad = "\x1b[31mlook\ud800\x00\u202e"
    question = Question(question=bad, header=bad, options=[QuestionOption(label=bad)])
    events: dict[str, agent_events.AgentEvent] = {
        "plan": agent_events.PlanProposed("r", bad),
        "question": agent_events.QuestionAsked("r", (question,)),
        "permission": agent_events.PermissionRequested("r", bad, {bad: bad}, bad),
        "failure": agent_events.TurnFailed(bad, "backend_error"),
    }
    puppet = await harness.start_turn("go")
    puppet.say(events[kind])
    await harness.wait_until(lambda: harness.status("s") in ("waiting", "failed"))
    everything = (
        harness.session.model_dump_json() + (await harness.messages())[-1].model_dump_json()
    )
    assert "␛[31mlook<U+D800>␀<U+202E>" in everything
    assert "\\u001b" not in everything and "\\u0000" not in everything
    match kind:
        case "plan":
            await harness.decisions.approve("s", "build", None)
            assert await puppet.wait_for_call("approve") == ("approve", "r", "build", None)
        case "question":
            shown = "␛[31mlook<U+D800>␀<U+202E>"
            await harness.decisions.answer("s", {shown: shown})
            assert await puppet.wait_for_call("answer") == ("answer", "r", {bad: bad})
        case "permission":
            await harness.decisions.permit("s", "r", "allow")
            assert await puppet.wait_for_call("permit") == ("permit", "r", "allow", "")


async def test_stop_keeps_received_text_and_the_next_message_works(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.chat.conversation.STOP_TIMEOUT", PATIENCE)
    puppet = await harness.start_turn("first")
    puppet.say(agent_events.TextDelta("a", "half a"))
    await harness.wait_until(lambda: bool(harness.store.state.streaming))
    await puppet.wait_for_call("send")
    session = await harness.chats.stop("s")
    assert session.status == "idle"
    answer = (await harness.messages())[-1]
    assert (answer.text, answer.stop_reason) == ("half a", "stopped")
    await harness.start_turn("second")
    puppet.say(agent_events.TextDelta("b", "fine"), DONE)
    assert (await harness.wait_for_turn()).text == "fine"


async def test_events_after_the_turn_start_no_message(harness: Harness) -> None:
    puppet = await harness.start_turn("go")
    puppet.say(agent_events.TextDelta("a", "Done."), DONE)
    await harness.wait_for_turn()
    before = await harness.messages()
    late = agent_events.QuestionAsked("late", (Question(question="Now?"),))
    puppet.say(agent_events.ToolResult("t", "late"), late, DONE, agent_events.Notice("still here"))
    await harness.wait_for_notice("still here")
    assert await harness.messages() == before
    assert (harness.session.status, harness.session.waiting_for) == ("idle", None)


async def test_stopping_an_idle_session_is_no_error(harness: Harness) -> None:
    assert (await harness.chats.stop("s")).status == "idle"


async def test_a_failed_turn_reports_the_kind_of_failure(harness: Harness) -> None:
    puppet = await harness.start_turn("go")
    puppet.say(agent_events.TurnFailed("Too many requests.", "rate_limit_error", retry_after=30))
    answer = await harness.wait_for_turn()
    assert answer.error is not None
    assert answer.error.error_type == "rate_limit_error"
    assert harness.session.last_run is not None
    assert harness.session.last_run.error == "Too many requests. The limit ends in 30 seconds."
    assert harness.session.last_run.retry_after == 30


async def test_a_turn_started_by_the_agent_is_shown(harness: Harness) -> None:
    puppet = await harness.start_turn("go")
    puppet.say(DONE)
    await harness.wait_for_turn()
    puppet.say(agent_events.TurnStarted(), agent_events.TextDelta("z", "the tests are through"))
    await harness.wait_until(lambda: harness.session.status == "running")
    puppet.say(DONE)
    assert (await harness.wait_for_turn()).text == "the tests are through"


async def test_a_changed_mode_reaches_the_running_agent(harness: Harness) -> None:
    puppet = await harness.start_turn("go")
    await harness.store.accept(SessionUpdated(session_id="s", updates={"execution_mode": "yolo"}))
    await harness.conversations.configure("s")
    assert await puppet.wait_for_call("configure") == ("configure", "yolo", "m", "ultrathink")


async def test_the_mode_of_a_turn_is_shown_while_it_differs_from_the_sessions(
    harness: Harness,
) -> None:
    puppet = await harness.start_turn("go")
    await harness.store.accept(SessionUpdated(session_id="s", updates={"execution_mode": "yolo"}))
    puppet.say(agent_events.TurnModeReported("plan"))
    await harness.wait_until(lambda: harness.session.turn_mode == "plan")
    puppet.say(agent_events.PermissionRequested("p1", "Bash", {"command": "ls"}))
    await harness.wait_until(lambda: harness.session.request is not None)
    assert harness.session.request and harness.session.request.execution_mode == "plan"
    await harness.store.accept(SessionUpdated(session_id="s", updates={"execution_mode": "plan"}))
    puppet.say(agent_events.TurnModeReported("plan"))
    await harness.wait_until(lambda: harness.session.turn_mode is None)
    puppet.say(agent_events.TurnModeReported("build"))
    await harness.wait_until(lambda: harness.session.turn_mode == "build")
    puppet.say(DONE)
    await harness.wait_until(lambda: harness.session.status == "idle")
    assert harness.session.turn_mode is None


async def test_a_worktree_that_is_being_created_accepts_no_message(harness: Harness) -> None:
    worktree = harness.store.state.worktrees["w"].model_copy(update={"status": "creating"})
    await harness.store.accept(WorktreeUpdated(worktree=worktree))
    with pytest.raises(SpinneyError, match="'n' is still being created") as refused:
        await harness.chats.send("s", "too early")
    assert refused.value.error_type == "conflict"
    assert await harness.messages() == []


@pytest.mark.parametrize("text", ["", "   \n"])
async def test_an_empty_message_is_refused(harness: Harness, text: str) -> None:
    with pytest.raises(SpinneyError, match="empty"):
        await harness.chats.send("s", text)


@pytest.mark.parametrize("name", ["/dev/zero", "/proc/self/environ", "/tmp", "relative.txt"])
async def test_only_readable_regular_files_can_be_attached(harness: Harness, name: str) -> None:
    with pytest.raises(SpinneyError, match="Not a readable file"):
        await harness.chats.send("s", "look", files=[name])
    assert harness.session.status == "idle"


@pytest.mark.parametrize("way", ["//proc/self/environ", "link", "folder/environ", "sys"])
async def test_files_of_proc_and_sys_cannot_be_attached_by_any_path(
    harness: Harness, tmp_path: Path, way: str
) -> None:
    (tmp_path / "link").symlink_to("/proc/self/environ")
    (tmp_path / "folder").symlink_to("/proc/self")
    (tmp_path / "sys").symlink_to("/sys/kernel/mm/transparent_hugepage/enabled")
    with pytest.raises(SpinneyError, match="Not a readable file"):
        await harness.chats.send("s", "look", files=[str(tmp_path / way)])
    (tmp_path / "own").write_text("fine")
    (tmp_path / "way").symlink_to(tmp_path / "own")
    await harness.chats.send("s", "look", files=[str(tmp_path / "way")])


async def test_after_a_kill_no_accepted_message_is_lost_and_the_session_resumes(
    harness: Harness, reopen_after_kill: Callable[[], Awaitable[Harness]]
) -> None:
    puppet = await harness.start_turn("first")
    puppet.say(
        agent_events.ConversationIdentified("token"), agent_events.TextDelta("a", "half an answer")
    )
    await harness.wait_until(lambda: bool(harness.store.state.streaming))
    await harness.chats.send("s", "waits")
    await harness.store.flush()

    reopened = await reopen_after_kill()
    assert reopened.session.status == "idle"
    assert reopened.session.last_run is not None
    assert reopened.session.last_run.status == "interrupted"
    first, answer = await reopened.messages()
    assert (first.text, answer.text) == ("first", "half an answer")
    assert answer.error is not None
    assert [m.text for m in reopened.store.state.queued["s"]] == ["waits"]
    resumed = await reopened.start_turn("go on")
    assert resumed.launch.resume_token == "token"
    await resumed.wait_for_call("send")
    resumed.say(DONE)
    assert await resumed.wait_for_call("send") == ("send", "waits")


async def test_a_conversation_note_is_shown_once(harness: Harness) -> None:
    puppet = await harness.start_turn("go")
    puppet.say(
        agent_events.ConversationNote("No hooks\nrun."),
        agent_events.TextDelta("a", "one"),
        agent_events.ConversationNote("No hooks\nrun."),
    )
    puppet.say(DONE)
    blocks = (await harness.wait_for_turn()).content
    assert [block.text for block in blocks if isinstance(block, TextBlock)] == [
        "> **Spinney:** No hooks run.",
        "one",
    ]
    puppet.say(agent_events.ConversationNote("A server is gone."))  # it waits for the next answer
    await harness.start_turn("on")
    puppet.say(agent_events.TextDelta("b", "two"), DONE)
    assert "A server is gone" in (await harness.wait_for_turn()).text


async def test_a_compaction_note_is_shown_each_time(harness: Harness) -> None:
    for _ in range(2):
        puppet = await harness.start_turn("/compact")
        puppet.say(agent_events.COMPACTION_NOTE, DONE)
        assert "shortened to a summary" in (await harness.wait_for_turn()).text
