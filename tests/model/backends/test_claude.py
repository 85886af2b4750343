"""The adapter of Claude Code: what the program receives, and the events of its output."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from model.backends import agent_events, base
from model.base.errors import SpinneyError
from tests.model.backends import claude_lines as say
from tests.model.backends.agents import Open, only, text
from tests.model.backends.claude_lines import read_arguments, read_received, read_response

BASH = say.can_use(
    "r-1",
    "Bash",
    {"command": "make"},
    description="Build it",
    tool_use_id="t-1",
    permission_suggestions=[
        {"type": "addRules", "behavior": "allow", "destination": "localSettings"},
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
    ],
)
PERMISSION_TURN = [say.init(), BASH, "receive", say.result()]
"""A turn that asks for permission to run a command."""


async def test_the_command_line_holds_the_sessions_settings(
    open_claude: Open, program: Path
) -> None:
    await open_claude(mode="plan", model="opus", effort="max", system_prompt="Be kind.")
    (line,) = read_arguments(program)
    options = dict(zip(line, [*line[1:], ""], strict=True))
    assert options["--permission-mode"] == "plan"
    assert options["--model"] == "opus"
    assert options["--effort"] == "max"
    assert options["--append-system-prompt"] == "Be kind."
    assert options["--permission-prompt-tool"] == "stdio"
    assert "--session-id" in options
    assert "--resume" not in options


@pytest.mark.parametrize(("browser", "option"), [(True, "--chrome"), (False, "--no-chrome")])
async def test_an_option_says_whether_the_program_may_use_a_browser(
    open_claude: Open, program: Path, browser: bool, option: str
) -> None:
    await open_claude(can_use_browser=browser)
    (line,) = read_arguments(program)
    assert [word for word in line if "chrome" in word] == [option]


async def test_text_only_has_no_tools_and_persists_nothing(
    open_claude: Open, program: Path
) -> None:
    await open_claude(mode="plan", model="haiku", system_prompt="You write.", text_only=True)
    (line,) = read_arguments(program)
    options = dict(zip(line, [*line[1:], ""], strict=True))
    assert options["--tools"] == ""
    assert options["--system-prompt"] == "You write."
    assert options["--setting-sources"] == "user"
    assert options["--permission-mode"] == "default"
    assert {"--no-session-persistence", "--strict-mcp-config"} <= set(line)
    assert "--append-system-prompt" not in options


@pytest.mark.parametrize("mode", ["plan", "build", "yolo"])
async def test_the_programs_own_bypass_is_never_used(
    open_claude: Open, program: Path, mode: str
) -> None:
    await open_claude(mode=mode)
    (line,) = read_arguments(program)
    assert not any("skip-permissions" in word or "bypass" in word for word in line)


async def test_a_message_mentions_files_and_includes_images(
    open_claude: Open, program: Path, tmp_path: Path
) -> None:
    conversation = await open_claude([say.result()])
    picture = tmp_path / "a.png"
    picture.write_bytes(b"png")
    worktree = tmp_path / "worktree"
    files = (worktree / "src" / "a.py", worktree / "my file.txt", Path("/etc/hosts"))
    await conversation.agent.send(base.Prompt("Look", files, (picture,)))
    await conversation.rest()
    (line,) = read_received(program, "user")
    words, image = line["message"]["content"]
    assert words["text"] == 'Look\n@src/a.py\n@"my file.txt"\n@/etc/hosts'
    assert image["source"] == {"type": "base64", "media_type": "image/png", "data": "cG5n"}


async def test_build_mode_asks_the_user(open_claude: Open, program: Path) -> None:
    conversation = await open_claude(PERMISSION_TURN)
    await conversation.agent.send(base.Prompt("Build"))
    asked = await conversation.until(agent_events.PermissionRequested)
    assert asked == agent_events.PermissionRequested(
        "r-1", "Bash", {"command": "make"}, "Build it", "t-1"
    )
    await conversation.agent.permit("r-1", "allow")
    await conversation.rest()
    assert read_response(program) == {"behavior": "allow", "updatedInput": {"command": "make"}}


async def test_a_denial_is_sent_to_the_model(open_claude: Open, program: Path) -> None:
    conversation = await open_claude(PERMISSION_TURN)
    await conversation.agent.send(base.Prompt("Build"))
    await conversation.until(agent_events.PermissionRequested)
    await conversation.agent.permit("r-1", "deny")
    await conversation.rest()
    assert read_response(program)["behavior"] == "deny"


async def test_the_reason_for_a_denial_is_sent_to_the_model(
    open_claude: Open, program: Path
) -> None:
    conversation = await open_claude(PERMISSION_TURN)
    await conversation.agent.send(base.Prompt("Build"))
    await conversation.until(agent_events.PermissionRequested)
    await conversation.agent.permit("r-1", "deny", "Use ninja")
    await conversation.rest()
    assert "Use ninja" in read_response(program)["message"]


async def test_yolo_mode_allows_at_once(open_claude: Open, program: Path) -> None:
    conversation = await open_claude(PERMISSION_TURN, mode="yolo")
    events = await conversation.turn("Build")
    assert not any(isinstance(event, agent_events.PermissionRequested) for event in events)
    assert read_response(program) == {"behavior": "allow", "updatedInput": {"command": "make"}}


async def test_plan_mode_denies_an_edit_that_the_program_would_make(
    open_claude: Open, program: Path
) -> None:
    edit = say.can_use("r-1", "Write", {"file_path": "/x", "content": "y"})
    conversation = await open_claude([edit, "receive", say.result()], mode="plan")
    await conversation.turn("Write")
    assert read_response(program)["behavior"] == "deny"


async def test_a_plan_is_approved_as_edited_and_the_mode_follows(
    open_claude: Open, program: Path
) -> None:
    plan = say.can_use("r-1", "ExitPlanMode", {"plan": "1. Do it"})
    bash = say.can_use("r-2", "Bash", {"command": "make"})
    turn = [
        plan, "receive", say.status(permissionMode="acceptEdits"), bash, "receive", say.result(),
    ]  # fmt: skip
    conversation = await open_claude(turn, mode="plan")
    await conversation.agent.send(base.Prompt("Plan"))
    assert (await conversation.until(agent_events.PlanProposed)).text == "1. Do it"
    await conversation.agent.approve(
        "r-1", base.Settings("yolo", "sonnet", "think", "medium"), "1. Do it well"
    )
    events = await conversation.rest()
    assert not any(
        isinstance(event, agent_events.PermissionRequested | agent_events.ModeChanged)
        for event in events
    )
    approval, allowed = (
        line["response"]["response"] for line in read_received(program, "control_response")
    )
    assert approval["updatedInput"] == {"plan": "1. Do it well"}
    assert approval["updatedPermissions"] == [
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    ]
    assert (
        allowed["behavior"] == "allow"
    )  # the approval switched to yolo mode, which asks for nothing


async def test_a_plan_without_text_is_the_preceding_message(open_claude: Open) -> None:
    words = say.assistant("m", say.text("My plan is simple."))
    turn = [words, say.can_use("r-1", "ExitPlanMode", {}), "receive", say.result()]
    conversation = await open_claude(turn, mode="plan")
    await conversation.agent.send(base.Prompt("Plan"))
    assert (await conversation.until(agent_events.PlanProposed)).text == "My plan is simple."


async def test_a_discussed_plan_goes_back_with_the_comment(
    open_claude: Open, program: Path
) -> None:
    plan = say.can_use("r-1", "ExitPlanMode", {"plan": "1. Do it"})
    conversation = await open_claude([plan, "receive", say.result()], mode="plan")
    await conversation.agent.send(base.Prompt("Plan"))
    await conversation.until(agent_events.PlanProposed)
    comment = base.Prompt("Smaller, please", images=(Path("/tmp/sketch.png"),))
    await conversation.agent.discuss("r-1", comment)
    await conversation.rest()
    message = "Smaller, please\nAttached image: /tmp/sketch.png"
    assert read_response(program) == {"behavior": "deny", "message": message}


async def test_a_question_is_answered_by_its_text(open_claude: Open, program: Path) -> None:
    questions = [{"question": "Tea?", "header": "Tea", "multiSelect": True, "options": []}]
    asked = say.can_use("r-1", "AskUserQuestion", {"questions": questions})
    conversation = await open_claude([asked, "receive", say.result()])
    await conversation.agent.send(base.Prompt("Ask"))
    (question,) = (await conversation.until(agent_events.QuestionAsked)).questions
    assert (question.question, question.multi_select) == ("Tea?", True)
    await conversation.agent.answer("r-1", {"Tea?": "Yes"})
    await conversation.rest()
    updated = {"questions": questions, "answers": {"Tea?": "Yes"}}
    assert read_response(program) == {"behavior": "allow", "updatedInput": updated}


async def test_a_question_of_unknown_form_can_still_be_answered(
    open_claude: Open, program: Path
) -> None:
    questions = [{"question": ["?"]}, "What?", {"question": "Tea?", "header": "Tea"}]
    asked = say.can_use("r-1", "AskUserQuestion", {"questions": questions})
    conversation = await open_claude([asked, "receive", say.result()])
    await conversation.agent.send(base.Prompt("Ask"))
    (question,) = (await conversation.until(agent_events.QuestionAsked)).questions
    assert question.question == "Tea?"
    await conversation.agent.answer("r-1", {"Tea?": "Yes"})
    await conversation.rest()
    assert read_response(program)["updatedInput"]["answers"] == {"Tea?": "Yes"}


async def test_a_withdrawn_request_accepts_no_answer(open_claude: Open) -> None:
    withdrawn = {"type": "control_cancel_request", "request_id": "r-1"}
    conversation = await open_claude([BASH, withdrawn, say.result()])
    events = await conversation.turn("Build")
    assert agent_events.RequestWithdrawn("r-1") in events
    with pytest.raises(SpinneyError, match="no longer waiting") as raised:
        await conversation.agent.permit("r-1", "allow")
    assert raised.value.error_type == "conflict"


async def test_a_refused_key_ends_the_turn_at_the_first_retry(
    open_claude: Open, program: Path
) -> None:
    retry = {"type": "system", "subtype": "api_retry", "error": "authentication_failed"}
    stopped = say.result(is_error=True, terminal_reason="aborted_streaming")
    conversation = await open_claude([retry, "receive", stopped])
    failed = only(await conversation.turn("Hello"), agent_events.TurnFailed)
    assert failed.error_type == "authentication_error"
    assert "claude auth login" in failed.error
    assert read_received(program, "control_request")[-1]["request"] == {"subtype": "interrupt"}


async def test_only_changed_settings_are_sent_to_the_running_program(
    open_claude: Open, program: Path
) -> None:
    conversation = await open_claude([say.result()])
    agent = conversation.agent
    before = len(read_received(program, "control_request"))
    settings = base.Settings("build", "sonnet", "think", "medium")
    await agent.configure(settings)
    await agent.configure(replace(settings, mode="yolo"))  # Spinney's own policy; nothing to send
    assert len(read_received(program, "control_request")) == before
    await agent.configure(base.Settings("plan", "opus", "off", "low"))
    said = [line["request"] for line in read_received(program, "control_request")[before:]]
    assert said == [
        {"subtype": "set_permission_mode", "mode": "plan"},
        {"subtype": "set_model", "model": "opus"},
        {"subtype": "apply_flag_settings", "settings": {"effortLevel": "low"}},
        {
            "subtype": "set_max_thinking_tokens",
            "max_thinking_tokens": 0,
            "thinking_display": "summarized",
        },
    ]


async def test_a_permission_request_for_an_edit_is_normalized(open_claude: Open) -> None:
    write = say.can_use("r-1", "Write", {"file_path": "/etc/motd", "content": "hi"})
    conversation = await open_claude([write, "receive", say.result()])
    await conversation.agent.send(base.Prompt("Write"))
    asked = await conversation.until(agent_events.PermissionRequested)
    assert asked.tool_name == "edit"
    assert (asked.input["file_path"], asked.input["new_content"]) == ("/etc/motd", "hi")
    await conversation.agent.permit("r-1", "allow")
    await conversation.rest()


async def test_a_turn_started_by_the_program_is_announced(open_claude: Open) -> None:
    own = [say.message_start("m"), say.text_delta("By the way"), say.result()]
    conversation = await open_claude([say.result(), *own])
    await conversation.turn("Hello")
    events = await conversation.rest()
    assert isinstance(events[0], agent_events.TurnStarted)
    assert text(events) == "By the way"


async def test_an_edit_is_reported_as_an_edit(open_claude: Open, tmp_path: Path) -> None:
    worktree = tmp_path / "worktree"
    use = say.tool_use("t", "Write", file_path=str(worktree / "a.txt"), content="new")
    late = {"tool_use_result": {"originalFile": "what it was"}}
    turn = [say.assistant("m", use), say.tool_result("t", "ok", **late), say.result()]
    events = await (await open_claude(turn)).turn("Write")
    first, corrected = (event for event in events if isinstance(event, agent_events.ToolUse))
    assert first.input == {"file_path": "a.txt", "old_content": "", "new_content": "new"}
    assert corrected.input["old_content"] == "what it was"


async def test_refused_settings_are_sent_again(open_claude: Open, program: Path) -> None:
    conversation = await open_claude(script={"refuses": "set_model"})
    settings = base.Settings("plan", "opus", "think", "medium")
    for _ in range(2):
        with pytest.raises(SpinneyError, match="refused a setting: not today"):
            await conversation.agent.configure(settings)
    said = [line["request"]["subtype"] for line in read_received(program, "control_request")]
    assert said.count("set_model") == 2


async def test_an_unknown_request_is_refused(open_claude: Open, program: Path) -> None:
    request = {"subtype": "elicitation", "message": "Your name?"}
    asked = {"type": "control_request", "request_id": "r-1", "request": request}
    conversation = await open_claude([asked, "receive", say.result()])
    await conversation.turn("Hello")
    (line,) = read_received(program, "control_response")
    assert (line["response"]["subtype"], line["response"]["request_id"]) == ("error", "r-1")


async def test_a_stop_before_the_turn_begins_is_repeated_when_it_begins(
    open_claude: Open, program: Path
) -> None:
    ended = say.result(is_error=True, terminal_reason="aborted_streaming")
    conversation = await open_claude(["receive", say.init(), "receive", ended])
    await conversation.agent.send(base.Prompt("Hello"))
    _, events = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"
    said = [line["request"]["subtype"] for line in read_received(program, "control_request")]
    assert said[-2:] == ["interrupt", "interrupt"]
