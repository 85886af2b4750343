"""What agents of the Agent Client Protocol may do, and how their plans are decided on."""

from dataclasses import replace
from pathlib import Path

import pytest

from model.backends import base
from model.base.errors import SpinneyError
from tests.model.backends.acp_small import ROW, TURN_USAGE, heard, prompts
from tests.model.backends.agents import Open, only, text

# Permissions -------------------------------------------------------------------------------------


async def test_a_command_is_asked_for_and_runs_once_allowed(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("bash: echo hi"))
    asked = await conversation.until(base.PermissionAsked)
    assert (asked.tool_name, asked.description) == ("bash", "Run echo hi")
    assert asked.input["command"] == "echo hi"
    assert asked.tool_use_id == "b"
    await conversation.agent.permit(asked.request_id, "allow")
    assert only(await conversation.rest(), base.ToolResult).content == "hi\n"


async def test_the_agent_is_never_told_to_allow_alike_things_for_good(
    open_small: Open, heard_file: Path
) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("bash: echo hi"))
    asked = await conversation.until(base.PermissionAsked)
    await conversation.agent.permit(asked.request_id, "allow")
    await conversation.rest()
    chosen = [line["outcome"]["optionId"] for line in heard(heard_file, "permission")]
    assert chosen == ["once"]


@pytest.mark.parametrize("gives_up", [False, True])
async def test_a_denial_holds_and_its_reason_reaches_the_agent_in_the_same_turn(
    open_small: Open, heard_file: Path, worktree: Path, gives_up: bool
) -> None:
    conversation = await open_small(can={"gives_up": gives_up})
    await conversation.agent.send(base.Prompt("bash: touch a.txt"))
    asked = await conversation.until(base.PermissionAsked)
    await conversation.agent.permit(asked.request_id, "deny", "Use the loom.")
    told = await conversation.rest()
    assert only(told, base.ToolResult).is_error
    assert list(worktree.iterdir()) == []
    assert prompts(heard_file)[1] == ["I did not allow this: Run touch a.txt. Use the loom."]
    assert only(told, base.TurnFinished).usage == TURN_USAGE + TURN_USAGE


async def test_a_denial_without_a_reason_needs_no_further_words(
    open_small: Open, heard_file: Path
) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("bash: echo hi"))
    asked = await conversation.until(base.PermissionAsked)
    await conversation.agent.permit(asked.request_id, "deny")
    await conversation.rest()
    assert len(prompts(heard_file)) == 1


async def test_an_edit_outside_the_worktree_is_asked_for(open_small: Open, tmp_path: Path) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("edit: ../out.txt - x"))
    asked = await conversation.until(base.PermissionAsked)
    assert asked.tool_name == "edit"
    await conversation.agent.permit(asked.request_id, "deny")
    await conversation.rest()
    assert not (tmp_path / "out.txt").exists()


async def test_an_edit_through_a_link_out_of_the_worktree_is_asked_for(
    open_small: Open, worktree: Path, tmp_path: Path
) -> None:
    (worktree / "link").symlink_to(tmp_path)
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("edit: link/out.txt - x"))
    await conversation.until(base.PermissionAsked)


async def test_a_mode_changed_in_a_turn_is_told_to_hold_from_the_next_on(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("bash: echo hi"))
    asked = await conversation.until(base.PermissionAsked)
    await conversation.agent.configure(base.Settings("yolo"))
    assert (await conversation.until(base.TurnKeepsMode)).mode == "build"
    await conversation.agent.permit(asked.request_id, "deny")
    await conversation.rest()


async def test_yolo_asks_nobody(open_small: Open, tmp_path: Path) -> None:
    conversation = await open_small(mode="yolo")
    told = await conversation.turn(f"bash: touch {tmp_path / 'out.txt'}")
    assert not any(isinstance(event, base.PermissionAsked) for event in told)
    assert (tmp_path / "out.txt").exists()


async def test_an_answer_to_what_nobody_asks_any_more_is_a_conflict(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("bash: echo hi"))
    asked = await conversation.until(base.PermissionAsked)
    await conversation.agent.stop()
    with pytest.raises(SpinneyError) as raised:
        await conversation.agent.permit(asked.request_id, "allow")
    assert raised.value.error_type == "conflict"


