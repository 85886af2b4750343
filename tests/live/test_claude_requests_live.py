"""Questions and permission requests of the real Claude Code."""

import json
import subprocess
from pathlib import Path

import pytest

from model.backends import agent_events, base
from tests.model.backends.agents import (
    Open,
    only,
    text,
)

SCRIPT = "python3 -c 'print(6 * 7)'"
"""A command that always needs permission in build mode."""


async def test_several_questions_are_answered_with_options_and_free_text(
    open_claude: Open,
) -> None:
    options = [
        {"label": label, "description": f"Take {label}", "preview": "+-+\n| |"}
        for label in ("Wool", "Silk")
    ]
    questions = [
        {"question": "Which yarn?", "header": "Yarn", "multiSelect": False, "options": options},
        {"question": "Which extras?", "header": "Extras", "multiSelect": True, "options": options},
        {"question": "For whom?", "header": "Whom", "multiSelect": False, "options": options},
    ]
    conversation = await open_claude(mode="plan")
    call = f"call: AskUserQuestion {json.dumps({'questions': questions})}"
    await conversation.agent.send(base.Prompt(call))
    asked = await conversation.until(agent_events.QuestionAsked)
    assert [(q.question, q.header, q.multi_select) for q in asked.questions] == [
        ("Which yarn?", "Yarn", False),
        ("Which extras?", "Extras", True),
        ("For whom?", "Whom", False),
    ]
    assert asked.questions[0].options[1].label == "Silk"
    assert asked.questions[0].options[1].description == "Take Silk"
    assert asked.questions[0].options[1].preview == "+-+\n| |"
    answers = {
        "Which yarn?": "Silk",
        "Which extras?": "Wool, Silk",
        "For whom?": "My grandmother",
    }
    await conversation.agent.answer(asked.request_id, answers)
    reply = text(await conversation.rest())
    assert all(answer in reply for answer in answers.values())
    assert not any(isinstance(e, agent_events.ToolUse) for e in conversation.events)


async def test_a_question_is_answered(open_claude: Open) -> None:
    conversation = await open_claude()
    await conversation.agent.send(base.Prompt("ask: Tea or coffee? | Tea | Coffee"))
    asked = await conversation.until(agent_events.QuestionAsked)
    (question,) = asked.questions
    assert [option.label for option in question.options] == ["Tea", "Coffee"]
    await conversation.agent.answer(asked.request_id, {question.question: "Water"})
    assert "Water" in text(await conversation.rest())


async def test_build_mode_asks_before_a_command_and_a_denial_holds(
    open_claude: Open, folder: Path
) -> None:
    conversation = await open_claude()
    await conversation.agent.send(base.Prompt('bash: python3 -c \'open("a", "w")\''))
    asked = await conversation.until(agent_events.PermissionRequested)
    assert asked.tool_name == "Bash"
    await conversation.agent.permit(asked.request_id, "deny")
    assert only(await conversation.rest(), agent_events.ToolResult).is_error
    assert list(folder.iterdir()) == []


async def test_the_reason_of_a_denial_reaches_the_agent(open_claude: Open) -> None:
    conversation = await open_claude()
    await conversation.agent.send(base.Prompt(f"bash: {SCRIPT}"))
    asked = await conversation.until(agent_events.PermissionRequested)
    await conversation.agent.permit(asked.request_id, "deny", "Python is not for this")
    denied = only(await conversation.rest(), agent_events.ToolResult)
    assert denied.is_error
    assert "Python is not for this" in denied.content


async def test_a_command_allowed_once_is_asked_for_again(open_claude: Open) -> None:
    conversation = await open_claude()
    for _ in range(2):
        await conversation.agent.send(base.Prompt(f"bash: {SCRIPT}"))
        asked = await conversation.until(agent_events.PermissionRequested)
        assert (asked.tool_name, asked.input["command"]) == ("Bash", SCRIPT)
        await conversation.agent.permit(asked.request_id, "allow")
        assert only(await conversation.rest(), agent_events.ToolResult).content == "42"


@pytest.mark.parametrize("mode", ["build", "plan"])
async def test_a_sub_agent_asks_as_well(open_claude: Open, mode: str) -> None:
    call = {"description": "Count", "prompt": f"bash: {SCRIPT}", "subagent_type": "general-purpose"}
    conversation = await open_claude(mode=mode)
    await conversation.agent.send(base.Prompt(f"call: Agent {json.dumps(call)}"))
    asked = await conversation.until(agent_events.PermissionRequested)
    assert asked.input["command"] == SCRIPT
    await conversation.agent.permit(asked.request_id, "allow")
    events = await conversation.rest()
    results = {e.tool_use_id: e.content for e in events if isinstance(e, agent_events.ToolResult)}
    assert results[asked.tool_use_id or ""] == "42"


async def test_a_sub_agent_changes_nothing_in_plan_mode(open_claude: Open, folder: Path) -> None:
    call = {"description": "Do", "prompt": "write a.txt: hi", "subagent_type": "general-purpose"}
    events = await (await open_claude(mode="plan")).turn(f"call: Agent {json.dumps(call)}")
    edit = next(e for e in events if isinstance(e, agent_events.ToolUse) and e.name == "edit")
    denied = next(
        e for e in events if isinstance(e, agent_events.ToolResult) and e.tool_use_id == edit.id
    )
    assert denied.is_error
    assert list(folder.iterdir()) == []


async def test_the_agent_commits_inside_a_linked_worktree(
    open_claude: Open, folder: Path, tmp_path: Path
) -> None:
    def git(*words: str) -> str:
        command = ["git", "-C", str(tmp_path / "repository"), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    identity = "-c user.name=Otter -c user.email=otter@example.com"
    (tmp_path / "repository").mkdir()
    git("init", "-q", "-b", "main")
    git(*identity.split(), "commit", "-q", "--allow-empty", "-m", "First")
    git("worktree", "add", "-q", "-b", "calm-otter", str(folder))
    conversation = await open_claude()
    await conversation.turn("write a.txt: hi")
    await conversation.agent.send(
        base.Prompt(f"bash: git add a.txt && git {identity} commit -q -m 'Say hi'")
    )
    asked = await conversation.until(agent_events.PermissionRequested)
    await conversation.agent.permit(asked.request_id, "allow")
    assert not only(await conversation.rest(), agent_events.ToolResult).is_error
    assert git("log", "-1", "--format=%s", "calm-otter").strip() == "Say hi"
