"""Permissions, modes and plans of agents of the Agent Client Protocol."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from model.backends import agent_events, base
from model.backends.acp.settings import AgentSettings
from model.base.errors import SpinneyError
from tests.model.backends.acp_small import ROW, TURN_USAGE, Json, read_prompts, read_requests
from tests.model.backends.agents import Open, only, text, wait_until


def notes(events: list[agent_events.AgentEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, agent_events.ConversationNote)]


# Permissions -------------------------------------------------------------------------------------


async def test_a_command_needs_permission_and_runs_once_allowed(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("bash: echo hi"))
    asked = await conversation.until(agent_events.PermissionRequested)
    assert (asked.tool_name, asked.description) == ("bash", "Run echo hi")
    assert asked.input["command"] == "echo hi"
    assert asked.tool_use_id == "b"
    await conversation.agent.permit(asked.request_id, "allow")
    assert only(await conversation.rest(), agent_events.ToolResult).content == "hi\n"


async def test_the_agents_option_to_always_allow_is_never_chosen(
    open_small: Open, request_log: Path
) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("bash: echo hi"))
    asked = await conversation.until(agent_events.PermissionRequested)
    await conversation.agent.permit(asked.request_id, "allow")
    await conversation.rest()
    chosen = [line["outcome"]["optionId"] for line in read_requests(request_log, "permission")]
    assert chosen == ["once"]


@pytest.mark.parametrize("gives_up", [False, True])
async def test_a_denial_holds_and_its_reason_reaches_the_agent_in_the_same_turn(
    open_small: Open, request_log: Path, worktree: Path, gives_up: bool
) -> None:
    conversation = await open_small(can={"gives_up": gives_up})
    await conversation.agent.send(base.Prompt("bash: touch a.txt"))
    asked = await conversation.until(agent_events.PermissionRequested)
    await conversation.agent.permit(asked.request_id, "deny", "Use the loom.")
    events = await conversation.rest()
    assert only(events, agent_events.ToolResult).is_error
    assert list(worktree.iterdir()) == []
    assert read_prompts(request_log)[1] == ["I did not allow this: Run touch a.txt. Use the loom."]
    assert only(events, agent_events.TurnFinished).usage == TURN_USAGE + TURN_USAGE


async def test_a_denial_without_a_reason_sends_no_further_message(
    open_small: Open, request_log: Path
) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("bash: echo hi"))
    asked = await conversation.until(agent_events.PermissionRequested)
    await conversation.agent.permit(asked.request_id, "deny")
    await conversation.rest()
    assert len(read_prompts(request_log)) == 1


async def test_a_request_outside_of_a_turn_is_left_to_the_engine_which_refuses_it(
    open_small: Open, request_log: Path, worktree: Path
) -> None:
    conversation = await open_small(mode="yolo")
    pid = int(text(await conversation.turn("later: touch a.txt")))
    os.kill(pid, signal.SIGUSR1)
    asked = await conversation.until(agent_events.PermissionRequested)
    await conversation.agent.permit(asked.request_id, "deny", "No turn.")
    await wait_until(lambda: bool(read_requests(request_log, "permission")))
    assert read_requests(request_log, "permission")[0]["outcome"]["optionId"] == "no"
    assert list(worktree.iterdir()) == []
    await conversation.turn("say: hi")
    assert read_prompts(request_log)[1:] == [["say: hi"]]


async def test_an_edit_outside_the_worktree_needs_permission(
    open_small: Open, tmp_path: Path
) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("edit: ../out.txt - x"))
    asked = await conversation.until(agent_events.PermissionRequested)
    assert asked.tool_name == "edit"
    await conversation.agent.permit(asked.request_id, "deny")
    await conversation.rest()
    assert not (tmp_path / "out.txt").exists()


async def test_an_edit_through_a_symlink_out_of_the_worktree_needs_permission(
    open_small: Open, worktree: Path, tmp_path: Path
) -> None:
    (worktree / "link").symlink_to(tmp_path)
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("edit: link/out.txt - x"))
    await conversation.until(agent_events.PermissionRequested)


async def test_a_mode_changed_during_a_turn_applies_from_the_next_turn(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("bash: echo hi"))
    asked = await conversation.until(agent_events.PermissionRequested)
    await conversation.agent.configure(base.Settings("yolo"))
    assert (await conversation.until(agent_events.TurnModeReported)).mode == "build"
    await conversation.agent.permit(asked.request_id, "deny")
    await conversation.rest()


async def test_yolo_mode_needs_no_permission(open_small: Open, tmp_path: Path) -> None:
    conversation = await open_small(mode="yolo")
    events = await conversation.turn(f"bash: touch {tmp_path / 'out.txt'}")
    assert not any(isinstance(event, agent_events.PermissionRequested) for event in events)
    assert (tmp_path / "out.txt").exists()


async def test_an_answer_to_a_withdrawn_request_is_a_conflict(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("bash: echo hi"))
    asked = await conversation.until(agent_events.PermissionRequested)
    await conversation.agent.stop()
    with pytest.raises(SpinneyError) as raised:
        await conversation.agent.permit(asked.request_id, "allow")
    assert raised.value.error_type == "conflict"


async def test_file_and_terminal_capabilities_are_not_offered(
    open_small: Open, request_log: Path
) -> None:
    assert text(await (await open_small()).turn("file: /etc/hostname")) == "-32601 "
    (line,) = read_requests(request_log, "initialize")
    capabilities = line["client_capabilities"]
    assert capabilities["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert capabilities["terminal"] is False


# Modes and plans ---------------------------------------------------------------------------------


async def test_an_agent_without_a_plan_mode_is_prompted_to_plan_and_may_change_nothing(
    open_small: Open, request_log: Path, worktree: Path
) -> None:
    conversation = await open_small(mode="plan")
    edit = await conversation.turn("edit: a.txt - x")
    command = await conversation.turn("bash: touch b.txt")
    assert [only(turn, agent_events.ToolResult).is_error for turn in (edit, command)] == [
        True,
        True,
    ]
    assert list(worktree.iterdir()) == []
    assert all("plan mode" in texts[0] for texts in read_prompts(request_log))


@pytest.mark.parametrize("form", ["modes", "options"])
async def test_an_agent_with_modes_is_set_to_the_matching_mode(
    open_small: Open, request_log: Path, form: str
) -> None:
    conversation = await open_small(can={form: True}, mode="plan")
    assert text(await conversation.turn("mode: ?")) == "plan small "
    assert read_prompts(request_log) == [["mode: ?"]]
    await conversation.agent.configure(base.Settings("build"))
    assert text(await conversation.turn("mode: ?")) == "build small "
    # The agent's own mode without requests is not used: in yolo mode Spinney allows each request.
    await conversation.agent.configure(base.Settings("yolo"))
    assert text(await conversation.turn("mode: ?")) == "build small "


CLAUDE = [
    "default Manual",
    "acceptEdits Accept edits",
    "plan Plan",
    "auto Auto",
    "dontAsk Don't ask",
]
CODEX = ["read-only Read Only", "auto Default", "full-access Full Access"]
COPILOT = "https://agentclientprotocol.com/protocol/session-modes#"


@pytest.mark.parametrize(
    ("modes", "initial", "expected"),
    [
        (CLAUDE, "auto", "default"),
        (CLAUDE, "default", "default"),
        (CLAUDE, "acceptEdits", "default"),
        (CLAUDE, "dontAsk", "default"),
        (CODEX, "auto", "auto"),  # its sandbox, which asks
        (CODEX, "read-only", "auto"),
        (CODEX, "full-access", "auto"),
        (["default", "autoEdit", "yolo", "plan"], "autoEdit", "default"),
        (["auto", "approve", "smart_approve", "chat"], "auto", "approve"),
        ([f"{COPILOT}agent", f"{COPILOT}plan", f"{COPILOT}autopilot"], f"{COPILOT}autopilot",
         f"{COPILOT}agent"),
        (["build", "plan", "weave"], "weave", "weave"),  # the user's own
        (["build", "plan"], "plan", "build"),
        (["plan", "auto", "yolo"], "plan", "auto"),
        (["smart", "auto", "plan"], "auto", "auto"),  # none asks: the session says so
    ],
)  # fmt: skip
def test_build_is_a_mode_that_asks(modes: list[str], initial: str, expected: str) -> None:
    available = []
    for mode in modes:
        key, _, name = mode.partition(" ")
        available.append({"id": key, "name": name or key.title()})
    settings = AgentSettings({})
    settings.update({"modes": {"currentModeId": initial, "availableModes": available}})
    assert settings.mode_id("build") == expected


async def test_the_conversation_says_if_no_mode_is_known_to_ask(open_small: Open) -> None:
    names = ["auto", "plan", "yolo"]
    conversation = await open_small(can={"modes": True, "mode_names": names})
    events = await conversation.turn("mode: ?")
    assert text(events) == "auto small "
    assert (
        "without asking you in its mode 'Auto'" in only(events, agent_events.ConversationNote).text
    )
    configured = replace(ROW, modes={"build": "auto"})
    conversation = await open_small(configured, can={"modes": True, "mode_names": names})
    events = await conversation.turn("mode: ?")
    assert not any(isinstance(event, agent_events.ConversationNote) for event in events)


async def test_the_conversation_says_in_plan_too_if_no_mode_is_known_to_ask(
    open_small: Open,
) -> None:
    conversation = await open_small(can={"modes": True, "mode_names": ["auto"]}, mode="plan")
    note = only(await conversation.turn("mode: ?"), agent_events.ConversationNote).text
    assert "without asking you in its mode 'Auto'" in note
    assert "{plan = " in note


async def test_plan_is_a_mode_that_asks_if_the_agent_cannot_plan(open_small: Open) -> None:
    conversation = await open_small(
        can={"modes": True, "mode_names": ["auto", "build"]}, mode="plan"
    )
    events = await conversation.turn("mode: ?")
    assert text(events) == "build small "
    assert notes(events) == []


@pytest.mark.parametrize("form", ["modes", "options"])
@pytest.mark.parametrize(
    ("mode", "other"), [("build", "yolo"), ("plan", "yolo"), ("plan", "build")]
)
async def test_an_agent_that_switches_to_a_mode_that_asks_less_is_set_back_with_a_note(
    open_small: Open, form: str, mode: str, other: str
) -> None:
    conversation = await open_small(can={form: True}, mode=mode)
    events = await conversation.turn(f"drift: {other} 2")
    assert text(events) == f"{mode} small "
    (note,) = notes(events)
    assert f"switched itself to its mode '{other}'" in note.lower()
    assert only(events, agent_events.TurnFinished).stop_reason == "end_turn"
    # Each turn has its own note.
    assert len(notes(await conversation.turn(f"drift: {other} 1"))) == 1


@pytest.mark.parametrize("can", [{}, {"keeps_mode": True}])
async def test_an_agent_that_cannot_be_set_back_is_stopped_with_a_note(
    open_small: Open, can: Json
) -> None:
    conversation = await open_small(can={"modes": True, **can})
    events = await conversation.turn("drift: yolo 99")
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"
    _, note = notes(events)
    assert "does not leave its mode 'Yolo'" in note


@pytest.mark.parametrize(("mode", "other"), [("yolo", "yolo"), ("build", "default")])
async def test_a_switch_that_the_users_mode_permits_is_left_alone(
    open_small: Open, request_log: Path, mode: str, other: str
) -> None:
    can = {"modes": True, "mode_names": ["build", "plan", "yolo", "default"]}
    conversation = await open_small(can=can, mode=mode)
    events = await conversation.turn(f"switch: {other}")
    assert notes(events) == []
    assert read_requests(request_log, "session/set_mode") == []


async def test_claude_agent_acp_is_set_not_to_decide_in_plan_mode(
    open_small: Open, request_log: Path
) -> None:
    await open_small(mode="plan")
    (line,) = read_requests(request_log, "session/new")
    options = line["claudeCode"]["options"]
    assert options == {"settings": {"useAutoModeDuringPlan": False}}


async def test_modes_configured_by_the_user_are_used(open_small: Open) -> None:
    row = replace(ROW, modes={"yolo": "yolo", "plan": "build"})
    conversation = await open_small(row, can={"modes": True}, mode="yolo")
    assert text(await conversation.turn("mode: ?")) == "yolo small "
    await conversation.agent.configure(base.Settings("plan"))
    assert text(await conversation.turn("mode: ?")) == "build small "


async def test_in_the_agents_plan_mode_commands_need_permission_and_edits_are_refused(
    open_small: Open, worktree: Path
) -> None:
    conversation = await open_small(can={"modes": True}, mode="plan")
    assert only(await conversation.turn("edit: a.txt - x"), agent_events.ToolResult).is_error
    await conversation.agent.send(base.Prompt("bash: echo hi"))
    await conversation.until(agent_events.PermissionRequested)
    assert list(worktree.iterdir()) == []


async def test_a_plan_is_proposed_and_carried_out_in_the_same_turn(
    open_small: Open, worktree: Path
) -> None:
    conversation = await open_small(can={"modes": True}, mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    proposed = await conversation.until(agent_events.PlanProposed)
    assert proposed.text == "weave a scarf"
    await conversation.agent.approve(proposed.request_id, base.Settings("build"), None)
    await conversation.rest()
    assert (worktree / "planned.txt").read_text() == "weave a scarf"
    assert text(await conversation.turn("mode: ?")) == "build small "


async def test_an_edited_plan_is_sent_as_a_message_in_the_new_mode(
    open_small: Open, request_log: Path, worktree: Path
) -> None:
    conversation = await open_small(can={"modes": True}, mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    proposed = await conversation.until(agent_events.PlanProposed)
    await conversation.agent.approve(proposed.request_id, base.Settings("build"), "weave a hat")
    events = await conversation.rest()
    assert not (worktree / "planned.txt").exists()
    assert "weave a hat" in read_prompts(request_log)[1][0]
    assert read_requests(request_log, "session/set_mode")[-1]["mode_id"] == "build"
    assert only(events, agent_events.TurnFinished).stop_reason == "end_turn"


async def test_a_comment_on_a_plan_reaches_the_agent_in_plan_mode(
    open_small: Open, request_log: Path, worktree: Path
) -> None:
    image = request_log.with_name("hat.png")
    image.write_bytes(b"png")
    conversation = await open_small(can={"modes": True, "images": True}, mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    proposed = await conversation.until(agent_events.PlanProposed)
    comment = base.Prompt("plan: a hat", files=(worktree / "a.txt",), images=(image,))
    await conversation.agent.discuss(proposed.request_id, comment)
    again = await conversation.until(agent_events.PlanProposed)
    assert again.text == "a hat"
    kinds = [block["type"] for block in read_requests(request_log, "session/prompt")[1]["prompt"]]
    assert kinds == ["text", "resource_link", "image"]
    assert list(worktree.iterdir()) == []
    assert len(read_requests(request_log, "session/set_mode")) == 1


async def test_an_agent_may_begin_to_plan_but_not_stop_planning_by_itself(
    open_small: Open, worktree: Path
) -> None:
    conversation = await open_small(can={"modes": True})
    events = await conversation.turn("switch: plan")
    assert only(events, agent_events.ModeChanged).mode == "plan"
    await conversation.agent.configure(base.Settings("plan"))
    events = await conversation.turn("switch: build")
    assert not any(isinstance(event, agent_events.ModeChanged) for event in events)
    assert only(await conversation.turn("edit: a.txt - x"), agent_events.ToolResult).is_error
    assert list(worktree.iterdir()) == []


async def test_the_model_is_set_if_the_agent_offers_it(open_small: Open) -> None:
    conversation = await open_small(can={"options": True}, model="large")
    assert text(await conversation.turn("mode: ?")) == "build large "
    await conversation.agent.configure(base.Settings("build", model="huge"))
    events = await conversation.turn("mode: ?")
    assert "has no model 'huge'" in only(events, agent_events.Notice).text
    assert text(events) == "build large "
