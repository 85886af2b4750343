"""The demo agent: failures, stops and resumed conversations."""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from model.backends import agent_events, base
from model.backends.demo.backend import PROGRAM, DemoBackend
from model.backends.demo.shell import Shell
from model.domain.modes import ExecutionMode
from tests.model.backends.agents import Open, is_running, only, text, wait_until
from tests.patience import PATIENCE

# Failing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "error_type", "retry_after"),
    [
        ("rate_limit", "rate_limit_error", 30.0),
        ("overloaded", "backend_error", None),
        ("auth", "authentication_error", None),
    ],
)
async def test_a_provider_failure_fails_the_turn_and_the_next_one_works(
    open_demo: Open, kind: str, error_type: str, retry_after: float | None
) -> None:
    conversation = await open_demo()
    failed = only(await conversation.turn(f"/demo fail {kind}"), agent_events.TurnFailed)
    assert (failed.error_type, failed.retry_after) == (error_type, retry_after)
    assert failed.error.endswith(".")
    assert text(await conversation.turn("/demo say still here")) == "still here"


@pytest.mark.parametrize("kind", ["crash", "garbage"])
async def test_a_broken_program_fails_the_turn_and_ends(open_demo: Open, kind: str) -> None:
    conversation = await open_demo()
    async with asyncio.timeout(PATIENCE):
        failed = only(await conversation.turn(f"/demo fail {kind}"), agent_events.TurnFailed)
        await conversation.end()
    assert failed.error_type == "backend_error"
    assert ("SIGKILL" if kind == "crash" else "this is not JSON") in failed.error


@pytest.mark.usefixtures("short_stop_timeout")
async def test_a_program_that_ignores_a_stop_is_killed(open_demo: Open) -> None:
    conversation = await open_demo()
    await conversation.agent.send(base.Prompt("/demo run true\n/demo fail deaf"))
    await conversation.until(agent_events.ToolResult)
    async with asyncio.timeout(PATIENCE):
        _, events = await asyncio.gather(conversation.agent.stop(), conversation.rest())
        await conversation.end()
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"


# Stopping --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "message", "at"),
    [
        ("build", "/demo say " + "word " * 500, agent_events.TextDelta),
        ("build", "/demo stream 1000000 5000", agent_events.TextDelta),
        ("build", "/demo run sleep 60", agent_events.ToolUse),
        ("build", "/demo say x\n/demo wait 60", agent_events.TextDelta),
        ("build", "/demo say x\n/demo fail hang", agent_events.TextDelta),
        ("build", "/demo ask Well? | Yes", agent_events.QuestionAsked),
        ("build", "/demo permission true", agent_events.PermissionRequested),
        ("plan", "/demo plan say x", agent_events.PlanProposed),
        ("plan", "Hello", agent_events.TextDelta),
    ],
)
async def test_stop_works_at_every_stage(
    open_demo: Open, mode: ExecutionMode, message: str, at: type[agent_events.AgentEvent]
) -> None:
    conversation = await open_demo(mode)
    await conversation.agent.send(base.Prompt(message))
    reached = await conversation.until(at)
    _, events = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"
    if isinstance(
        reached,
        agent_events.QuestionAsked | agent_events.PermissionRequested | agent_events.PlanProposed,
    ):
        assert only(events, agent_events.RequestWithdrawn).request_id == reached.request_id
    assert text(await conversation.turn("/demo say still here")) == "still here"


async def test_stop_works_immediately_after_the_prompt(open_demo: Open) -> None:
    conversation = await open_demo()
    await conversation.agent.send(base.Prompt("/demo wait 60"))
    _, events = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("/demo say still here")) == "still here"


async def test_stop_ends_the_command_that_runs(open_demo: Open, worktree: Path) -> None:
    conversation = await open_demo()
    command = "sleep 60 & echo $! $$ > pids; mv pids ready; wait"
    await conversation.agent.send(base.Prompt(f"/demo run {command}"))
    await wait_until((worktree / "ready").exists)
    await asyncio.gather(conversation.agent.stop(), conversation.rest())
    pids = [int(pid) for pid in (worktree / "ready").read_text().split()]
    await wait_until(lambda: not any(map(is_running, pids)))


@pytest.mark.parametrize("by", ["a stop", "the end of the program"])
async def test_a_stop_while_a_command_starts_ends_its_processes(
    worktree: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    start, released = asyncio.create_subprocess_exec, asyncio.Event()
    processes = []

    async def start_late(*words: str, **given: Any) -> asyncio.subprocess.Process:
        process = await start(*words, **given)
        processes.append(process)
        await released.wait()
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start_late)
    command = f"cd '{worktree}'; sleep 60 & echo $! > pid; mv pid ready; wait"
    shell = Shell()
    running = asyncio.create_task(shell.run(command, lambda _: None))
    await wait_until((worktree / "ready").exists)
    ending = asyncio.create_task(shell.end())
    if by == "a stop":
        ending.cancel()
        running.cancel()
    released.set()
    await asyncio.wait({ending, running})
    pid = int((worktree / "ready").read_text())
    await wait_until(lambda: not is_running(pid))
    for process in processes:
        await process.communicate()  # leaves nothing open when the loop ends


