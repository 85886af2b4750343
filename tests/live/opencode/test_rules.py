"""Permission rules in the user's own configuration of OpenCode, in the modes of a session."""

import json
from pathlib import Path
from typing import Any

import pytest

from model.backends import agent_events, base
from tests.live.completions_stub import CompletionsStub
from tests.live.opencode.conftest import files
from tests.model.backends.agents import Open, asks_permission, only, wait_until

pytestmark = pytest.mark.asyncio(loop_scope="package")

OWN: dict[str, Any] = {
    "permission": {
        "bash": {"rm *": "deny", "touch *": "allow"},
        "edit": {"*": "allow", "*secret/*": "deny"},
        "read": {"*.key": "deny"},
    },
    "agent": {
        "build": {"permission": {"bash": {"git push*": "deny"}}},
        "weaver": {"description": "Weaves", "mode": "subagent", "permission": {"bash": "allow"}},
    },
}

DENIED = (
    "bash: rm a.txt",
    "bash: echo; rm a.txt",
    "write secret/a.txt: hi",
    "read a.key",
    "bash: git push origin HEAD",
)


@pytest.fixture
def own_rules(worktree: Path) -> None:
    """Writes the user's rules to the project's settings."""
    (worktree / "opencode.json").write_text(json.dumps(OWN))
    for name in ("a.txt", "a.key", "b.txt"):
        (worktree / name).write_text("words of a file")


@pytest.mark.usefixtures("own_rules")
@pytest.mark.parametrize("mode", ["plan", "build", "yolo"])
async def test_what_the_user_denies_is_denied_in_every_mode(
    open_opencode: Open, worktree: Path, provider: CompletionsStub, mode: str
) -> None:
    conversation = await open_opencode(mode=mode)
    for words in DENIED:
        events = await conversation.turn(words)
        result = only(events, agent_events.ToolResult)
        assert result.is_error, words
        assert "a rule which prevents you" in result.content, words
        assert not asks_permission(events), words
    assert (worktree / "a.txt").exists()
    assert "secret" not in files(worktree)
    control = await conversation.turn("read b.txt")
    assert "words of a file" in only(control, agent_events.ToolResult).content


@pytest.mark.usefixtures("own_rules")
async def test_what_the_user_allows_runs_without_asking_in_build_mode_but_not_in_plan_mode(
    open_opencode: Open, worktree: Path
) -> None:
    conversation = await open_opencode()
    assert not asks_permission(await conversation.turn("bash: touch one.txt > two.txt"))
    assert {"one.txt", "two.txt"} <= set(files(worktree))
    await conversation.agent.send(base.Prompt("bash: touch three.txt && mkdir four"))
    request = await conversation.until(agent_events.PermissionRequested)
    await conversation.agent.permit(request.request_id, "deny")
    await conversation.rest()
    planning = await open_opencode(mode="plan")
    await planning.agent.send(base.Prompt("bash: touch five.txt"))
    request = await planning.until(agent_events.PermissionRequested)
    await planning.agent.permit(request.request_id, "deny")
    await planning.rest()
    assert only(await planning.turn("write six.txt: hi"), agent_events.ToolResult).is_error
    assert files(worktree) == ["a.key", "a.txt", "b.txt", "one.txt", "opencode.json", "two.txt"]


@pytest.mark.usefixtures("own_rules")
async def test_permissions_of_a_user_defined_sub_agent_do_not_widen_plan_mode(
    open_opencode: Open, worktree: Path
) -> None:
    planning = await open_opencode(mode="plan")
    await planning.agent.send(base.Prompt("agent weaver: bash: mkdir planned"))
    request = await planning.until(agent_events.PermissionRequested)
    await planning.agent.permit(request.request_id, "deny")
    await planning.rest()
    building = await open_opencode()
    assert not asks_permission(await building.turn("agent weaver: bash: mkdir built"))
    assert "built" in files(worktree)
    assert "planned" not in files(worktree)


async def test_a_mode_change_during_a_turn_applies_at_once(
    open_opencode: Open, worktree: Path
) -> None:
    conversation = await open_opencode(mode="yolo")
    until_changed = "for i in $(seq 600); do [ -e changed ] && break; sleep 0.1; done"
    await conversation.agent.send(base.Prompt(f"both: mkdir one; {until_changed} | mkdir two"))
    await wait_until(lambda: files(worktree) == ["one"])  # reported earlier than it runs
    await conversation.agent.configure(base.Settings("plan"))
    (worktree / "changed").touch()
    request = await conversation.until(agent_events.PermissionRequested)
    assert request.input["command"] == "mkdir two"
    assert files(worktree) == ["changed", "one"]
    await conversation.agent.configure(base.Settings("yolo"))
    await conversation.agent.permit(request.request_id, "deny")
    await conversation.rest()
