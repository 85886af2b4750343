"""Session settings passed to the real OpenCode, and the commands it supports."""

import json
import sys
from pathlib import Path

import pytest

from model.backends import agent_events, base
from model.backends.opencode.backend import OpenCodeBackend
from tests.live.completions_stub import MODEL, PROVIDER, CompletionsStub
from tests.model.backends.agents import Open, get_resume_token, only, text, wait_for_commands

pytestmark = pytest.mark.asyncio(loop_scope="package")


@pytest.mark.parametrize("mode", ["build", "yolo"])
async def test_without_sub_agents_their_tool_is_refused(open_opencode: Open, mode: str) -> None:
    conversation = await open_opencode(mode=mode, max_sub_agents=0)
    result = only(await conversation.turn("agent: say: hello"), agent_events.ToolResult)
    assert result.is_error
    assert "no sub-agents" in result.content


async def test_each_worktrees_environment_reaches_only_its_commands(
    open_opencode: Open, environment: dict[str, str], tmp_path: Path
) -> None:
    seen = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        own = {**environment, "SPINNEY_BRANCH": name}
        conversation = await open_opencode(mode="yolo", worktree=folder, environment=own)
        events = await conversation.turn(
            "bash: echo $SPINNEY_BRANCH ${OPENCODE_SERVER_PASSWORD:-none} $SPINNEY_AGENT"
        )
        seen.append(only(events, agent_events.ToolResult).content.split())
    (one, first_password, first), (two, second_password, second) = seen
    assert (one, two) == ("one", "two")
    assert (first_password, second_password) == ("none", "none")
    assert first == second  # the same server


async def test_mcp_servers_are_listed_including_disabled_ones(
    open_opencode: Open, provider: CompletionsStub
) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit(1)"]
    profile = {
        "mcp": {
            "one": {"type": "local", "command": command},
            "two": {"type": "local", "command": command},
        }
    }
    conversation = await open_opencode(
        profile=profile, disabled_mcp_servers=frozenset({"two", "gone"})
    )
    await conversation.agent.send(base.Prompt("say: hello"))
    seen = await conversation.until(agent_events.McpServersListed)
    assert {"one", "two"} <= set(seen.names)


async def test_changed_settings_reach_the_provider(
    open_opencode: Open, provider: CompletionsStub
) -> None:
    conversation = await open_opencode(system_prompt="Speak of looms.", effort="low")
    await conversation.turn("say: one")
    assert "Speak of looms." in json.dumps(provider.requests[-1]["messages"])
    assert provider.requests[-1]["reasoning_effort"] == "low"
    settings = base.Settings("build", f"{PROVIDER}/stub-2", "megathink", "high")
    await conversation.agent.configure(settings)
    await conversation.turn("say: two")
    assert provider.requests[-1]["model"] == "stub-2"
    assert provider.requests[-1]["reasoning_effort"] == "high"


async def test_text_only_has_no_tools_and_is_not_persisted(
    open_opencode: Open, provider: CompletionsStub
) -> None:
    conversation = await open_opencode(text_only=True, mode="plan", system_prompt="Write a name.")
    assert text(await conversation.turn("say: Loom")) == "Loom"
    assert not provider.requests[-1].get("tools")
    assert "Write a name." in json.dumps(provider.requests[-1]["messages"])
    await conversation.agent.close()
    again = await open_opencode(resume_token=get_resume_token(conversation))
    assert "starts a new one" in only(await again.turn("say: hello"), agent_events.Notice).text


async def test_a_project_command_runs_and_can_be_stopped(
    open_opencode: Open, worktree: Path, environment: dict[str, str]
) -> None:
    settings = json.loads(Path(environment["OPENCODE_CONFIG"]).read_text())
    commands = {"weave": {"template": "say: woven $ARGUMENTS"}, "idle": {"template": "slow"}}
    (worktree / "opencode.json").write_text(json.dumps({**settings, "command": commands}))
    conversation = await open_opencode()
    await conversation.agent.send(base.Prompt("/idle"))
    await conversation.until(agent_events.TextDelta)
    await conversation.agent.stop()
    assert only(await conversation.rest(), agent_events.TurnFinished).stop_reason == "stopped"
    events = await conversation.turn("/weave a long scarf")
    assert text(events) == "woven a long scarf"
    assert only(events, agent_events.TurnFinished).stop_reason == "end_turn"
    assert text(await conversation.turn("say: again")) == "again"


