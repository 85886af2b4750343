"""A session's life, told through a puppet: turns, the queue, stop, faults."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from model.backends import base
from model.base.errors import SpinneyError
from model.domain.events import SessionUpdated, WorktreeUpdated
from model.domain.resources import (
    PlanBlock,
    Question,
    QuestionOption,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    Usage,
)
from tests.model.chat.stage import DONE, Stage
from tests.patience import PATIENCE


async def test_a_message_runs_and_its_answer_streams_into_the_store(stage: Stage) -> None:
    sent = await stage.chats.send("s", "Fix the parser\nplease")
    assert sent.status == "processing"
    assert stage.session.status == "running"
    assert stage.session.name == "Fix the parser"
    puppet = await stage.backend.newest()
    assert await puppet.hears("send") == ("send", "Fix the parser\nplease")
    puppet.say(
        base.TextDelta("t", "let me see", "thinking"),
        base.TextDelta("a", "It is "),
        base.TextDelta("a", "easy."),
        base.ToolUse("u", "read", {"file_path": "a.py"}),
        base.ToolResult("u", "x = 1"),
        base.TextDelta("b", "Done."),
        DONE,
    )
    answer = await stage.settled()
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
    assert stage.session.usage == Usage(input_tokens=2, output_tokens=3)
    assert stage.session.unread
    assert stage.session.last_run is not None
    assert stage.session.last_run.status == "completed"
    assert stage.session.message_count == len(await stage.messages()) == 2


async def test_blocks_out_of_order_keep_their_places(stage: Stage) -> None:
    await stage.chats.send("s", "go")
    puppet = await stage.backend.newest()
    puppet.say(
        base.TextDelta("a", "one"),
        base.ToolUse("x", "run", {}),
        base.ToolUse("y", "run", {}),
        base.ToolResult("y", "second"),
        base.TextDelta("a", "!"),
        base.ToolResult("x", "first"),
        base.ToolUse("x", "run", {"command": "ls"}),
        DONE,
    )
    answer = await stage.settled()
    assert answer.content == [
        TextBlock(text="one!"),
        ToolUseBlock(id="x", name="run", input={"command": "ls"}),
        ToolUseBlock(id="y", name="run"),
        ToolResultBlock(tool_use_id="y", content="second"),
        ToolResultBlock(tool_use_id="x", content="first"),
    ]


async def test_the_final_text_replaces_what_was_streamed_and_dropped_text_is_gone(
    stage: Stage,
) -> None:
    await stage.chats.send("s", "go")
    puppet = await stage.backend.newest()
    puppet.say(
        base.TextDelta("a", "provisional"),
        base.BlockDropped("a"),
        base.TextFinal("b", "never streamed"),
        base.TextDelta("c", "almost rigth"),
        base.TextFinal("c", "almost right"),
        DONE,
    )
    assert (await stage.settled()).text.strip() == "never streamed\n\nalmost right"


async def test_hostile_text_of_an_agent_is_harmless_in_the_store(stage: Stage) -> None:
    await stage.chats.send("s", "go \x1b[31m")
    puppet = await stage.backend.newest()
    puppet.say(
        base.TextDelta("a", "\x1b]52;c;aGk=\x07hi \ud800"),
        base.ToolUse("u", "run", {"command": "\x1b[2Jls"}),
        base.ToolResult("u", "\x9b31m"),
        DONE,
    )
    answer = await stage.settled()
    everything = answer.model_dump_json()
    assert "␛]52;c;aGk=␇hi <U+D800>" in everything
    assert "␛[2Jls" in everything
    assert "<U+009B>31m" in everything
    assert "\\u001b" not in everything
    assert "\x9b" not in everything


@pytest.mark.parametrize("kind", ["plan", "question", "permission", "failure"])
async def test_hostile_text_in_what_is_asked_is_harmless_and_no_answer_is_lost(
    stage: Stage, kind: str
) -> None:
    bad = "\x1b[31mlook\ud800\x00\u202e"
    asked = Question(question=bad, header=bad, options=[QuestionOption(label=bad)])
    told: dict[str, base.AgentEvent] = {
        "plan": base.PlanProposed("r", bad),
        "question": base.QuestionAsked("r", (asked,)),
        "permission": base.PermissionAsked("r", bad, {bad: bad}, bad),
        "failure": base.TurnFailed(bad, "backend_error"),
    }
    await stage.chats.send("s", "go")
    puppet = await stage.backend.newest()
    puppet.say(told[kind])
    await stage.until(lambda: stage.status("s") in ("waiting", "failed"))
    everything = stage.session.model_dump_json() + (await stage.messages())[-1].model_dump_json()
    assert "␛[31mlook<U+D800>␀<U+202E>" in everything
    assert "\\u001b" not in everything and "\\u0000" not in everything
    match kind:
        case "plan":
            await stage.chats.approve("s", "build", None)
            assert await puppet.hears("approve") == ("approve", "r", "build", None)
        case "question":
            shown = "␛[31mlook<U+D800>␀<U+202E>"
            await stage.chats.answer("s", {shown: shown})
            assert await puppet.hears("answer") == ("answer", "r", {bad: bad})
        case "permission":
            await stage.chats.permit("s", "r", "allow")
            assert await puppet.hears("permit") == ("permit", "r", "allow", "")


async def test_a_message_during_a_run_waits_and_then_runs(stage: Stage) -> None:
    await stage.chats.send("s", "first")
    puppet = await stage.backend.newest()
    await puppet.hears("send")
    second = await stage.chats.send("s", "second")
    assert second.status == "sent"
    assert [(m.text, m.status) for m in stage.store.state.queued["s"]] == [("second", "sent")]
    puppet.say(base.TextDelta("a", "one"), DONE)
    assert await puppet.hears("send") == ("send", "second")
    assert stage.store.state.queued == {}
    puppet.say(base.TextDelta("b", "two"), DONE)
    await stage.settled()
    messages = await stage.messages()
    assert [m.text for m in messages] == ["first", "one", "second", "two"]
    assert {m.status for m in messages} == {"completed"}


async def test_a_waiting_message_can_be_taken_back(stage: Stage) -> None:
    await stage.chats.send("s", "first")
    waiting = await stage.chats.send("s", "second")
    await stage.chats.take_back("s", waiting.message_id)
    assert stage.store.state.queued == {}
    with pytest.raises(SpinneyError, match="no longer queued"):
        await stage.chats.take_back("s", waiting.message_id)


async def test_a_message_runs_though_the_turn_ends_while_it_is_being_accepted(
    stage: Stage,
) -> None:
    await stage.chats.send("s", "first")
    puppet = await stage.backend.newest()
    await puppet.hears("send")
    async with stage.slow_disk(stage.chats.send("s", "second")) as sending:
        puppet.say(base.TextDelta("a", "one"), DONE)
        await stage.until(lambda: stage.session.status == "idle")
    assert (await sending).status == "sent"
    assert await puppet.hears("send") == ("send", "second")
    assert stage.store.state.queued == {}


async def test_a_message_that_is_being_taken_back_is_not_run_when_the_turn_ends(
    stage: Stage,
) -> None:
    await stage.chats.send("s", "first")
    puppet = await stage.backend.newest()
    await puppet.hears("send")
    regretted = await stage.chats.send("s", "second")
    await stage.chats.send("s", "third")
    async with stage.slow_disk(stage.chats.take_back("s", regretted.message_id)):
        puppet.say(base.TextDelta("a", "one"), DONE)
        await stage.until(lambda: stage.session.last_run is not None)
    assert await puppet.hears("send") == ("send", "third")
    assert stage.store.state.queued == {}


async def test_stop_keeps_what_had_arrived_and_the_next_message_works(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.chat.conversation.STOP_TIMEOUT", PATIENCE)
    await stage.chats.send("s", "first")
    puppet = await stage.backend.newest()
    puppet.say(base.TextDelta("a", "half a"))
    await stage.until(lambda: bool(stage.store.state.streaming))
    await puppet.hears("send")
    session = await stage.chats.stop("s")
    assert session.status == "idle"
    answer = (await stage.messages())[-1]
    assert (answer.text, answer.stop_reason) == ("half a", "stopped")
    await stage.chats.send("s", "second")
    await puppet.hears("send")
    puppet.say(base.TextDelta("b", "fine"), DONE)
    assert (await stage.settled()).text == "fine"


async def test_an_agent_that_ignores_stop_is_ended(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.chat.conversation.STOP_TIMEOUT", 0.05)
    await stage.chats.send("s", "first")
    puppet = await stage.backend.newest()
    await puppet.hears("send")
    puppet.deaf = True
    assert (await stage.chats.stop("s")).status == "idle"
    await stage.chats.send("s", "again")
    assert await (await stage.backend.newest(2)).hears("send") == ("send", "again")
    assert puppet.closed, "two programs on one conversation would write over each other"


async def test_an_agent_that_takes_no_message_can_be_stopped(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.chat.conversation.STOP_TIMEOUT", 0.05)
    await stage.chats.send("s", "first")
    puppet = await stage.backend.newest()
    puppet.say(DONE)
    await stage.settled()
    puppet.stuck = puppet.deaf = True
    await stage.chats.send("s", "second")
    await puppet.hears("send")
    assert (await stage.chats.stop("s")).status == "idle"
    assert (await stage.messages())[-1].status == "completed"


async def test_what_is_told_after_its_turn_opens_no_answer(stage: Stage) -> None:
    await stage.chats.send("s", "go")
    puppet = await stage.backend.newest()
    puppet.say(base.TextDelta("a", "Done."), DONE)
    await stage.settled()
    before = await stage.messages()
    late = base.QuestionAsked("late", (Question(question="Now?"),))
    puppet.say(base.ToolResult("t", "late"), late, DONE, base.Notice("still here"))
    await stage.until_told("still here")
    assert await stage.messages() == before
    assert (stage.session.status, stage.session.waiting_for) == ("idle", None)


async def test_stopping_what_does_not_run_is_no_error(stage: Stage) -> None:
    assert (await stage.chats.stop("s")).status == "idle"


async def test_an_agent_that_dies_fails_the_turn_and_the_next_message_resumes(
    stage: Stage,
) -> None:
    await stage.chats.send("s", "go")
    puppet = await stage.backend.newest()
    puppet.say(base.ConversationIdentified("token-1"), base.TextDelta("a", "half"))
    await stage.until(lambda: bool(stage.store.state.streaming))
    puppet.die()
    answer = await stage.settled()
    assert stage.session.status == "failed"
    assert answer.text == "half"
    assert answer.error is not None
    assert answer.error.error_type == "backend_error"
    await stage.chats.send("s", "again")
    second = await stage.backend.newest(2)
    assert second.launch.resume_token == "token-1"


async def test_an_agent_that_is_not_installed_says_so_in_the_conversation(stage: Stage) -> None:
    stage.backend.missing = True
    await stage.chats.send("s", "go")
    answer = await stage.settled()
    assert answer.error is not None
    assert (answer.error.error, answer.error.error_type) == (
        "The agent is not installed.",
        "backend_unavailable",
    )
    stage.backend.missing = False
    await stage.chats.send("s", "now")
    await (await stage.backend.newest()).hears("send")


async def test_a_failed_turn_tells_the_kind_of_failure(stage: Stage) -> None:
    await stage.chats.send("s", "go")
    puppet = await stage.backend.newest()
    puppet.say(base.TurnFailed("Too many requests.", "rate_limit_error", retry_after=30))
    answer = await stage.settled()
    assert answer.error is not None
    assert answer.error.error_type == "rate_limit_error"
    assert stage.session.last_run is not None
    assert stage.session.last_run.error == "Too many requests. The limit ends in 30 seconds."
    assert stage.session.last_run.retry_after == 30


async def test_a_turn_that_nobody_asked_for_is_shown(stage: Stage) -> None:
    await stage.chats.send("s", "go")
    puppet = await stage.backend.newest()
    puppet.say(DONE)
    await stage.settled()
    puppet.say(base.TurnStarted(), base.TextDelta("z", "the tests are through"))
    await stage.until(lambda: stage.session.status == "running")
    puppet.say(DONE)
    assert (await stage.settled()).text == "the tests are through"


async def test_a_changed_mode_reaches_the_running_agent(stage: Stage) -> None:
    await stage.chats.send("s", "go")
    puppet = await stage.backend.newest()
    await puppet.hears("send")
    await stage.store.accept(SessionUpdated(session_id="s", updates={"execution_mode": "yolo"}))
    await stage.chats.configure("s")
    assert await puppet.hears("configure") == ("configure", "yolo", "m", "ultrathink")


async def test_a_mode_that_holds_from_the_next_turn_on_is_told_until_then(stage: Stage) -> None:
    await stage.chats.send("s", "go")
    puppet = await stage.backend.newest()
    await puppet.hears("send")
    await stage.store.accept(SessionUpdated(session_id="s", updates={"execution_mode": "yolo"}))
    puppet.say(base.TurnKeepsMode("plan"))
    await stage.until(lambda: stage.session.turn_mode == "plan")
    puppet.say(base.PermissionAsked("p1", "Bash", {"command": "ls"}))
    await stage.until(lambda: stage.session.request is not None)
    assert stage.session.request and stage.session.request.execution_mode == "plan"
    await stage.store.accept(SessionUpdated(session_id="s", updates={"execution_mode": "plan"}))
    puppet.say(base.TurnKeepsMode("plan"))
    await stage.until(lambda: stage.session.turn_mode is None)
    puppet.say(base.TurnKeepsMode("build"))
    await stage.until(lambda: stage.session.turn_mode == "build")
    puppet.say(DONE)
    await stage.until(lambda: stage.session.status == "idle")
    assert stage.session.turn_mode is None


async def test_a_worktree_that_is_being_made_takes_no_message_yet(stage: Stage) -> None:
    worktree = stage.store.state.worktrees["w"].model_copy(update={"status": "creating"})
    await stage.store.accept(WorktreeUpdated(worktree=worktree))
    with pytest.raises(SpinneyError, match="'n' is still being created") as refused:
        await stage.chats.send("s", "too early")
    assert refused.value.error_type == "conflict"
    assert await stage.messages() == []


@pytest.mark.parametrize("text", ["", "   \n"])
async def test_an_empty_message_is_refused(stage: Stage, text: str) -> None:
    with pytest.raises(SpinneyError, match="empty"):
        await stage.chats.send("s", text)


@pytest.mark.parametrize("name", ["/dev/zero", "/proc/self/environ", "/tmp", "relative.txt"])
async def test_only_readable_regular_files_go_with_a_message(stage: Stage, name: str) -> None:
    with pytest.raises(SpinneyError, match="Not a readable file"):
        await stage.chats.send("s", "look", files=[name])
    assert stage.session.status == "idle"


@pytest.mark.parametrize("way", ["//proc/self/environ", "link", "folder/environ", "sys"])
async def test_what_the_system_tells_of_processes_goes_with_no_message_by_whatever_way(
    stage: Stage, tmp_path: Path, way: str
) -> None:
    (tmp_path / "link").symlink_to("/proc/self/environ")
    (tmp_path / "folder").symlink_to("/proc/self")
    (tmp_path / "sys").symlink_to("/sys/kernel/mm/transparent_hugepage/enabled")
    with pytest.raises(SpinneyError, match="Not a readable file"):
        await stage.chats.send("s", "look", files=[str(tmp_path / way)])
    (tmp_path / "own").write_text("fine")
    (tmp_path / "way").symlink_to(tmp_path / "own")
    await stage.chats.send("s", "look", files=[str(tmp_path / "way")])


async def test_after_a_kill_nothing_accepted_is_lost_and_the_session_goes_on(
    stage: Stage, after_kill: Callable[[], Awaitable[Stage]]
) -> None:
    await stage.chats.send("s", "first")
    puppet = await stage.backend.newest()
    puppet.say(base.ConversationIdentified("token"), base.TextDelta("a", "half an answer"))
    await stage.until(lambda: bool(stage.store.state.streaming))
    await stage.chats.send("s", "waits")
    await stage.store.flush()

    after = await after_kill()
    assert after.session.status == "idle"
    assert after.session.last_run is not None
    assert after.session.last_run.status == "interrupted"
    first, answer = await after.messages()
    assert (first.text, answer.text) == ("first", "half an answer")
    assert answer.error is not None
    assert [m.text for m in after.store.state.queued["s"]] == ["waits"]
    await after.chats.send("s", "go on")
    resumed = await after.backend.newest()
    assert resumed.launch.resume_token == "token"
    await resumed.hears("send")
    resumed.say(DONE)
    assert await resumed.hears("send") == ("send", "waits")


async def test_a_plan_outlives_the_agent_that_proposed_it(
    stage: Stage, after_kill: Callable[[], Awaitable[Stage]]
) -> None:
    await stage.chats.send("s", "plan it")
    puppet = await stage.backend.newest()
    puppet.say(base.PlanProposed("r", "1. read\n2. write"))
    await stage.until(lambda: stage.session.waiting_for == "plan")
    await stage.store.flush()

    after = await after_kill()
    assert after.session.waiting_for == "plan"
    session = await after.chats.approve("s", "build", None)
    assert (session.status, session.execution_mode) == ("running", "build")
    resumed = await after.backend.newest()
    assert "1. read\n2. write" in str((await resumed.hears("send"))[1])
    plans = [b for m in await after.messages() for b in m.content if isinstance(b, PlanBlock)]
    assert [plan.approved for plan in plans] == ["build"]


async def test_a_program_that_starts_slowly_is_told(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.chat.agent_process.START_NOTICE_DELAY", 0.0)
    started = asyncio.Event()
    open_now = stage.backend.open

    async def open_late(launch: base.Launch) -> base.Agent:
        await started.wait()
        return await open_now(launch)

    monkeypatch.setattr(stage.backend, "open", open_late)
    await stage.chats.send("s", "hello")
    await stage.until_told("still starting")
    started.set()
    assert await (await stage.backend.newest()).hears("send") == ("send", "hello")


async def test_stopping_a_program_that_still_starts_leaves_none_behind(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening, may_open = asyncio.Event(), asyncio.Event()
    open_at_once = stage.backend.open

    async def open_slowly(launch: base.Launch) -> base.Agent:
        opening.set()
        await may_open.wait()
        return await open_at_once(launch)

    monkeypatch.setattr(stage.backend, "open", open_slowly)
    await stage.chats.send("s", "go")
    await opening.wait()
    assert (await stage.chats.stop("s")).status == "idle"
    may_open.set()
    await (await stage.backend.newest()).hears("close")


async def test_a_program_that_never_starts_holds_neither_the_stop_nor_the_end(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.chat.agent_process.CLOSE_TIMEOUT", 0.05)
    opening, cancelled = asyncio.Event(), asyncio.Event()

    async def never(launch: base.Launch) -> base.Agent:
        opening.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        raise AssertionError

    monkeypatch.setattr(stage.backend, "open", never)
    await stage.chats.send("s", "go")
    await opening.wait()
    assert (await stage.chats.stop("s")).status == "idle"
    await stage.chats.end("s")
    await cancelled.wait()


async def test_an_idle_program_is_ended_and_resumed_by_the_next_message(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.chat.agent_process.IDLE_TIMEOUT", 0.01)
    await stage.chats.send("s", "go")
    puppet = await stage.backend.newest()
    puppet.say(base.ConversationIdentified("token"), DONE)
    await puppet.hears("close")
    await stage.chats.send("s", "again")
    assert (await stage.backend.newest(2)).launch.resume_token == "token"


async def test_an_agent_whose_directory_was_made_anew_is_started_anew(stage: Stage) -> None:
    await stage.chats.send("s", "one")
    first = await stage.backend.newest()
    first.say(base.ConversationIdentified("the conversation"), DONE)
    await stage.settled()
    await stage.chats.send("s", "two")
    await first.hears("configure")
    first.say(DONE)
    await stage.settled()
    stage.directory = (1, 2)
    await stage.chats.send("s", "three")
    second = await stage.backend.newest(2)
    assert first.closed
    assert second.launch.resume_token == "the conversation"
    await second.hears("send")
    second.say(DONE)
    await stage.settled()


async def test_what_a_person_shall_not_miss_stands_in_the_conversation_once(stage: Stage) -> None:
    await stage.chats.send("s", "go")
    puppet = await stage.backend.newest()
    puppet.say(base.Note("No hooks\nrun."), base.TextDelta("a", "one"), base.Note("No hooks\nrun."))
    puppet.say(DONE)
    blocks = (await stage.settled()).content
    assert [block.text for block in blocks if isinstance(block, TextBlock)] == [
        "> **Spinney:** No hooks run.",
        "one",
    ]
    puppet.say(base.Note("A server is gone."))  # it waits for the next answer
    await puppet.hears("send")
    await stage.chats.send("s", "on")
    await puppet.hears("send")
    puppet.say(base.TextDelta("b", "two"), DONE)
    assert "A server is gone" in (await stage.settled()).text


async def test_what_happens_again_is_told_again(stage: Stage) -> None:
    puppet = None
    for _ in range(2):
        await stage.chats.send("s", "/compact")
        puppet = puppet or await stage.backend.newest()
        puppet.say(base.SHORTENED, DONE)
        assert "shortened to a summary" in (await stage.settled()).text
        await puppet.hears("send")