async def test_stopping_between_turns_does_nothing(open_demo: Open) -> None:
    conversation = await open_demo()
    await conversation.turn("/demo say x")
    await conversation.agent.stop()
    assert text(await conversation.turn("/demo say y")) == "y"


async def test_closing_during_a_turn_stops_it(open_demo: Open) -> None:
    conversation = await open_demo()
    await conversation.agent.send(base.Prompt("/demo say x\n/demo run sleep 60"))
    await conversation.until(agent_events.ToolUse)
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(conversation.agent.close(), conversation.end())
    assert only(conversation.events, agent_events.TurnFinished).stop_reason == "stopped"


async def test_an_agent_without_a_reader_waits_and_can_be_closed(
    open_demo: Open,
) -> None:
    conversation = await open_demo()
    await conversation.agent.send(base.Prompt("/demo stream 100000000 1000000"))
    await asyncio.sleep(1)
    async with asyncio.timeout(PATIENCE):
        await conversation.agent.close()
    await conversation.end()
    # The capacity of the engine's queue, the reader and the pipe; it streams a million a second.
    assert len(conversation.events) < 50_000
    assert only(conversation.events, agent_events.TurnFinished).stop_reason == "stopped"


def test_the_program_ends_by_itself_when_its_owner_is_gone(worktree: Path) -> None:
    program = subprocess.Popen(
        [sys.executable, "-I", str(PROGRAM)],
        cwd=worktree,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert program.stdin is not None
    assert program.stdout is not None
    memory = worktree / "memory.jsonl"
    opening = {"type": "open", "mode": "build", "memory": str(memory), "text_only": False}
    program.stdin.write(json.dumps(opening).encode() + b"\n")
    program.stdin.write(b'{"type": "prompt", "text": "/demo run sleep 60 & echo $! > pid; wait"}\n')
    program.stdin.flush()
    program.stdout.readline()
    while not (worktree / "pid").exists() or not (worktree / "pid").read_text():
        assert program.poll() is None
        time.sleep(0.01)
    program.stdin.close()
    assert program.wait(PATIENCE) == 0
    program.stdout.close()
    pid = int((worktree / "pid").read_text())
    while is_running(pid):
        time.sleep(0.01)


# The conversation ------------------------------------------------------------------------------


async def test_a_resumed_conversation_knows_the_earlier_turns(
    open_demo: Open, worktree: Path
) -> None:
    before = await open_demo()
    await before.turn("/demo say hello")
    token = only(before.events, agent_events.ConversationIdentified).resume_token
    await before.agent.close()
    after = await open_demo(resume_token=token)
    assert "- /demo say hello" in text(await after.turn("/demo recall"))
    assert list(worktree.iterdir()) == []


async def test_a_resumed_conversation_that_is_lost_starts_over(open_demo: Open) -> None:
    conversation = await open_demo(resume_token="long-gone")
    assert text(await conversation.turn("/demo recall")) == "You said nothing before."


async def test_hostile_modules_in_the_worktree_are_not_imported(
    open_demo: Open, worktree: Path
) -> None:
    (worktree / "json.py").write_text("raise SystemExit")
    (worktree / "model").mkdir()
    (worktree / "model" / "__init__.py").write_text("raise SystemExit")
    assert text(await (await open_demo()).turn("/demo say fine")) == "fine"


async def test_the_tour_proposes_edits_and_explains(open_demo: Open, worktree: Path) -> None:
    conversation = await open_demo("plan")
    await conversation.agent.send(base.Prompt("Hello?"))
    plan = await conversation.until(agent_events.PlanProposed)
    assert list(worktree.iterdir()) == []
    await conversation.agent.approve(plan.request_id, base.Settings("build"), None)
    await conversation.rest()
    assert text(conversation.events, "thinking")
    words = text(conversation.events).lower()
    assert all(word in words for word in ("mode", "plan", "approve", "diff", "stop", "```"))
    edit = only(conversation.events, agent_events.ToolUse)
    assert (worktree / "spinney-tour.md").read_text() == edit.input["new_content"]


@pytest.mark.longer
async def test_the_tour_outside_plan_mode_edits_at_once(open_demo: Open, worktree: Path) -> None:
    (worktree / "spinney-tour.md").write_text("Visit 1, in plan mode.\n")
    events = await (await open_demo("yolo")).turn("Hello again")
    assert only(events, agent_events.ToolUse).input["old_content"] == "Visit 1, in plan mode.\n"
    assert (worktree / "spinney-tour.md").read_text().endswith("Visit 2, in yolo mode.\n")


async def test_the_probe_reports_no_problem() -> None:
    assert (await DemoBackend().probe()).problem is None
