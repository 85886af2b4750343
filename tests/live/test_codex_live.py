"""The real Codex behind its adapter, answered by a scripted provider on loopback."""

import asyncio
import os
import signal
import subprocess
from pathlib import Path

import pytest

from model.backends import base, codex_server
from model.backends.codex import CodexBackend
from model.errors import SpinneyError
from model.resources import Usage
from tests.live.responses_stub import ResponsesStub, configuration
from tests.model.backends.agents import (
    Conversation,
    Open,
    at_work_in,
    becomes,
    children,
    lives,
    only,
    text,
)

LONG_ENOUGH = "sleep 0.5"
"""Of a command that is over at once the program sometimes tells nothing (0.169)."""

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


def token(conversation: Conversation) -> str:
    return only(conversation.told, base.ConversationIdentified).resume_token


def the_programs() -> set[int]:
    """The pids of the shared programs that we have started and that live."""
    return {pid for pid in children() if lives(pid) and b"app-server" in command_line(pid)}


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def contents(worktree: Path) -> list[str]:
    """The names in the worktree, without git's own."""
    return sorted(path.name for path in worktree.iterdir() if path.name != ".git")


async def test_text_and_thinking_stream_and_the_usage_is_told(open_codex: Open) -> None:
    told = await (await open_codex()).turn("think: about looms and threads")
    assert text(told, "thinking") == "about looms and threads"
    assert text(told) == "I thought about it."
    finished = only(told, base.TurnFinished)
    assert finished.stop_reason == "end_turn"
    assert finished.usage == Usage(
        input_tokens=100,
        output_tokens=5,
        cache_creation_input_tokens=20,
        cache_read_input_tokens=3,
    )
    assert finished.context_tokens == 128
    assert (finished.context_window or 0) >= 100_000


async def test_each_turn_is_told_its_own_usage(open_codex: Open) -> None:
    conversation = await open_codex()
    await conversation.turn("say: one")
    second = only(await conversation.turn("write a.txt: two"), base.TurnFinished)
    assert second.usage.input_tokens == 200  # two answers of the model
    assert second.usage.output_tokens == 5


async def test_a_write_happens_on_disk_and_is_told_as_an_edit(
    open_codex: Open, worktree: Path
) -> None:
    told = await (await open_codex()).turn("write a.txt: hi")
    assert (worktree / "a.txt").read_text() == "hi\n"
    edit = [event for event in told if isinstance(event, base.ToolUse)][-1]
    assert edit.name == "edit"
    assert edit.input == {"file_path": "a.txt", "old_content": "", "new_content": "hi\n"}
    result = only(told, base.ToolResult)
    assert (result.tool_use_id, result.is_error) == (edit.id, False)
    assert text(told).endswith("done")


async def test_an_edit_tells_what_it_replaces(open_codex: Open, worktree: Path) -> None:
    (worktree / "a.txt").write_text("one\ntwo\nthree\n")
    told = await (await open_codex()).turn("edit a.txt: two => 2")
    assert (worktree / "a.txt").read_text() == "one\n2\nthree\n"
    edits = [e.input for e in told if isinstance(e, base.ToolUse)]
    assert edits[-1]["file_path"] == "a.txt"
    assert "two\n" in edits[-1]["old_content"]
    assert "2\n" in edits[-1]["new_content"]


async def test_build_mode_asks_before_a_command_leaves_the_sandbox_and_a_denial_holds(
    open_codex: Open, worktree: Path, responses: ResponsesStub
) -> None:
    conversation = await open_codex()
    await conversation.agent.send(base.Prompt("bash: touch a"))
    asked = await conversation.until(base.PermissionAsked)
    assert (asked.tool_name, asked.input) == ("bash", {"command": "touch a"})
    assert asked.description == "Run a command"
    await conversation.agent.permit(asked.request_id, "deny", "Not before lunch")
    told = await conversation.rest()
    assert only(told, base.ToolResult).is_error
    assert contents(worktree) == []
    assert "Not before lunch" in str(responses.requests[-1]["input"])


async def test_what_is_allowed_for_the_session_runs_and_is_not_asked_again(
    open_codex: Open, worktree: Path
) -> None:
    conversation = await open_codex()
    command = "bash: python3 -c 'print(6 * 7)'"
    await conversation.agent.send(base.Prompt(command))
    asked = await conversation.until(base.PermissionAsked)
    await conversation.agent.permit(asked.request_id, "allow_session")
    assert only(await conversation.rest(), base.ToolResult).content == "42"
    assert only(await conversation.turn(command), base.ToolResult).content == "42"
    assert contents(worktree) == []


