"""What the modes of a session allow the real OpenCode, and its requests to the user."""

from pathlib import Path

import pytest

from model.backends import agent_events, base
from tests.live.completions_stub import MODEL, PROVIDER, CompletionsStub
from tests.live.opencode.conftest import files
from tests.model.backends.agents import Open, only, text

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_build_mode_asks_before_a_command_and_a_denial_holds(
    open_opencode: Open, worktree: Path
) -> None:
    conversation = await open_opencode()
    await conversation.agent.send(base.Prompt("bash: touch a"))
    asked = await conversation.until(agent_events.PermissionRequested)
    uses = [event for event in conversation.events if isinstance(event, agent_events.ToolUse)]
    assert (asked.tool_name, asked.tool_use_id) == ("Bash", uses[-1].id)
    assert asked.input == uses[-1].input == {"command": "touch a", "description": "Run a command"}
    await conversation.agent.permit(asked.request_id, "deny", "Not on a Sunday.")
    events = await conversation.rest()
    result = only(events, agent_events.ToolResult)
    assert result.is_error
    assert "Not on a Sunday." in result.content
    assert text(events) == "done"  # the agent continues
    assert files(worktree) == []


async def test_a_command_allowed_once_is_asked_for_again(open_opencode: Open) -> None:
    conversation = await open_opencode()
    for _ in range(2):
        await conversation.agent.send(base.Prompt("bash: echo $((6 * 7))"))
        asked = await conversation.until(agent_events.PermissionRequested)
        await conversation.agent.permit(asked.request_id, "allow")
        assert only(await conversation.rest(), agent_events.ToolResult).content.strip() == "42"


async def test_yolo_mode_runs_without_asking(open_opencode: Open, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    events = await (await open_opencode(mode="yolo")).turn(f"bash: touch {outside}")
    assert not any(isinstance(event, agent_events.PermissionRequested) for event in events)
    assert outside.exists()


async def test_plan_mode_changes_nothing(open_opencode: Open, worktree: Path) -> None:
    events = await (await open_opencode(mode="plan")).turn("write a.txt: hi")
    result = only(events, agent_events.ToolResult)
    assert result.is_error
    assert "Plan mode" in result.content
    assert files(worktree) == []


async def test_the_mode_changes_between_turns(open_opencode: Open, worktree: Path) -> None:
    conversation = await open_opencode(mode="plan")
    await conversation.turn("write a.txt: x")
    assert files(worktree) == []
    await conversation.agent.configure(base.Settings("build", f"{PROVIDER}/{MODEL}"))
    await conversation.turn("write a.txt: x")
    assert files(worktree) == ["a.txt"]
    await conversation.agent.configure(base.Settings("yolo", f"{PROVIDER}/{MODEL}"))
    await conversation.turn("bash: touch b.txt")
    assert files(worktree) == ["a.txt", "b.txt"]
    await conversation.agent.configure(base.Settings("plan", f"{PROVIDER}/{MODEL}"))
    await conversation.turn("write c.txt: x")
    assert files(worktree) == ["a.txt", "b.txt"]


async def test_plan_and_yolo_mode_apply_to_sub_agents(open_opencode: Open, worktree: Path) -> None:
    await (await open_opencode(mode="plan")).turn("agent: write a.txt: hi")
    assert files(worktree) == []
    events = await (await open_opencode(mode="yolo")).turn("agent: bash: touch b.txt")
    assert files(worktree) == ["b.txt"]
    assert not any(isinstance(event, agent_events.PermissionRequested) for event in events)


async def test_an_approved_plan_is_carried_out_in_the_same_turn(
    open_opencode: Open, worktree: Path
) -> None:
    conversation = await open_opencode(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    plan = await conversation.until(agent_events.PlanProposed)
    assert plan.text == "weave a scarf"
    assert text(conversation.events) == "Here is a plan."
    assert files(worktree) == []
    await conversation.agent.approve(plan.request_id, base.Settings("build"), None)
    events = await conversation.rest()
    assert (worktree / "planned.txt").read_text() == "weave a scarf\n"
    assert only(events, agent_events.TurnFinished).stop_reason == "end_turn"
    await conversation.turn("write later.txt: x")
    assert (worktree / "later.txt").exists()  # build mode remains set


async def test_an_edited_plan_is_carried_out_with_the_chosen_settings(
    open_opencode: Open, worktree: Path, provider: CompletionsStub
) -> None:
    conversation = await open_opencode(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    plan = await conversation.until(agent_events.PlanProposed)
    settings = base.Settings("yolo", f"{PROVIDER}/stub-2", "megathink", "high")
    await conversation.agent.approve(plan.request_id, settings, "knit a hat")
    await conversation.rest()
    assert (worktree / "planned.txt").read_text() == "knit a hat\n"
    assert provider.requests[-1]["model"] == "stub-2"
    assert provider.requests[-1]["reasoning_effort"] == "high"


async def test_a_discussed_plan_is_revised(open_opencode: Open, worktree: Path) -> None:
    conversation = await open_opencode(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    plan = await conversation.until(agent_events.PlanProposed)
    await conversation.agent.discuss(plan.request_id, base.Prompt("In blue, please"))
    assert (await conversation.until(agent_events.PlanProposed)).text == "weave a scarf, revised"
    assert files(worktree) == []


async def test_a_question_is_answered(open_opencode: Open) -> None:
    conversation = await open_opencode()
    await conversation.agent.send(base.Prompt("ask: Tea or coffee? | Tea | Coffee"))
    asked = await conversation.until(agent_events.QuestionAsked)
    (question,) = asked.questions
    assert [option.label for option in question.options] == ["Tea", "Coffee"]
    await conversation.agent.answer(asked.request_id, {question.question: "Water"})
    assert "Water" in text(await conversation.rest())


async def test_several_questions_accept_several_answers(open_opencode: Open) -> None:
    conversation = await open_opencode()
    await conversation.agent.send(base.Prompt("ask twice: Wool? | Silk?"))
    asked = await conversation.until(agent_events.QuestionAsked)
    assert [(q.question, q.multi_select) for q in asked.questions] == [
        ("Wool?", True),
        ("Silk?", True),
    ]
    await conversation.agent.answer(asked.request_id, {"Wool?": "Yes, Perhaps", "Silk?": "If red"})
    reply = text(await conversation.rest())
    for part in ("Yes", "Perhaps", "If red"):
        assert part in reply
