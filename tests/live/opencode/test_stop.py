"""The real OpenCode stopped or closed at every stage: no process but its server remains."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from model.backends import agent_events, base
from tests.model.backends.agents import Open, find_processes_in, is_running, only, text, wait_until
from tests.patience import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="package")


@pytest.mark.parametrize("stage", ["start", "text", "tool", "permission", "question", "plan"])
async def test_stop_at_every_stage_keeps_the_conversation_usable(
    open_opencode: Open, worktree: Path, stage: str
) -> None:
    prompts = {
        "start": "slow",
        "text": "slow",
        "tool": "bash: touch ready; sleep 60",
        "permission": "bash: sleep 60",
        "question": "ask: Tea or coffee? | Tea | Coffee",
        "plan": "plan: weave a scarf",
    }
    waits: dict[str, Any] = {
        "text": agent_events.TextDelta,
        "permission": agent_events.PermissionRequested,
        "question": agent_events.QuestionAsked,
        "plan": agent_events.PlanProposed,
    }
    mode = {"tool": "yolo", "plan": "plan"}.get(stage, "build")
    conversation = await open_opencode(mode=mode)
    await conversation.agent.send(base.Prompt(prompts[stage]))
    if stage in waits:
        await conversation.until(waits[stage])
    if stage == "tool":
        await wait_until((worktree / "ready").exists)
    async with asyncio.timeout(PATIENCE):  # the command and the whole answer take a minute
        _, events = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"
    asked = [e.request_id for e in conversation.events if hasattr(e, "request_id")]
    withdrawn = [e.request_id for e in events if isinstance(e, agent_events.RequestWithdrawn)]
    assert set(asked) == set(withdrawn)
    assert text(await conversation.turn("say: still here")) == "still here"


async def test_stop_ends_all_processes_of_the_command(open_opencode: Open, worktree: Path) -> None:
    conversation = await open_opencode(mode="yolo")
    command = "setsid sleep 60 & echo $! > pid; mv pid ready; wait"
    await conversation.agent.send(base.Prompt(f"bash: {command}"))
    await wait_until((worktree / "ready").exists)
    _, events = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"
    assert only(events, agent_events.ToolResult).is_error
    pid = int((worktree / "ready").read_text())
    await wait_until(lambda: not is_running(pid))
    await wait_until(lambda: not find_processes_in(worktree))


async def test_closing_in_mid_command_leaves_nothing_but_the_server(
    open_opencode: Open, worktree: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = await open_opencode(worktree=elsewhere)
    conversation = await open_opencode(mode="yolo")
    await conversation.agent.send(base.Prompt("bash: touch ready; setsid sleep 60"))
    await wait_until((worktree / "ready").exists)
    async with asyncio.timeout(PATIENCE):
        await conversation.agent.close()
    await wait_until(lambda: not find_processes_in(worktree))
    assert text(await other.turn("say: still here")) == "still here"