async def test_a_patch_outside_of_the_worktree_is_asked_for_as_an_edit(
    open_codex: Open, place: Path
) -> None:
    outside = place / "notes.txt"
    conversation = await open_codex()
    await conversation.agent.send(base.Prompt(f"write {outside}: hi"))
    asked = await conversation.until(base.PermissionAsked)
    assert asked.tool_name == "edit"
    assert asked.input == {"file_path": str(outside), "old_content": "", "new_content": "hi\n"}
    await conversation.agent.permit(asked.request_id, "allow")
    await conversation.rest()
    assert outside.read_text() == "hi\n"


async def test_the_sandbox_of_build_mode_writes_in_the_worktree_alone(
    open_codex: Open, worktree: Path, place: Path
) -> None:
    outside = place / "notes.txt"
    conversation = await open_codex()
    told = await conversation.turn(f"sandboxed: touch inside; touch {outside}")
    assert not any(isinstance(event, base.PermissionAsked) for event in told)
    assert contents(worktree) == ["inside"]
    assert not outside.exists()


async def test_a_commit_works_in_a_linked_worktree_and_its_hooks_stay_out_of_reach(
    open_codex: Open, worktree: Path, place: Path
) -> None:
    conversation = await open_codex()
    told = await conversation.turn("sandboxed: touch a && git add a && git commit -q -m 'Add a'")
    log = ["git", "-C", str(worktree), "log", "--format=%s", "-1"]
    assert subprocess.check_output(log, text=True, timeout=30) == "Add a\n", told
    hook = place / "repository" / ".git" / "hooks" / "pre-push"
    await conversation.turn(f"sandboxed: echo evil > {hook}")
    assert not hook.exists()


async def test_yolo_mode_runs_without_asking(open_codex: Open, place: Path) -> None:
    outside = place / "notes.txt"
    told = await (await open_codex(mode="yolo")).turn(f"bash: touch {outside}")
    assert not any(isinstance(event, base.PermissionAsked) for event in told)
    assert outside.exists()


async def test_plan_mode_changes_nothing(open_codex: Open, worktree: Path) -> None:
    conversation = await open_codex(mode="plan")
    await conversation.turn("write a.txt: hi")
    await conversation.turn("bash: touch b.txt")
    assert contents(worktree) == []


async def test_a_switched_mode_holds_from_the_next_turn_on(
    open_codex: Open, worktree: Path
) -> None:
    conversation = await open_codex(mode="plan")
    await conversation.turn("write a.txt: hi")
    await conversation.agent.configure(base.Settings("yolo", "gpt-5.5"))
    await conversation.turn("bash: touch b.txt")
    await conversation.agent.configure(base.Settings("plan", "gpt-5.5"))
    await conversation.turn("bash: touch c.txt")
    assert contents(worktree) == ["b.txt"]


