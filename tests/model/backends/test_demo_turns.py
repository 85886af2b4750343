"""The demo agent when things go wrong, when it is stopped, and when it comes back."""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from model.backends import base
from model.backends.demo.backend import PROGRAM, DemoBackend
from model.backends.demo.shell import Shell
from model.domain.resources import ExecutionMode
from tests.model.backends.agents import Open, becomes, lives, only, text
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
    failed = only(await conversation.turn(f"/demo fail {kind}"), base.TurnFailed)
    assert (failed.error_type, failed.retry_after) == (error_type, retry_after)
    assert failed.error.endswith(".")
    assert text(await conversation.turn("/demo say still here")) == "still here"


@pytest.mark.parametrize("kind", ["crash", "garbage"])
async def test_a_broken_program_fails_the_turn_and_ends(open_demo: Open, kind: str) -> None:
    conversation = await open_demo()
    async with asyncio.timeout(PATIENCE):
        failed = only(await conversation.turn(f"/demo fail {kind}"), base.TurnFailed)
        await conversation.end()
    assert failed.error_type == "backend_error"
    assert ("SIGKILL" if kind == "crash" else "this is not JSON") in failed.error


@pytest.mark.usefixtures("impatience")
async def test_a_program_that_hears_no_stop_is_killed(open_demo: Open) -> None:
    conversation = await open_demo()
    await conversation.agent.send(base.Prompt("/demo run true\n/demo fail deaf"))
    await conversation.until(base.ToolResult)
    async with asyncio.timeout(PATIENCE):
        _, told = await asyncio.gather(conversation.agent.stop(), conversation.rest())
        await conversation.end()
    assert only(told, base.TurnFinished).stop_reason == "stopped"


# Stopping --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "message", "at"),
    [
        ("build", "/demo say " + "word " * 500, base.TextDelta),
        ("build", "/demo stream 1000000 5000", base.TextDelta),
        ("build", "/demo run sleep 60", base.ToolUse),
        ("build", "/demo say x\n/demo wait 60", base.TextDelta),
        ("build", "/demo say x\n/demo fail hang", base.TextDelta),
        ("build", "/demo ask Well? | Yes", base.QuestionAsked),
        ("build", "/demo permission true", base.PermissionRequested),
        ("plan", "/demo plan say x", base.PlanProposed),
        ("plan", "Hello", base.TextDelta),
    ],
)
async def test_stop_works_at_every_stage(
    open_demo: Open, mode: ExecutionMode, message: str, at: type[base.AgentEvent]
) -> None:
    conversation = await open_demo(mode)
    await conversation.agent.send(base.Prompt(message))
    reached = await conversation.until(at)
    _, told = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(told, base.TurnFinished).stop_reason == "stopped"
    if isinstance(reached, base.QuestionAsked | base.PermissionRequested | base.PlanProposed):
        assert only(told, base.RequestWithdrawn).request_id == reached.request_id
    assert text(await conversation.turn("/demo say still here")) == "still here"


async def test_stop_at_once_stops_too(open_demo: Open) -> None:
    conversation = await open_demo()
    await conversation.agent.send(base.Prompt("/demo wait 60"))
    _, told = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(told, base.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("/demo say still here")) == "still here"


async def test_stop_ends_the_command_that_runs(open_demo: Open, worktree: Path) -> None:
    conversation = await open_demo()
    command = "sleep 60 & echo $! $$ > pids; mv pids ready; wait"
    await conversation.agent.send(base.Prompt(f"/demo run {command}"))
    await becomes((worktree / "ready").exists)
    await asyncio.gather(conversation.agent.stop(), conversation.rest())
    pids = [int(pid) for pid in (worktree / "ready").read_text().split()]
    await becomes(lambda: not any(map(lives, pids)))


