"""The adapter of Claude Code and its program: what is said to it, and what comes of it."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from model.backends import base
from model.base.errors import SpinneyError
from tests.model.backends import claude_lines as say
from tests.model.backends.agents import Open, only, text
from tests.model.backends.claude_lines import answer, arguments, heard

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
ASKING = [say.init(), BASH, "hear", say.result()]
"""A turn that asks whether a command may run."""


async def test_the_command_line_holds_the_sessions_settings(
    open_claude: Open, program: Path
) -> None:
    await open_claude(mode="plan", model="opus", effort="max", system_prompt="Be kind.")
    (line,) = arguments(program)
    options = dict(zip(line, [*line[1:], ""], strict=True))
    assert options["--permission-mode"] == "plan"
    assert options["--model"] == "opus"
    assert options["--effort"] == "max"
    assert options["--append-system-prompt"] == "Be kind."
    assert options["--permission-prompt-tool"] == "stdio"
    assert "--session-id" in options
    assert "--resume" not in options


@pytest.mark.parametrize(("browser", "said"), [(True, "--chrome"), (False, "--no-chrome")])
async def test_the_program_is_told_whether_it_may_use_a_browser(
    open_claude: Open, program: Path, browser: bool, said: str
) -> None:
    await open_claude(browser=browser)
    (line,) = arguments(program)
    assert [word for word in line if "chrome" in word] == [said]


async def test_for_a_text_only_there_are_no_tools_and_nothing_is_remembered(
    open_claude: Open, program: Path
) -> None:
    await open_claude(mode="plan", model="haiku", system_prompt="You write.", text_only=True)
    (line,) = arguments(program)
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
    (line,) = arguments(program)
    assert not any("skip-permissions" in word or "bypass" in word for word in line)


async def test_a_message_mentions_files_and_carries_pictures(
    open_claude: Open, program: Path, tmp_path: Path
) -> None:
    conversation = await open_claude([say.result()])
    picture = tmp_path / "a.png"
    picture.write_bytes(b"png")
    worktree = tmp_path / "worktree"
    files = (worktree / "src" / "a.py", worktree / "my file.txt", Path("/etc/hosts"))
    await conversation.agent.send(base.Prompt("Look", files, (picture,)))
    await conversation.rest()
    (line,) = heard(program, "user")
    words, image = line["message"]["content"]
    assert words["text"] == 'Look\n@src/a.py\n@"my file.txt"\n@/etc/hosts'
    assert image["source"] == {"type": "base64", "media_type": "image/png", "data": "cG5n"}


async def test_build_mode_puts_the_question_to_the_person(open_claude: Open, program: Path) -> None:
    conversation = await open_claude(ASKING)
    await conversation.agent.send(base.Prompt("Build"))
    asked = await conversation.until(base.PermissionAsked)
    assert asked == base.PermissionAsked("r-1", "Bash", {"command": "make"}, "Build it", "t-1")
    await conversation.agent.permit("r-1", "allow")
    await conversation.rest()
    assert answer(program) == {"behavior": "allow", "updatedInput": {"command": "make"}}


async def test_a_denial_tells_the_model_so(open_claude: Open, program: Path) -> None:
    conversation = await open_claude(ASKING)
    await conversation.agent.send(base.Prompt("Build"))
    await conversation.until(base.PermissionAsked)
    await conversation.agent.permit("r-1", "deny")
    await conversation.rest()
    assert answer(program)["behavior"] == "deny"


async def test_a_denial_tells_the_model_why(open_claude: Open, program: Path) -> None:
    conversation = await open_claude(ASKING)
    await conversation.agent.send(base.Prompt("Build"))
    await conversation.until(base.PermissionAsked)
    await conversation.agent.permit("r-1", "deny", "Use ninja")
    await conversation.rest()
    assert "Use ninja" in answer(program)["message"]


async def test_yolo_mode_allows_at_once(open_claude: Open, program: Path) -> None:
    conversation = await open_claude(ASKING, mode="yolo")
    told = await conversation.turn("Build")
    assert not any(isinstance(event, base.PermissionAsked) for event in told)
    assert answer(program) == {"behavior": "allow", "updatedInput": {"command": "make"}}


async def test_plan_mode_denies_an_edit_that_the_program_would_make(
    open_claude: Open, program: Path
) -> None:
    edit = say.can_use("r-1", "Write", {"file_path": "/x", "content": "y"})
    conversation = await open_claude([edit, "hear", say.result()], mode="plan")
    await conversation.turn("Write")
    assert answer(program)["behavior"] == "deny"


async def test_a_plan_is_approved_as_edited_and_the_mode_follows(
    open_claude: Open, program: Path
) -> None:
    plan = say.can_use("r-1", "ExitPlanMode", {"plan": "1. Do it"})
    bash = say.can_use("r-2", "Bash", {"command": "make"})
    turn = [plan, "hear", say.status(permissionMode="acceptEdits"), bash, "hear", say.result()]
    conversation = await open_claude(turn, mode="plan")
    await conversation.agent.send(base.Prompt("Plan"))
    assert (await conversation.until(base.PlanProposed)).text == "1. Do it"
    await conversation.agent.approve(
        "r-1", base.Settings("yolo", "sonnet", "think", "medium"), "1. Do it well"
    )
    told = await conversation.rest()
    assert not any(isinstance(event, base.PermissionAsked | base.ModeChanged) for event in told)
    approval, allowed = (
        line["response"]["response"] for line in heard(program, "control_response")
    )
    assert approval["updatedInput"] == {"plan": "1. Do it well"}
    assert approval["updatedPermissions"] == [
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    ]
    assert allowed["behavior"] == "allow"  # what was approved in yolo mode asks no more


async def test_a_plan_without_text_is_what_was_said_before(open_claude: Open) -> None:
    words = say.assistant("m", say.text("My plan is simple."))
    turn = [words, say.can_use("r-1", "ExitPlanMode", {}), "hear", say.result()]
    conversation = await open_claude(turn, mode="plan")
    await conversation.agent.send(base.Prompt("Plan"))
    assert (await conversation.until(base.PlanProposed)).text == "My plan is simple."


async def test_a_discussed_plan_goes_back_with_the_comment(
    open_claude: Open, program: Path
) -> None:
    plan = say.can_use("r-1", "ExitPlanMode", {"plan": "1. Do it"})
    conversation = await open_claude([plan, "hear", say.result()], mode="plan")
    await conversation.agent.send(base.Prompt("Plan"))
    await conversation.until(base.PlanProposed)
    comment = base.Prompt("Smaller, please", images=(Path("/tmp/sketch.png"),))
    await conversation.agent.discuss("r-1", comment)
    await conversation.rest()
    told = "Smaller, please\nAttached image: /tmp/sketch.png"
    assert answer(program) == {"behavior": "deny", "message": told}


async def test_a_question_is_answered_by_its_text(open_claude: Open, program: Path) -> None:
    questions = [{"question": "Tea?", "header": "Tea", "multiSelect": True, "options": []}]
    asked = say.can_use("r-1", "AskUserQuestion", {"questions": questions})
    conversation = await open_claude([asked, "hear", say.result()])
    await conversation.agent.send(base.Prompt("Ask"))
    (question,) = (await conversation.until(base.QuestionAsked)).questions
    assert (question.question, question.multi_select) == ("Tea?", True)
    await conversation.agent.answer("r-1", {"Tea?": "Yes"})
    await conversation.rest()
    told = {"questions": questions, "answers": {"Tea?": "Yes"}}
    assert answer(program) == {"behavior": "allow", "updatedInput": told}


async def test_a_question_of_unknown_form_can_still_be_answered(
    open_claude: Open, program: Path
) -> None:
    questions = [{"question": ["?"]}, "What?", {"question": "Tea?", "header": "Tea"}]
    asked = say.can_use("r-1", "AskUserQuestion", {"questions": questions})
    conversation = await open_claude([asked, "hear", say.result()])
    await conversation.agent.send(base.Prompt("Ask"))
    (question,) = (await conversation.until(base.QuestionAsked)).questions
    assert question.question == "Tea?"
    await conversation.agent.answer("r-1", {"Tea?": "Yes"})
    await conversation.rest()
    assert answer(program)["updatedInput"]["answers"] == {"Tea?": "Yes"}


async def test_a_question_that_is_withdrawn_takes_no_answer_any_more(open_claude: Open) -> None:
    withdrawn = {"type": "control_cancel_request", "request_id": "r-1"}
    conversation = await open_claude([BASH, withdrawn, say.result()])
    told = await conversation.turn("Build")
    assert base.RequestWithdrawn("r-1") in told
    with pytest.raises(SpinneyError, match="no longer waiting") as raised:
        await conversation.agent.permit("r-1", "allow")
    assert raised.value.error_type == "conflict"


async def test_a_refused_key_ends_the_turn_at_the_first_retry(
    open_claude: Open, program: Path
) -> None:
    retry = {"type": "system", "subtype": "api_retry", "error": "authentication_failed"}
    stopped = say.result(is_error=True, terminal_reason="aborted_streaming")
    conversation = await open_claude([retry, "hear", stopped])
    failed = only(await conversation.turn("Hello"), base.TurnFailed)
    assert failed.error_type == "authentication_error"
    assert "claude auth login" in failed.error
    assert heard(program, "control_request")[-1]["request"] == {"subtype": "interrupt"}


async def test_only_changed_settings_are_said_to_the_running_program(
    open_claude: Open, program: Path
) -> None:
    conversation = await open_claude([say.result()])
    agent = conversation.agent
    before = len(heard(program, "control_request"))
    usual = base.Settings("build", "sonnet", "think", "medium")
    await agent.configure(usual)
    await agent.configure(replace(usual, mode="yolo"))  # our own policy; nothing to say
    assert len(heard(program, "control_request")) == before
    await agent.configure(base.Settings("plan", "opus", "off", "low"))
    said = [line["request"] for line in heard(program, "control_request")[before:]]
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


async def test_an_edit_that_needs_permission_is_asked_for_as_an_edit(open_claude: Open) -> None:
    write = say.can_use("r-1", "Write", {"file_path": "/etc/motd", "content": "hi"})
    conversation = await open_claude([write, "hear", say.result()])
    await conversation.agent.send(base.Prompt("Write"))
    asked = await conversation.until(base.PermissionAsked)
    assert asked.tool_name == "edit"
    assert (asked.input["file_path"], asked.input["new_content"]) == ("/etc/motd", "hi")
    await conversation.agent.permit("r-1", "allow")
    await conversation.rest()


async def test_a_turn_that_nobody_asked_for_is_announced(open_claude: Open) -> None:
    own = [say.message_start("m"), say.text_delta("By the way"), say.result()]
    conversation = await open_claude([say.result(), *own])
    await conversation.turn("Hello")
    told = await conversation.rest()
    assert isinstance(told[0], base.TurnStarted)
    assert text(told) == "By the way"


async def test_an_edit_is_told_as_one(open_claude: Open, tmp_path: Path) -> None:
    worktree = tmp_path / "worktree"
    use = say.tool_use("t", "Write", file_path=str(worktree / "a.txt"), content="new")
    late = {"tool_use_result": {"originalFile": "what it was"}}
    turn = [say.assistant("m", use), say.tool_result("t", "ok", **late), say.result()]
    told = await (await open_claude(turn)).turn("Write")
    first, corrected = (event for event in told if isinstance(event, base.ToolUse))
    assert first.input == {"file_path": "a.txt", "old_content": "", "new_content": "new"}
    assert corrected.input["old_content"] == "what it was"


async def test_settings_that_the_program_refused_are_said_again(
    open_claude: Open, program: Path
) -> None:
    conversation = await open_claude(script={"refuses": "set_model"})
    settings = base.Settings("plan", "opus", "think", "medium")
    for _ in range(2):
        with pytest.raises(SpinneyError, match="refused a setting: not today"):
            await conversation.agent.configure(settings)
    said = [line["request"]["subtype"] for line in heard(program, "control_request")]
    assert said.count("set_model") == 2


async def test_a_request_that_we_do_not_know_is_refused(open_claude: Open, program: Path) -> None:
    request = {"subtype": "elicitation", "message": "Your name?"}
    asked = {"type": "control_request", "request_id": "r-1", "request": request}
    conversation = await open_claude([asked, "hear", say.result()])
    await conversation.turn("Hello")
    (line,) = heard(program, "control_response")
    assert (line["response"]["subtype"], line["response"]["request_id"]) == ("error", "r-1")


async def test_a_stop_that_came_before_the_turn_is_said_again_when_it_begins(
    open_claude: Open, program: Path
) -> None:
    ended = say.result(is_error=True, terminal_reason="aborted_streaming")
    conversation = await open_claude(["hear", say.init(), "hear", ended])
    await conversation.agent.send(base.Prompt("Hello"))
    _, told = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(told, base.TurnFinished).stop_reason == "stopped"
    said = [line["request"]["subtype"] for line in heard(program, "control_request")]
    assert said[-2:] == ["interrupt", "interrupt"]