async def test_commands_are_listed_and_those_in_files_are_found_without_running_it(
    backend: OpenCodeBackend,
    open_opencode: Open,
    worktree: Path,
    environment: dict[str, str],
) -> None:
    (worktree / ".opencode/command/area").mkdir(parents=True)
    weave = "---\ndescription: Weave a cloth\n---\nsay: woven $1 in $2\n"
    (worktree / ".opencode/command/area/weave.md").write_text(weave)
    (worktree / ".claude/skills/wind").mkdir(parents=True)
    skill = "---\nname: wind\ndescription: Wind yarn\n---\nsay: wound\n"
    (worktree / ".claude/skills/wind/SKILL.md").write_text(skill)
    seen = {each.name for each in await backend.list_commands(worktree, environment)}
    assert seen == {"area/weave", "wind", "compact"}
    conversation = await open_opencode()
    await conversation.agent.send(base.Prompt("/area/weave wool red"))
    assert text(await conversation.rest()) == "woven wool in red"
    commands = await wait_for_commands(conversation)  # sent before or after the end
    assert commands["area/weave"].description == "Weave a cloth"
    assert commands["area/weave"].argument_hint == "[1] [2]"
    assert commands["init"].description
    assert seen <= set(commands)
    assert "wound" in text(await conversation.turn("/wind"))


async def test_a_user_defined_agent_gets_the_message_that_begins_with_its_name(
    open_opencode: Open, worktree: Path, provider: CompletionsStub
) -> None:
    agents = worktree / ".opencode/agent"
    agents.mkdir(parents=True)
    header = "---\ndescription: Reviews looms\nmode: primary\nmodel: stub/stub-2\n---\n"
    (agents / "reviewer.md").write_text(f"{header}You review looms.")
    (agents / "weaver.md").write_text("---\ndescription: Weaves\nmode: subagent\n---\nWeave.")
    conversation = await open_opencode()
    events = await conversation.turn("/reviewer write a.txt: looks good")
    assert "You review looms." in json.dumps(provider.requests[-1]["messages"])
    assert provider.requests[-1]["model"] == "stub-2"
    assert (worktree / "a.txt").read_text() == "looks good"
    assert (await wait_for_commands(conversation))["reviewer"].description == "Reviews looms"
    await conversation.agent.configure(base.Settings("plan", f"{PROVIDER}/{MODEL}"))
    events = await conversation.turn("/reviewer write b.txt: looks good")
    assert only(events, agent_events.ToolResult).is_error
    await conversation.turn("/weaver say: hello")
    assert "weaver" in json.dumps(provider.requests[-1]["messages"][-1])
    await conversation.turn("say: hello")
    assert "You review looms." not in json.dumps(provider.requests[-1]["messages"])


@pytest.mark.parametrize("model", [f"{PROVIDER}/{MODEL}", ""])
async def test_compact_compacts_the_conversation(open_opencode: Open, model: str) -> None:
    conversation = await open_opencode(model=model)
    await conversation.turn("say: the colour is blue")
    events = await conversation.turn("/compact")
    assert agent_events.COMPACTION_NOTE in events
    assert only(events, agent_events.TurnFinished).stop_reason == "end_turn"
    assert text(await conversation.turn("say: again")) == "again"


async def test_an_unknown_command_is_sent_as_text(
    open_opencode: Open, provider: CompletionsStub
) -> None:
    conversation = await open_opencode()
    only(await conversation.turn("/etc/hosts is what?"), agent_events.TurnFinished)
    assert "/etc/hosts is what?" in json.dumps(provider.requests[-1]["messages"])
