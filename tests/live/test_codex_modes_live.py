"""What the modes of a session allow the real Codex, and its requests to the user."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from model.backends import agent_events, base
from tests.live.codex_setup import contents
from tests.live.responses_stub import ResponsesStub
from tests.live.test_claude_setup_live import SERVER
from tests.model.backends.agents import (
    Open,
    only,
    text,
    wait_until,
)


async def test_build_mode_asks_before_a_command_leaves_the_sandbox_and_a_denial_holds(
    open_codex: Open, worktree: Path, responses: ResponsesStub
) -> None:
    conversation = await open_codex()
    await conversation.agent.send(base.Prompt("bash: touch a"))
    asked = await conversation.until(agent_events.PermissionRequested)
    assert (asked.tool_name, asked.input) == ("bash", {"command": "touch a"})
    assert asked.description == "Run a command"
    await conversation.agent.permit(asked.request_id, "deny", "Not before lunch")
    events = await conversation.rest()
    assert only(events, agent_events.ToolResult).is_error
    assert contents(worktree) == []
    assert "Not before lunch" in str(responses.requests[-1]["input"])


async def test_a_patch_outside_of_the_worktree_is_asked_for_as_an_edit(
    open_codex: Open, place: Path
) -> None:
    outside = place / "notes.txt"
    conversation = await open_codex()
    await conversation.agent.send(base.Prompt(f"write {outside}: hi"))
    asked = await conversation.until(agent_events.PermissionRequested)
    assert asked.tool_name == "edit"
    assert asked.input == {"file_path": str(outside), "old_content": "", "new_content": "hi\n"}
    await conversation.agent.permit(asked.request_id, "allow")
    await conversation.rest()
    assert outside.read_text() == "hi\n"


async def test_the_sandbox_of_build_mode_writes_only_in_the_worktree(
    open_codex: Open, worktree: Path, place: Path
) -> None:
    outside = place / "notes.txt"
    conversation = await open_codex()
    events = await conversation.turn(f"sandboxed: touch inside; touch {outside}")
    assert not any(isinstance(event, agent_events.PermissionRequested) for event in events)
    assert contents(worktree) == ["inside"]
    assert not outside.exists()


async def test_a_linked_worktree_allows_commits_but_no_writes_to_hooks(
    open_codex: Open, worktree: Path, place: Path
) -> None:
    conversation = await open_codex()
    events = await conversation.turn("sandboxed: touch a && git add a && git commit -q -m 'Add a'")
    log = ["git", "-C", str(worktree), "log", "--format=%s", "-1"]
    assert subprocess.check_output(log, text=True, timeout=30) == "Add a\n", events
    hook = place / "repository" / ".git" / "hooks" / "pre-push"
    await conversation.turn(f"sandboxed: echo evil > {hook}")
    assert not hook.exists()


async def test_yolo_mode_runs_without_asking(open_codex: Open, place: Path) -> None:
    outside = place / "notes.txt"
    events = await (await open_codex(mode="yolo")).turn(f"bash: touch {outside}")
    assert not any(isinstance(event, agent_events.PermissionRequested) for event in events)
    assert outside.exists()


async def test_plan_mode_changes_nothing(open_codex: Open, worktree: Path) -> None:
    conversation = await open_codex(mode="plan")
    await conversation.turn("write a.txt: hi")
    await conversation.turn("bash: touch b.txt")
    assert contents(worktree) == []


async def test_a_mode_change_applies_from_the_next_turn(open_codex: Open, worktree: Path) -> None:
    conversation = await open_codex(mode="plan")
    await conversation.turn("write a.txt: hi")
    await conversation.agent.configure(base.Settings("yolo", "gpt-5.5"))
    await conversation.turn("bash: touch b.txt")
    await conversation.agent.configure(base.Settings("plan", "gpt-5.5"))
    await conversation.turn("bash: touch c.txt")
    assert contents(worktree) == ["b.txt"]


async def test_a_mode_change_during_a_turn_is_reported_to_apply_from_the_next_turn(
    open_codex: Open, worktree: Path
) -> None:
    conversation = await open_codex(mode="yolo")
    command = "touch ready; while [ ! -e go ]; do sleep 0.1; done"
    await conversation.agent.send(base.Prompt(f"bash: {command}"))
    await wait_until((worktree / "ready").exists)
    await conversation.agent.configure(base.Settings("plan", "gpt-5.5"))
    assert (await conversation.until(agent_events.TurnModeReported)).mode == "yolo"
    (worktree / "go").touch()
    await conversation.rest()
    await conversation.turn("bash: touch late.txt")
    assert not (worktree / "late.txt").exists()


async def test_an_mcp_tool_is_asked_for_with_its_arguments(
    open_codex: Open, codex_environment: dict[str, str], place: Path
) -> None:
    (place / "server.py").write_text(SERVER)
    settings = Path(codex_environment["CODEX_HOME"]) / "config.toml"
    server = f"[mcp_servers.loom]\ncommand = '{sys.executable}'\nargs = ['{place}/server.py']\n"
    settings.write_text(settings.read_text() + server)
    conversation = await open_codex()
    await conversation.agent.send(base.Prompt('mcp: loom greet {"name": "Ada"}'))
    asked = await conversation.until(agent_events.PermissionRequested)
    used = only(conversation.events, agent_events.ToolUse)
    assert (asked.tool_name, asked.input) == ("mcp__loom__greet", {"name": "Ada"})
    assert (used.name, used.id) == ("mcp__loom__greet", asked.tool_use_id)
    await conversation.agent.permit(asked.request_id, "allow")
    events = await conversation.rest()
    assert only(events, agent_events.ToolResult).content == "Hello from a server"


async def test_an_approved_plan_is_carried_out_in_the_same_turn(
    open_codex: Open, worktree: Path, responses: ResponsesStub
) -> None:
    conversation = await open_codex(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    plan = await conversation.until(agent_events.PlanProposed)
    assert plan.text == "weave a scarf"
    assert text(conversation.events).strip() == "Here is a plan."
    assert contents(worktree) == []
    approved = base.Settings("build", "gpt-5.4", "ultrathink", "high")
    await conversation.agent.approve(plan.request_id, approved, None)
    events = await conversation.rest()
    assert (worktree / "planned.txt").read_text() == "weave a scarf\n"
    finished = only(events, agent_events.TurnFinished)
    assert finished.stop_reason == "end_turn"
    assert finished.usage.input_tokens == 300  # of the plan and of what followed
    request = responses.requests[-1]
    assert (request["model"], request["reasoning"]["effort"]) == ("gpt-5.4", "high")
    await conversation.turn("write later.txt: x")
    assert (worktree / "later.txt").exists()  # build mode remains set


async def test_an_edited_plan_is_carried_out_in_yolo_mode(open_codex: Open, worktree: Path) -> None:
    conversation = await open_codex(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    plan = await conversation.until(agent_events.PlanProposed)
    settings = base.Settings("yolo", "gpt-5.5")
    await conversation.agent.approve(plan.request_id, settings, "weave two scarves")
    await conversation.rest()
    assert (worktree / "planned.txt").read_text() == "weave two scarves\n"
    events = await conversation.turn("bash: touch b.txt")
    assert not any(isinstance(event, agent_events.PermissionRequested) for event in events)
    assert (worktree / "b.txt").exists()


async def test_a_discussed_plan_is_revised(open_codex: Open, worktree: Path) -> None:
    conversation = await open_codex(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    first = await conversation.until(agent_events.PlanProposed)
    await conversation.agent.configure(base.Settings("build", "gpt-5.5"))
    await conversation.agent.discuss(first.request_id, base.Prompt("In blue, please"))
    second = await conversation.until(agent_events.PlanProposed)
    assert second.text == "weave a scarf, revised"
    assert second.request_id != first.request_id
    assert contents(worktree) == []


async def test_a_stop_withdraws_a_proposed_plan(open_codex: Open) -> None:
    conversation = await open_codex(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    plan = await conversation.until(agent_events.PlanProposed)
    _, events = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(events, agent_events.RequestWithdrawn).request_id == plan.request_id
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("say: still here")) == "still here"


@pytest.mark.parametrize("mode", ["plan", "build", "yolo"])
async def test_a_question_is_answered(open_codex: Open, mode: str) -> None:
    conversation = await open_codex(mode=mode)
    await conversation.agent.send(base.Prompt("ask: Tea or coffee? | Tea | Coffee"))
    asked = await conversation.until(agent_events.QuestionAsked)
    (question,) = asked.questions
    assert [option.label for option in question.options] == ["Tea", "Coffee"]
    await conversation.agent.answer(asked.request_id, {question.question: "Water"})
    assert "Water" in text(await conversation.rest())


async def test_a_question_is_dismissed_by_a_stop(open_codex: Open) -> None:
    conversation = await open_codex()
    await conversation.agent.send(base.Prompt("ask: Tea or coffee? | Tea | Coffee"))
    asked = await conversation.until(agent_events.QuestionAsked)
    _, events = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(events, agent_events.RequestWithdrawn).request_id == asked.request_id
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("say: still here")) == "still here"