@pytest.mark.parametrize("by", ["a stop", "the end of the program"])
async def test_what_ends_while_a_command_begins_ends_what_that_has_started(
    worktree: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    start, told = asyncio.create_subprocess_exec, asyncio.Event()
    made = []

    async def told_late(*words: str, **given: Any) -> asyncio.subprocess.Process:
        process = await start(*words, **given)
        made.append(process)
        await told.wait()
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", told_late)
    command = f"cd {worktree}; sleep 60 & echo $! > pid; mv pid ready; wait"
    shell = Shell()
    running = asyncio.create_task(shell.run(command, lambda _: None))
    await becomes((worktree / "ready").exists)
    ending = asyncio.create_task(shell.end())
    if by == "a stop":
        ending.cancel()
        running.cancel()
    told.set()
    await asyncio.wait({ending, running})
    pid = int((worktree / "ready").read_text())
    await becomes(lambda: not lives(pid))
    for process in made:
        await process.communicate()  # Nothing of it outlives the loop.


async def test_stopping_between_turns_does_nothing(open_demo: Open) -> None:
    conversation = await open_demo()
    await conversation.turn("/demo say x")
    await conversation.agent.stop()
    assert text(await conversation.turn("/demo say y")) == "y"


async def test_closing_in_mid_turn_stops_it(open_demo: Open) -> None:
    conversation = await open_demo()
    await conversation.agent.send(base.Prompt("/demo say x\n/demo run sleep 60"))
    await conversation.until(base.ToolUse)
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(conversation.agent.close(), conversation.end())
    assert only(conversation.told, base.TurnFinished).stop_reason == "stopped"


async def test_an_agent_that_nobody_listens_to_waits_and_is_closed_all_the_same(
    open_demo: Open,
) -> None:
    conversation = await open_demo()
    await conversation.agent.send(base.Prompt("/demo stream 100000000 1000000"))
    await asyncio.sleep(1)
    async with asyncio.timeout(PATIENCE):
        await conversation.agent.close()
    await conversation.end()
    # What the engine's queue, our reader and the pipe hold; it streams a million a second.
    assert len(conversation.told) < 50_000
    assert only(conversation.told, base.TurnFinished).stop_reason == "stopped"


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
    while lives(pid):
        time.sleep(0.01)


# The conversation ------------------------------------------------------------------------------


async def test_a_resumed_conversation_knows_the_earlier_turns(
    open_demo: Open, worktree: Path
) -> None:
    before = await open_demo()
    await before.turn("/demo say hello")
    token = only(before.told, base.ConversationIdentified).resume_token
    await before.agent.close()
    after = await open_demo(resume_token=token)
    assert "- /demo say hello" in text(await after.turn("/demo recall"))
    assert list(worktree.iterdir()) == []


async def test_a_resumed_conversation_that_is_lost_begins_afresh(open_demo: Open) -> None:
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
    plan = await conversation.until(base.PlanProposed)
    assert list(worktree.iterdir()) == []
    await conversation.agent.approve(plan.request_id, base.Settings("build"), None)
    await conversation.rest()
    assert text(conversation.told, "thinking")
    words = text(conversation.told).lower()
    assert all(word in words for word in ("mode", "plan", "approve", "diff", "stop", "```"))
    edit = only(conversation.told, base.ToolUse)
    assert (worktree / "spinney-tour.md").read_text() == edit.input["new_content"]


@pytest.mark.longer
async def test_the_tour_outside_plan_mode_edits_at_once(open_demo: Open, worktree: Path) -> None:
    (worktree / "spinney-tour.md").write_text("Visit 1, in plan mode.\n")
    told = await (await open_demo("yolo")).turn("Hello again")
    assert only(told, base.ToolUse).input["old_content"] == "Visit 1, in plan mode.\n"
    assert (worktree / "spinney-tour.md").read_text().endswith("Visit 2, in yolo mode.\n")


async def test_the_probe_finds_it() -> None:
    assert (await DemoBackend().probe()).problem is None