async def test_an_approved_plan_is_carried_out_in_the_same_turn(
    open_codex: Open, worktree: Path, responses: ResponsesStub
) -> None:
    conversation = await open_codex(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    plan = await conversation.until(base.PlanProposed)
    assert plan.text == "weave a scarf"
    assert text(conversation.told).strip() == "Here is a plan."
    assert contents(worktree) == []
    approved = base.Settings("build", "gpt-5.4", "ultrathink", "high")
    await conversation.agent.approve(plan.request_id, approved, None)
    told = await conversation.rest()
    assert (worktree / "planned.txt").read_text() == "weave a scarf\n"
    finished = only(told, base.TurnFinished)
    assert finished.stop_reason == "end_turn"
    assert finished.usage.input_tokens == 300  # of the plan and of what followed
    request = responses.requests[-1]
    assert (request["model"], request["reasoning"]["effort"]) == ("gpt-5.4", "high")
    await conversation.turn("write later.txt: x")
    assert (worktree / "later.txt").exists()  # the mode stays


async def test_a_plan_is_carried_out_as_edited_into_yolo(open_codex: Open, worktree: Path) -> None:
    conversation = await open_codex(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    plan = await conversation.until(base.PlanProposed)
    settings = base.Settings("yolo", "gpt-5.5")
    await conversation.agent.approve(plan.request_id, settings, "weave two scarves")
    await conversation.rest()
    assert (worktree / "planned.txt").read_text() == "weave two scarves\n"
    told = await conversation.turn("bash: touch b.txt")
    assert not any(isinstance(event, base.PermissionAsked) for event in told)
    assert (worktree / "b.txt").exists()


async def test_a_discussed_plan_is_revised(open_codex: Open, worktree: Path) -> None:
    conversation = await open_codex(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    first = await conversation.until(base.PlanProposed)
    await conversation.agent.configure(base.Settings("build", "gpt-5.5"))
    await conversation.agent.discuss(first.request_id, "In blue, please")
    second = await conversation.until(base.PlanProposed)
    assert second.text == "weave a scarf, revised"
    assert second.request_id != first.request_id
    assert contents(worktree) == []


async def test_a_proposed_plan_can_be_stopped(open_codex: Open) -> None:
    conversation = await open_codex(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    plan = await conversation.until(base.PlanProposed)
    _, told = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(told, base.RequestWithdrawn).request_id == plan.request_id
    assert only(told, base.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("say: still here")) == "still here"


@pytest.mark.parametrize("mode", ["plan", "build", "yolo"])
async def test_a_question_is_answered(open_codex: Open, mode: str) -> None:
    conversation = await open_codex(mode=mode)
    await conversation.agent.send(base.Prompt("ask: Tea or coffee? | Tea | Coffee"))
    asked = await conversation.until(base.QuestionAsked)
    (question,) = asked.questions
    assert [option.label for option in question.options] == ["Tea", "Coffee"]
    await conversation.agent.answer(asked.request_id, {question.question: "Water"})
    assert "Water" in text(await conversation.rest())


async def test_a_question_is_dismissed_by_a_stop(open_codex: Open) -> None:
    conversation = await open_codex()
    await conversation.agent.send(base.Prompt("ask: Tea or coffee? | Tea | Coffee"))
    asked = await conversation.until(base.QuestionAsked)
    _, told = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(told, base.RequestWithdrawn).request_id == asked.request_id
    assert only(told, base.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("say: still here")) == "still here"


async def test_stop_in_mid_stream_keeps_the_program_usable(open_codex: Open) -> None:
    conversation = await open_codex()
    await conversation.agent.send(base.Prompt("slow"))
    await conversation.until(base.TextDelta)
    async with asyncio.timeout(10):  # the whole answer takes a minute
        _, told = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(told, base.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("say: still here")) == "still here"


async def test_stop_at_once_stops_too(open_codex: Open) -> None:
    conversation = await open_codex()
    await conversation.agent.send(base.Prompt("slow"))
    async with asyncio.timeout(10):  # the whole answer takes a minute
        _, told = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(told, base.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("say: still here")) == "still here"


@pytest.mark.parametrize("words", ["sandboxed:", "bash:"])
async def test_stop_ends_the_command_that_runs_with_its_children(
    open_codex: Open, worktree: Path, words: str
) -> None:
    conversation = await open_codex(mode="yolo" if words == "bash:" else "build")
    command = "env -i setsid sleep 60 & touch ready; wait"
    await conversation.agent.send(base.Prompt(f"{words} {command}"))
    await conversation.until(base.ToolUse)
    await becomes((worktree / "ready").exists)
    assert at_work_in(worktree)
    _, told = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(told, base.TurnFinished).stop_reason == "stopped"
    assert only(told, base.ToolResult).is_error
    await becomes(lambda: not at_work_in(worktree), 2.0)
    assert contents(worktree) == ["ready"]
    assert text(await conversation.turn("say: still here")) == "still here"


async def test_closing_in_mid_command_leaves_nothing(open_codex: Open, worktree: Path) -> None:
    conversation = await open_codex(mode="yolo")
    other = await open_codex()
    await conversation.agent.send(base.Prompt("bash: setsid sleep 60 & touch ready; wait"))
    await becomes((worktree / "ready").exists)
    async with asyncio.timeout(5):
        await conversation.agent.close()
    await becomes(lambda: not at_work_in(worktree), 2.0)
    assert text(await other.turn("say: still here")) == "still here"


async def test_a_new_program_knows_the_earlier_turns_and_counts_none_of_them(
    open_codex: Open, codex_backend: CodexBackend
) -> None:
    before = await open_codex()
    await before.turn("say: the colour is blue")
    await before.agent.close()
    await codex_backend.close()
    after = await open_codex(resume_token=token(before))
    told = await after.turn("remember?")
    assert "the colour is blue" in text(told)
    assert token(after) == token(before)
    assert only(told, base.TurnFinished).usage.input_tokens == 100


async def test_a_killed_program_fails_the_turns_and_the_next_one_goes_on(
    open_codex: Open, worktree: Path
) -> None:
    conversation, other = await open_codex(), await open_codex()
    await conversation.turn("say: the colour is blue")
    await conversation.agent.send(base.Prompt("slow"))
    await other.agent.send(base.Prompt("slow"))
    await asyncio.gather(conversation.until(base.TextDelta), other.until(base.TextDelta))
    (program,) = the_programs()
    os.kill(program, signal.SIGKILL)
    for each in (conversation, other):
        failed = only(await each.rest(), base.TurnFailed)
        assert failed.error_type == "backend_error"
        assert failed.error.startswith("Codex was killed (SIGKILL). Send a message")
        await each.end()
        await each.agent.close()
    again = await open_codex(resume_token=token(conversation))
    assert "the colour is blue" in text(await again.turn("remember?"))
    assert token(again) == token(conversation)


async def test_an_unknown_conversation_begins_afresh(open_codex: Open) -> None:
    unknown = "00000000-0000-4000-8000-000000000000"
    conversation = await open_codex(resume_token=unknown)
    told = await conversation.turn("say: hello")
    assert text(told) == "hello"
    assert "begins afresh" in only(told, base.Notice).text
    assert token(conversation) != unknown


async def test_sessions_share_one_program_that_ends_with_the_backend(
    open_codex: Open, codex_backend: CodexBackend
) -> None:
    first, second = await open_codex(), await open_codex()
    told = await asyncio.gather(first.turn("say: one"), second.turn("say: two"))
    assert [text(each) for each in told] == ["one", "two"]
    assert len(the_programs()) == 1
    await asyncio.gather(first.agent.close(), second.agent.close())
    await codex_backend.close()
    assert the_programs() == set()


async def test_another_environment_is_another_program(
    open_codex: Open, codex_environment: dict[str, str], worktree: Path
) -> None:
    of_worktree = {**codex_environment, "SPINNEY_BRANCH": "work"}
    first = await open_codex(mode="yolo", environment=of_worktree)
    told = await first.turn(f'bash: {LONG_ENOUGH}; echo "$SPINNEY_BRANCH $OPENAI_API_KEY."')
    assert only(told, base.ToolResult).content == "work ."  # the branch, and no key
    await open_codex(environment={**of_worktree, "SPINNEY_BRANCH": "other"})
    assert len(the_programs()) == 1
    await open_codex(environment={**of_worktree, "COLOUR": "blue"})
    assert len(the_programs()) == 2


async def test_a_closed_session_is_opened_again_in_the_same_program(open_codex: Open) -> None:
    before = await open_codex()
    await before.turn("say: the colour is blue")
    await before.agent.close()
    after = await open_codex(resume_token=token(before), system_prompt="Speak of looms.")
    assert "the colour is blue" in text(await after.turn("remember?"))
    assert len(the_programs()) == 1


async def test_a_refused_key_is_told_at_once(open_codex: Open) -> None:
    conversation = await open_codex()
    async with asyncio.timeout(5):
        failed = only(await conversation.turn("error 401"), base.TurnFailed)
    assert failed.error_type == "authentication_error"
    assert "codex login" in failed.error
    assert text(await conversation.turn("say: again")) == "again"


@pytest.mark.parametrize(
    ("words", "error_type", "sentence"),
    [
        ("error 429", "rate_limit_error", "Wait a while"),
        ("error 503", "backend_error", "Try again in a moment"),
        ("error 400", "invalid_request", "Change the message"),
        ("error 404", "invalid_request", "Choose another model"),
        ("tell context_length_exceeded x", "invalid_request", "too long for the model"),
        ("tell server_is_overloaded x", "backend_error", "overloaded"),
    ],
)
async def test_a_providers_error_fails_the_turn_and_the_next_one_works(
    open_codex: Open, words: str, error_type: str, sentence: str
) -> None:
    conversation = await open_codex()
    failed = only(await conversation.turn(words), base.TurnFailed)
    assert failed.error_type == error_type
    assert sentence in failed.error
    assert text(await conversation.turn("say: again")) == "again"


async def test_no_network_is_told(open_codex: Open, codex_environment: dict[str, str]) -> None:
    settings = Path(codex_environment["CODEX_HOME"]) / "config.toml"
    settings.write_text(configuration("http://127.0.0.1:9"))
    failed = only(await (await open_codex()).turn("say: hello"), base.TurnFailed)
    assert failed.error_type == "backend_error"
    assert "Check the network" in failed.error


async def test_nobody_signed_in_is_told_when_a_session_begins(
    open_codex: Open, codex_environment: dict[str, str]
) -> None:
    (Path(codex_environment["CODEX_HOME"]) / "config.toml").unlink()
    with pytest.raises(SpinneyError, match="Run: codex login") as raised:
        await open_codex()
    assert raised.value.error_type == "authentication_error"


async def test_changed_settings_reach_the_provider(
    open_codex: Open, responses: ResponsesStub
) -> None:
    conversation = await open_codex(system_prompt="Speak of looms.", effort="low")
    await conversation.turn("say: one")
    first = responses.requests[-1]
    assert "Speak of looms." in str(first["input"])
    assert (first["model"], first["reasoning"]["effort"]) == ("gpt-5.5", "low")
    settings = base.Settings("build", "gpt-6-sol", "off", "max")
    await conversation.agent.configure(settings)
    told = await conversation.turn("think: hard")
    second = responses.requests[-1]
    assert (second["model"], second["reasoning"]["effort"]) == ("gpt-6-sol", "max")
    assert text(told, "thinking") == ""


async def test_the_web_is_off_in_plan_mode_where_the_person_wants_that(
    open_codex: Open, responses: ResponsesStub
) -> None:
    def searches() -> bool:
        return "web_search" in {tool["type"] for tool in responses.requests[-1]["tools"]}

    conversation = await open_codex(mode="plan", web_in_plan=False)
    await conversation.turn("say: one")
    assert not searches()
    await conversation.agent.configure(base.Settings("build", "gpt-5.5", web_in_plan=False))
    told = await conversation.turn("remember?")
    assert searches()
    assert "say: one" in text(told)
    assert only(told, base.TurnFinished).usage.input_tokens == 100


async def test_for_a_text_only_there_are_no_tools_and_nothing_is_remembered(
    open_codex: Open, responses: ResponsesStub, codex_environment: dict[str, str]
) -> None:
    conversation = await open_codex(mode="plan", system_prompt="You write.", text_only=True)
    assert text(await conversation.turn("say: a title")) == "a title"
    request = responses.requests[-1]
    names = {tool.get("name") for tool in request.get("tools", ())}
    assert not names & {"exec_command", "write_stdin", "update_plan", "spawn_agent"}
    assert "You write." in str(request["input"]) + str(request.get("instructions"))
    assert "You are Codex" not in str(request)
    assert not list(Path(codex_environment["CODEX_HOME"]).glob("sessions/**/*.jsonl"))


async def test_files_and_pictures_reach_the_provider(
    open_codex: Open, responses: ResponsesStub, worktree: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "dot.png"
    picture.write_bytes(PIXEL)
    conversation = await open_codex()
    prompt = base.Prompt("say: seen", files=(worktree / "a.py",), images=(picture,))
    await conversation.agent.send(prompt)
    await conversation.rest()
    told = str(responses.requests[-1]["input"])
    assert "say: seen\\n@a.py" in told
    assert "input_image" in told


async def test_a_to_do_list_is_shown_as_it_changes(open_codex: Open) -> None:
    told = await (await open_codex()).turn("todo: spin | weave")
    first, last = (event for event in told if isinstance(event, base.ToolUse))
    assert first.name == "TodoWrite"
    assert first.input["todos"] == [
        {"content": "spin", "status": "in_progress"},
        {"content": "weave", "status": "pending"},
    ]
    assert {todo["status"] for todo in last.input["todos"]} == {"completed"}


async def test_what_a_sub_agent_does_is_shown_under_the_tool_that_started_it(
    open_codex: Open, worktree: Path
) -> None:
    words = f"sandboxed: {LONG_ENOUGH}; touch woven"
    conversation = await open_codex(model="gpt-5.2")
    told = await conversation.turn(f"agent: {words}")
    assert contents(worktree) == ["woven"]
    agent, command = (event for event in told if isinstance(event, base.ToolUse))
    assert (agent.name, agent.input["prompt"]) == ("agent", words)
    assert (command.name, command.parent_tool_use_id) == ("bash", agent.id)
    results = {e.tool_use_id: e.content for e in told if isinstance(e, base.ToolResult)}
    assert results[agent.id] == "done"
    assert text(told) == "done"
    assert only(told, base.TurnFinished).usage.input_tokens > 300


async def test_a_sub_agent_asks_too(open_codex: Open, worktree: Path) -> None:
    conversation = await open_codex(model="gpt-5.2")
    await conversation.agent.send(base.Prompt("agent: bash: touch woven"))
    asked = await conversation.until(base.PermissionAsked)
    assert asked.input == {"command": "touch woven"}
    await conversation.agent.permit(asked.request_id, "allow")
    await conversation.rest()
    assert contents(worktree) == ["woven"]


async def test_a_stop_ends_sub_agents_too(open_codex: Open, worktree: Path) -> None:
    conversation = await open_codex(model="gpt-5.2", mode="yolo")
    await conversation.agent.send(base.Prompt("agent: bash: touch ready; sleep 60"))
    await becomes((worktree / "ready").exists)
    await asyncio.gather(conversation.agent.stop(), conversation.rest())
    told = conversation.told
    assert only(told, base.TurnFinished).stop_reason == "stopped"
    used = {event.id for event in told if isinstance(event, base.ToolUse)}
    failed = {e.tool_use_id for e in told if isinstance(e, base.ToolResult) and e.is_error}
    assert used == failed  # the sub-agent, and its command where that was told before the stop
    await becomes(lambda: not at_work_in(worktree), 2.0)
    assert text(await conversation.turn("say: still here")) == "still here"


async def test_no_sub_agents_where_none_are_wanted(
    open_codex: Open, responses: ResponsesStub
) -> None:
    await (await open_codex(model="gpt-5.2", sub_agents=0)).turn("say: one")
    assert "spawn_agent" not in str(responses.requests[-1].get("tools"))
    await (await open_codex(model="gpt-5.2", sub_agents=2)).turn("say: one")
    assert "spawn_agent" in str(responses.requests[-1]["tools"])


async def test_the_servers_of_the_person_are_told_and_can_be_off(
    open_codex: Open, codex_environment: dict[str, str], place: Path
) -> None:
    settings = Path(codex_environment["CODEX_HOME"]) / "config.toml"
    servers = "".join(
        f"[mcp_servers.{name}]\ncommand = '/bin/sh'\n"
        f"args = ['-c', 'touch {place / name}; cat']\nstartup_timeout_sec = 1\n"
        for name in ("spindle", "wheel")
    )
    settings.write_text(settings.read_text() + servers)
    conversation = await open_codex(mcp_off=frozenset({"wheel"}))
    await conversation.turn("say: one")
    assert only(conversation.told, base.McpServersSeen).names == ("spindle", "wheel")
    assert (place / "spindle").exists()
    assert not (place / "wheel").exists()


async def test_the_conversation_is_shortened_on_request(open_codex: Open) -> None:
    conversation = await open_codex()
    await conversation.turn("say: one")
    told = await conversation.turn("/compact")
    notices = [event.text for event in told if isinstance(event, base.Notice)]
    assert "The conversation so far was shortened to a summary." in notices
    assert text(await conversation.turn("say: two")) == "two"


async def test_the_probe_finds_the_program_its_version_and_its_sign_in(
    codex_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in codex_environment.items():
        monkeypatch.setenv(name, value)
    probe = await CodexBackend().probe()
    assert probe.program is not None
    assert Path(probe.program).name == "codex"
    assert probe.version is not None
    assert (probe.signed_in, probe.problem) == (True, None)  # by the key in the environment
    (Path(codex_environment["CODEX_HOME"]) / "config.toml").unlink()
    probe = await CodexBackend().probe()
    assert (probe.signed_in, probe.problem) == (False, "Codex is not signed in. Run: codex login")


async def test_a_rate_limit_tells_when_it_ends(open_codex: Open) -> None:
    words = "tell rate_limit_exceeded Rate limit reached. Please try again in 0.2s."
    failed = only(await (await open_codex()).turn(words), base.TurnFailed)
    assert (failed.error_type, failed.retry_after) == ("rate_limit_error", 0.2)


async def test_a_program_that_nobody_uses_ends(
    open_codex: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codex_server, "IDLE_LIMIT", 0.1)
    conversation = await open_codex()
    await conversation.turn("say: one")
    assert len(the_programs()) == 1
    await conversation.agent.close()
    await becomes(lambda: not the_programs())
    again = await open_codex(resume_token=token(conversation))
    assert "say: one" in text(await again.turn("remember?"))
