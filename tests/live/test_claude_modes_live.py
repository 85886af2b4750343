"""The real Claude Code in plan, build and yolo mode: permissions, and handling of plans."""

from pathlib import Path

import pytest

from model.backends import agent_events, base
from model.base.errors import SpinneyError
from tests.live.provider_stub import ProviderStub
from tests.model.backends.agents import Open, only, text


async def test_yolo_mode_runs_without_asking(open_claude: Open, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    events = await (await open_claude(mode="yolo")).turn(f"bash: python3 -V && touch {outside}")
    assert not any(isinstance(event, agent_events.PermissionRequested) for event in events)
    assert outside.exists()


async def test_plan_mode_changes_nothing(open_claude: Open, folder: Path) -> None:
    events = await (await open_claude(mode="plan")).turn("write a.txt: hi")
    assert only(events, agent_events.ToolResult).is_error
    assert list(folder.iterdir()) == []


async def test_the_mode_changes_between_turns(open_claude: Open, folder: Path) -> None:
    conversation = await open_claude(mode="plan")
    agent = conversation.agent
    assert only(await conversation.turn("write a.txt: hi"), agent_events.ToolResult).is_error
    await agent.configure(base.Settings("build", "sonnet", "think"))
    assert not only(await conversation.turn("write a.txt: hi"), agent_events.ToolResult).is_error
    await agent.configure(base.Settings("yolo", "sonnet", "think"))
    events = await conversation.turn("bash: python3 -c 'print(6 * 7)'")
    assert only(events, agent_events.ToolResult).content == "42"
    await agent.configure(base.Settings("plan", "sonnet", "think"))
    assert only(await conversation.turn("write b.txt: hi"), agent_events.ToolResult).is_error
    assert [path.name for path in folder.iterdir()] == ["a.txt"]
    assert not any(
        isinstance(e, agent_events.ModeChanged | agent_events.PermissionRequested)
        for e in conversation.events
    )


async def test_a_mode_change_by_the_agent_is_reported(open_claude: Open, folder: Path) -> None:
    conversation = await open_claude(mode="yolo")
    assert (
        only(await conversation.turn("call: EnterPlanMode"), agent_events.ModeChanged).mode
        == "plan"
    )
    assert only(await conversation.turn("write a.txt: hi"), agent_events.ToolResult).is_error
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("profile", [{}, {"disableAllHooks": True}])
async def test_plan_mode_uses_the_web_only_if_allowed(
    open_claude: Open, profile: dict[str, bool]
) -> None:
    fetch = 'call: WebFetch {"url": "http://127.0.0.1:9/", "prompt": "Read it"}'
    conversation = await open_claude(mode="plan", web_in_plan=False, profile=profile)
    refused = only(await conversation.turn(fetch), agent_events.ToolResult)
    assert "the web may not be used" in refused.content
    allowed = base.Settings("plan", "sonnet", "think", web_in_plan=True)
    await conversation.agent.configure(allowed)
    events = await conversation.turn(fetch)
    assert "the web may not be used" not in only(events, agent_events.ToolResult).content
    assert not any(isinstance(e, agent_events.PermissionRequested) for e in conversation.events)


async def test_the_programs_own_file_for_the_plan_is_not_shown_as_an_edit(
    open_claude: Open, claude_environment: dict[str, str]
) -> None:
    conversation = await open_claude(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    plan = await conversation.until(agent_events.PlanProposed)
    (file,) = Path(claude_environment["CLAUDE_CONFIG_DIR"], "plans").iterdir()
    assert file.read_text() == plan.text == "weave a scarf"
    await conversation.agent.stop()
    await conversation.rest()
    assert not any(
        isinstance(e, agent_events.ToolUse | agent_events.ToolResult) for e in conversation.events
    )


async def test_an_answer_in_plain_text_ends_the_turn_without_a_plan(open_claude: Open) -> None:
    events = await (await open_claude(mode="plan")).turn("say: My plan: 1. Warp. 2. Weave.")
    assert text(events) == "My plan: 1. Warp. 2. Weave."
    assert only(events, agent_events.TurnFinished).stop_reason == "end_turn"
    assert not any(isinstance(e, agent_events.PlanProposed) for e in events)


async def test_an_approved_plan_is_carried_out_in_the_same_turn(
    open_claude: Open, folder: Path
) -> None:
    conversation = await open_claude(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    plan = await conversation.until(agent_events.PlanProposed)
    assert plan.text == "weave a scarf"
    assert list(folder.iterdir()) == []
    await conversation.agent.approve(plan.request_id, base.Settings("build"), None)
    events = await conversation.rest()
    assert (folder / "planned.txt").read_text() == "weave a scarf\n"
    assert only(events, agent_events.TurnFinished).stop_reason == "end_turn"
    await conversation.turn("write later.txt: x")
    assert (folder / "later.txt").exists()  # build mode remains set


async def test_a_plan_is_approved_with_other_settings_and_the_users_edits(
    open_claude: Open, folder: Path, provider: ProviderStub
) -> None:
    conversation = await open_claude(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    plan = await conversation.until(agent_events.PlanProposed)
    settings = base.Settings("yolo", "opus", "ultrathink", "max")
    await conversation.agent.approve(plan.request_id, settings, "weave two scarves")
    await conversation.rest()
    request = provider.requests[-1]
    assert "opus" in request["model"]
    assert "weave two scarves" in str(request["messages"])
    assert (folder / "planned.txt").exists()
    events = await conversation.turn("bash: python3 -c 'print(6 * 7)'")  # yolo from now on
    assert only(events, agent_events.ToolResult).content == "42"
    # 2.1.330 keeps the effort of the running turn.
    assert provider.requests[-1]["output_config"]["effort"] == "max"


async def test_a_discussed_plan_is_revised(
    open_claude: Open, folder: Path, provider: ProviderStub
) -> None:
    conversation = await open_claude(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    plan = await conversation.until(agent_events.PlanProposed)
    await conversation.agent.discuss(plan.request_id, base.Prompt("In blue, please"))
    assert (await conversation.until(agent_events.PlanProposed)).text == "weave a scarf, revised"
    with pytest.raises(SpinneyError) as raised:  # the old one was replaced
        await conversation.agent.approve(plan.request_id, base.Settings("build"), None)
    assert raised.value.error_type == "conflict"
    assert "In blue, please" in str(provider.requests[-1]["messages"])
    assert list(folder.iterdir()) == []