async def test_files_and_terminals_are_not_offered(open_small: Open, heard_file: Path) -> None:
    assert text(await (await open_small()).turn("file: /etc/hostname")) == "-32601 "
    (line,) = heard(heard_file, "initialize")
    told = line["client_capabilities"]
    assert told["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert told["terminal"] is False


# Modes and plans ---------------------------------------------------------------------------------


async def test_an_agent_without_a_plan_mode_is_told_to_plan_and_may_change_nothing(
    open_small: Open, heard_file: Path, worktree: Path
) -> None:
    conversation = await open_small(mode="plan")
    edit = await conversation.turn("edit: a.txt - x")
    command = await conversation.turn("bash: touch b.txt")
    assert [only(turn, base.ToolResult).is_error for turn in (edit, command)] == [True, True]
    assert list(worktree.iterdir()) == []
    assert all("plan mode" in texts[0] for texts in prompts(heard_file))


@pytest.mark.parametrize("form", ["modes", "options"])
async def test_an_agent_with_modes_is_put_into_the_one_that_fits(
    open_small: Open, heard_file: Path, form: str
) -> None:
    conversation = await open_small(can={form: True}, mode="plan")
    assert text(await conversation.turn("mode: ?")) == "plan small "
    assert prompts(heard_file) == [["mode: ?"]]
    await conversation.agent.configure(base.Settings("build"))
    assert text(await conversation.turn("mode: ?")) == "build small "
    # Its own mode that asks nobody is not used: yolo is Spinney's yes.
    await conversation.agent.configure(base.Settings("yolo"))
    assert text(await conversation.turn("mode: ?")) == "build small "


async def test_modes_that_a_person_named_are_used(open_small: Open) -> None:
    row = replace(ROW, modes={"yolo": "yolo", "plan": "build"})
    conversation = await open_small(row, can={"modes": True}, mode="yolo")
    assert text(await conversation.turn("mode: ?")) == "yolo small "
    await conversation.agent.configure(base.Settings("plan"))
    assert text(await conversation.turn("mode: ?")) == "build small "


async def test_in_its_own_plan_mode_a_command_is_asked_for_and_an_edit_refused(
    open_small: Open, worktree: Path
) -> None:
    conversation = await open_small(can={"modes": True}, mode="plan")
    assert only(await conversation.turn("edit: a.txt - x"), base.ToolResult).is_error
    await conversation.agent.send(base.Prompt("bash: echo hi"))
    await conversation.until(base.PermissionAsked)
    assert list(worktree.iterdir()) == []


async def test_a_plan_is_proposed_and_carried_out_in_the_same_turn(
    open_small: Open, worktree: Path
) -> None:
    conversation = await open_small(can={"modes": True}, mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    proposed = await conversation.until(base.PlanProposed)
    assert proposed.text == "weave a scarf"
    await conversation.agent.approve(proposed.request_id, base.Settings("build"), None)
    await conversation.rest()
    assert (worktree / "planned.txt").read_text() == "weave a scarf"
    assert text(await conversation.turn("mode: ?")) == "build small "


async def test_an_edited_plan_is_sent_as_a_message_in_the_new_mode(
    open_small: Open, heard_file: Path, worktree: Path
) -> None:
    conversation = await open_small(can={"modes": True}, mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    proposed = await conversation.until(base.PlanProposed)
    await conversation.agent.approve(proposed.request_id, base.Settings("build"), "weave a hat")
    told = await conversation.rest()
    assert not (worktree / "planned.txt").exists()
    assert "weave a hat" in prompts(heard_file)[1][0]
    assert heard(heard_file, "session/set_mode")[-1]["mode_id"] == "build"
    assert only(told, base.TurnFinished).stop_reason == "end_turn"


async def test_a_comment_on_a_plan_reaches_the_agent_in_plan_mode(
    open_small: Open, heard_file: Path, worktree: Path
) -> None:
    image = heard_file.with_name("hat.png")
    image.write_bytes(b"png")
    conversation = await open_small(can={"modes": True, "images": True}, mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    proposed = await conversation.until(base.PlanProposed)
    comment = base.Prompt("plan: a hat", files=(worktree / "a.txt",), images=(image,))
    await conversation.agent.discuss(proposed.request_id, comment)
    again = await conversation.until(base.PlanProposed)
    assert again.text == "a hat"
    kinds = [block["type"] for block in heard(heard_file, "session/prompt")[1]["prompt"]]
    assert kinds == ["text", "resource_link", "image"]
    assert list(worktree.iterdir()) == []
    assert len(heard(heard_file, "session/set_mode")) == 1


async def test_an_agent_may_begin_to_plan_but_not_stop_planning_by_itself(
    open_small: Open, worktree: Path
) -> None:
    conversation = await open_small(can={"modes": True})
    told = await conversation.turn("switch: plan")
    assert only(told, base.ModeChanged).mode == "plan"
    await conversation.agent.configure(base.Settings("plan"))
    told = await conversation.turn("switch: build")
    assert not any(isinstance(event, base.ModeChanged) for event in told)
    assert only(await conversation.turn("edit: a.txt - x"), base.ToolResult).is_error
    assert list(worktree.iterdir()) == []


async def test_the_model_is_chosen_where_the_agent_has_it(open_small: Open) -> None:
    conversation = await open_small(can={"options": True}, model="large")
    assert text(await conversation.turn("mode: ?")) == "build large "
    await conversation.agent.configure(base.Settings("build", model="huge"))
    told = await conversation.turn("mode: ?")
    assert "has no model 'huge'" in only(told, base.Notice).text
    assert text(told) == "build large "
