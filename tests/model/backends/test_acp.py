"""Any agent of the Agent Client Protocol behind its adapter, played by one that the protocol's own
package checks: what is said to it, and what comes of it.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model.agents_file import AgentRow, McpServer
from model.backends import acp, base
from model.backends.acp import AcpBackend
from model.errors import SpinneyError
from model.resources import AgentCommand, Usage
from tests.model.backends.agents import Conversation, Open, a_launch, becomes, lives, only, text

Json = dict[str, Any]

AGENT = Path(__file__).with_name("acp_agent.py")
ROW = AgentRow("acp:small", "Small", sys.executable, (), args=(str(AGENT),))

TURN_USAGE = Usage(
    input_tokens=10,
    output_tokens=4,
    cache_creation_input_tokens=2,
    cache_read_input_tokens=3,
)


@pytest.fixture
def heard_file(tmp_path: Path) -> Path:
    folder = tmp_path / "agent"
    folder.mkdir()
    return folder / "heard.jsonl"


@pytest.fixture
async def open_small(worktree: Path, heard_file: Path) -> AsyncIterator[Open]:
    """Opens a conversation with the agent; `can` says what it is able to do."""
    opened: list[base.Agent] = []

    async def open_small(row: AgentRow = ROW, can: Json | None = None, **launch: Any) -> Any:
        environment = {"ACP_AGENT": json.dumps(can or {}), "ACP_HEARD": str(heard_file)}
        agent = await AcpBackend(row).open(a_launch(worktree, environment=environment, **launch))
        opened.append(agent)
        return Conversation(agent)

    yield open_small
    await asyncio.gather(*(agent.close() for agent in opened))


def heard(file: Path, method: str) -> list[Json]:
    """What the agent was asked under this name."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return [line for line in lines if line["method"] == method]


def prompts(file: Path) -> list[list[str]]:
    """The texts of the messages that the agent got."""
    return [
        [block["text"] for block in line["prompt"] if block["type"] == "text"]
        for line in heard(file, "session/prompt")
    ]


def token(conversation: Conversation) -> str:
    return only(conversation.told, base.ConversationIdentified).resume_token


# What it tells ---------------------------------------------------------------------------------


async def test_text_streams_as_one_block_and_the_usage_is_told(open_small: Open) -> None:
    told = await (await open_small()).turn("say: threads and looms")
    deltas = [event for event in told if isinstance(event, base.TextDelta)]
    assert text(told) == "threads and looms "
    assert len({delta.block for delta in deltas}) == 1
    assert only(told, base.TurnFinished) == base.TurnFinished("end_turn", TURN_USAGE)


async def test_thinking_is_a_block_of_its_own(open_small: Open) -> None:
    told = await (await open_small()).turn("think: of looms")
    assert (text(told, "thinking"), text(told)) == ("of looms", "thought ")
    assert len({event.block for event in told if isinstance(event, base.TextDelta)}) == 2


async def test_two_turns_have_different_blocks(open_small: Open) -> None:
    conversation = await open_small()
    turns = [await conversation.turn("say: one"), await conversation.turn("say: two")]
    blocks = [{e.block for e in turn if isinstance(e, base.TextDelta)} for turn in turns]
    assert blocks[0].isdisjoint(blocks[1])


async def test_an_edit_in_the_worktree_runs_unasked_and_is_told_with_its_texts(
    open_small: Open, worktree: Path
) -> None:
    (worktree / "a.txt").write_text("one two")
    told = await (await open_small()).turn("edit: a.txt two 2")
    assert (worktree / "a.txt").read_text() == "one 2"
    announced, edit = (event for event in told if isinstance(event, base.ToolUse))
    assert announced.id == edit.id
    assert edit.name == "edit"
    assert edit.input == {"file_path": "a.txt", "old_content": "two", "new_content": "2"}
    assert only(told, base.ToolResult) == base.ToolResult(edit.id, "")


async def test_a_new_file_has_no_old_content(open_small: Open) -> None:
    told = await (await open_small()).turn("edit: new.txt - hello")
    *_, edit = (event for event in told if isinstance(event, base.ToolUse))
    assert edit.input == {"file_path": "new.txt", "old_content": "", "new_content": "hello"}


async def test_a_diff_stays_though_the_result_leaves_it_out(open_small: Open) -> None:
    told = await (await open_small(can={"forgets_diffs": True})).turn("edit: new.txt - hello")
    *_, edit = (event for event in told if isinstance(event, base.ToolUse))
    assert (edit.name, edit.input["new_content"]) == ("edit", "hello")
    assert only(told, base.ToolResult).content == "written"


async def test_a_call_that_changes_two_files_is_two_edits(open_small: Open) -> None:
    told = await (await open_small()).turn("many: a.txt b.txt")
    uses = [event for event in told if isinstance(event, base.ToolUse)]
    assert [use.input["file_path"] for use in uses] == ["a.txt", "b.txt"]
    results = [event.tool_use_id for event in told if isinstance(event, base.ToolResult)]
    assert results == [use.id for use in uses]


async def test_a_list_of_steps_is_a_to_do_list_that_changes(open_small: Open) -> None:
    told = await (await open_small()).turn("todo: warp weft")
    uses = [event for event in told if isinstance(event, base.ToolUse)]
    assert {(use.id, use.name) for use in uses} == {(uses[0].id, "TodoWrite")}
    assert uses[-1].input["todos"] == [
        {"content": "warp", "status": "completed"},
        {"content": "weft", "status": "completed"},
    ]


async def test_how_full_the_context_is_is_told_where_the_agent_tells_it(open_small: Open) -> None:
    finished = only(await (await open_small()).turn("context: 300 9000"), base.TurnFinished)
    assert (finished.context_tokens, finished.context_window) == (300, 9000)


async def test_what_belongs_to_another_conversation_is_left_out(open_small: Open) -> None:
    assert text(await (await open_small()).turn("other: not ours")) == ""


# Permissions -----------------------------------------------------------------------------------


async def test_a_command_is_asked_for_and_runs_once_allowed(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("bash: echo hi"))
    asked = await conversation.until(base.PermissionAsked)
    assert (asked.tool_name, asked.description) == ("bash", "Run echo hi")
    assert asked.input["command"] == "echo hi"
    assert asked.tool_use_id == "b"
    await conversation.agent.permit(asked.request_id, "allow")
    assert only(await conversation.rest(), base.ToolResult).content == "hi\n"


async def test_allowed_for_the_session_is_said_to_the_agent_and_not_asked_again(
    open_small: Open, heard_file: Path
) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("bash: echo hi"))
    asked = await conversation.until(base.PermissionAsked)
    await conversation.agent.permit(asked.request_id, "allow_session")
    await conversation.rest()
    told = await conversation.turn("bash: echo hi")
    assert not any(isinstance(event, base.PermissionAsked) for event in told)
    chosen = [line["outcome"]["optionId"] for line in heard(heard_file, "permission")]
    assert chosen == ["always", "once"]
    await conversation.agent.send(base.Prompt("bash: echo other"))
    await conversation.until(base.PermissionAsked)


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


# Modes and plans -------------------------------------------------------------------------------


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
    conversation = await open_small(can={"modes": True}, mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    proposed = await conversation.until(base.PlanProposed)
    await conversation.agent.discuss(proposed.request_id, "plan: a hat")
    again = await conversation.until(base.PlanProposed)
    assert again.text == "a hat"
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
    assert "has no model huge" in only(told, base.Notice).text
    assert text(told) == "build large "


# Messages --------------------------------------------------------------------------------------


async def test_the_system_prompt_goes_before_the_first_message_only(
    open_small: Open, heard_file: Path
) -> None:
    conversation = await open_small(system_prompt="Speak of looms.")
    await conversation.turn("say: one")
    await conversation.turn("say: two")
    assert prompts(heard_file) == [["Speak of looms.", "say: one"], ["say: two"]]


async def test_commands_are_told_at_the_start_and_when_they_change(open_small: Open) -> None:
    conversation = await open_small(can={"commands": "weave (spin)"})
    known = await conversation.until(base.CommandsKnown)
    assert known.commands == (
        AgentCommand(name="weave", description="To weave", argument_hint="what"),
        AgentCommand(name="spin", description="To spin"),
    )
    changed = only(await conversation.turn("commands: knit"), base.CommandsKnown)
    assert [command.name for command in changed.commands] == ["knit"]


async def test_a_command_stands_at_the_beginning_of_what_is_sent(
    open_small: Open, heard_file: Path
) -> None:
    conversation = await open_small(
        can={"commands": "weave"}, system_prompt="Speak of looms.", mode="plan"
    )
    await conversation.until(base.CommandsKnown)
    await conversation.turn("/weave a scarf")
    await conversation.turn("/weaver is another word")
    command, text = prompts(heard_file)
    assert command == ["/weave a scarf"]
    assert text[0] == "Speak of looms."
    assert text[-1] == "/weaver is another word"


async def test_files_are_links_and_images_go_to_who_sees_them(
    open_small: Open, heard_file: Path, worktree: Path
) -> None:
    (worktree / "a b.txt").write_text("x")
    image = worktree / "dot.png"
    image.write_bytes(b"\x89PNG")
    prompt = base.Prompt("say: seen", files=(worktree / "a b.txt",), images=(image,))
    for can in ({"images": True}, {}):
        conversation = await open_small(can=can)
        await conversation.agent.send(prompt)
        assert text(await conversation.rest()) == "seen "
    seeing, blind = (line["prompt"] for line in heard(heard_file, "session/prompt"))
    assert seeing[1]["uri"] == (worktree / "a b.txt").as_uri()
    assert (seeing[2]["type"], seeing[2]["mimeType"]) == ("image", "image/png")
    assert str(image) in blind[2]["text"]


async def test_mcp_servers_are_handed_over_but_for_those_that_are_off(
    open_small: Open, heard_file: Path
) -> None:
    servers = (
        McpServer("files", "sh", ("-c", "x"), {"A": "b"}),
        McpServer("far", url="http://127.0.0.1:9/", headers={"K": "v"}),
        McpServer("off", "sh"),
    )
    row = replace(ROW, mcp_servers=servers)
    conversation = await open_small(row, can={"http": True}, mcp_off=frozenset({"off"}))
    files, far = heard(heard_file, "session/new")[0]["mcp_servers"]
    assert (files["name"], files["args"]) == ("files", ["-c", "x"])
    assert Path(files["command"]).is_absolute()
    assert files["env"] == [{"name": "A", "value": "b"}]
    assert (far["type"], far["url"]) == ("http", "http://127.0.0.1:9/")
    await conversation.turn("say: x")
    assert only(conversation.told, base.McpServersSeen).names == ("files", "far", "off")
    await open_small(row)
    assert [s["name"] for s in heard(heard_file, "session/new")[1]["mcp_servers"]] == [
        "files",
        "off",
    ]


async def test_who_only_writes_a_text_may_use_nothing(open_small: Open, worktree: Path) -> None:
    conversation = await open_small(can={"modes": True}, mode="plan", text_only=True)
    told = await conversation.turn("bash: touch a.txt")
    assert only(told, base.ToolResult).is_error
    assert list(worktree.iterdir()) == []


# Taking a conversation up ----------------------------------------------------------------------


@pytest.mark.parametrize("way", ["load", "resume"])
async def test_a_conversation_is_taken_up_and_its_history_not_told_again(
    open_small: Open, heard_file: Path, way: str
) -> None:
    conversation = await open_small(can={way: True}, system_prompt="Speak of looms.")
    await conversation.turn("say: one")
    await conversation.agent.close()
    again = await open_small(
        can={way: True}, resume_token=token(conversation), system_prompt="Speak of looms."
    )
    told = await again.turn("remember?")
    assert text(told) == "say: one "
    assert not any(isinstance(event, base.ToolUse | base.Notice) for event in again.told)
    assert token(again) == token(conversation)
    assert prompts(heard_file)[-1] == ["remember?"]
    assert len(heard(heard_file, f"session/{way}")) == 1


@pytest.mark.parametrize("can", [{}, {"load": True}, {"load": True, "resume": True}])
async def test_a_lost_conversation_begins_afresh_and_says_so(open_small: Open, can: Json) -> None:
    conversation = await open_small(can=can, resume_token="gone")
    assert text(await conversation.turn("say: hi")) == "hi "
    assert token(conversation) != "gone"
    assert "lost the conversation" in only(conversation.told, base.Notice).text


# Stopping and ending ---------------------------------------------------------------------------


async def test_a_stop_ends_the_turn_and_the_agent_stays(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("slow: x"))
    await conversation.until(base.TextDelta)
    await conversation.agent.stop()
    assert only(await conversation.rest(), base.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("say: again")) == "again "


async def test_a_stop_withdraws_what_was_asked(open_small: Open, heard_file: Path) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("bash: echo hi"))
    asked = await conversation.until(base.PermissionAsked)
    await conversation.agent.stop()
    told = await conversation.rest()
    assert only(told, base.RequestWithdrawn).request_id == asked.request_id
    assert only(told, base.TurnFinished).stop_reason == "stopped"
    assert heard(heard_file, "permission")[0]["outcome"]["outcome"] == "cancelled"


async def test_who_does_not_obey_a_stop_is_killed_with_its_children(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("deaf: x"))
    child = int((await conversation.until(base.TextDelta)).text)
    await conversation.agent.stop()
    assert only(await conversation.rest(), base.TurnFinished).stop_reason == "stopped"
    await becomes(lambda: not lives(child))


async def test_closing_in_mid_turn_leaves_nothing(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("deaf: x"))
    child = int((await conversation.until(base.TextDelta)).text)
    await conversation.agent.close()
    await becomes(lambda: not lives(child))


async def test_a_program_that_dies_fails_the_turn_with_its_last_words(open_small: Open) -> None:
    told = await (await open_small()).turn("die: now")
    failed = only(told, base.TurnFailed)
    assert "exit code 3" in failed.error
    assert "the loom is broken" in failed.error
    assert failed.error_type == "backend_error"


@pytest.mark.parametrize(
    ("words", "error_type", "expected"),
    [
        ("error: -32000 x", "authentication_error", "In the browser (small login)"),
        ("error: -32603 HTTP 401 Unauthorized", "authentication_error", "HTTP 401"),
        ("error: -32603 429 Too Many Requests", "rate_limit_error", "Wait a while"),
        ("error: -32603 the loom", "backend_error", "It failed: the loom"),
        ("stop: refusal", "invalid_request", "refuses"),
    ],
)
async def test_an_error_fails_the_turn_and_the_next_one_works(
    open_small: Open, words: str, error_type: str, expected: str
) -> None:
    conversation = await open_small()
    failed = only(await conversation.turn(words), base.TurnFailed)
    assert failed.error_type == error_type
    assert expected in failed.error
    assert text(await conversation.turn("say: again")) == "again "


@pytest.mark.parametrize("reason", ["max_tokens", "max_turn_requests", "cancelled"])
async def test_why_a_turn_ended_is_told(open_small: Open, reason: str) -> None:
    finished = only(await (await open_small()).turn(f"stop: {reason}"), base.TurnFinished)
    assert finished.stop_reason == reason


# Programs that misbehave -----------------------------------------------------------------------


async def test_what_is_no_json_is_left_out_and_told_once(open_small: Open) -> None:
    conversation = await open_small()
    told = await conversation.turn("raw: [log] I say this here\n[log] and this")
    assert "left out (not JSON)" in only(told, base.Notice).text
    assert text(await conversation.turn("say: again")) == "again "


async def test_a_line_without_end_is_left_out(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.turn("long: 10")
    assert text(await conversation.turn("say: again")) == "again "


async def test_a_missing_program_names_itself_and_the_file(worktree: Path) -> None:
    row = replace(ROW, program="no-such-agent")
    with pytest.raises(SpinneyError) as raised:
        await AcpBackend(row).open(a_launch(worktree))
    assert raised.value.error_type == "backend_unavailable"
    assert "no-such-agent" in raised.value.message
    assert "[small] in agents.toml" in raised.value.message


@pytest.mark.parametrize(
    ("can", "error_type", "expected"),
    [
        ({"dies": True}, "backend_unavailable", "No such option: --acp"),
        ({"protocol": 7}, "backend_unavailable", "speaks 7 of the Agent Client Protocol"),
        ({"signed_out": True}, "authentication_error", f"By hand (run: {sys.executable} login)"),
        ({"nameless": True}, "backend_error", "did not begin a conversation"),
    ],
)
async def test_who_cannot_begin_says_why(
    open_small: Open, can: Json, error_type: str, expected: str
) -> None:
    with pytest.raises(SpinneyError) as raised:
        await open_small(can=can)
    assert raised.value.error_type == error_type
    assert expected in raised.value.message


async def test_a_program_that_is_no_agent_is_told(worktree: Path) -> None:
    row = replace(ROW, program=sys.executable, args=("-c", "print('hello')"))
    with pytest.raises(SpinneyError, match="did not answer as an agent") as raised:
        await AcpBackend(row).open(a_launch(worktree))
    assert raised.value.error_type == "backend_unavailable"


# The probe -------------------------------------------------------------------------------------


async def test_the_probe_greets_the_agent() -> None:
    assert await AcpBackend(ROW).probe() == base.Probe(sys.executable, "1.2.3", supported=True)


async def test_the_probe_tells_what_is_missing_or_no_agent() -> None:
    missing = await AcpBackend(replace(ROW, program="no-such-agent")).probe()
    assert missing.program is None
    assert "no-such-agent" in (missing.problem or "")
    other = await AcpBackend(replace(ROW, args=("-c", "exit(4)"))).probe()
    assert other.program == sys.executable
    assert "did not answer as an agent" in (other.problem or "")
    assert other.supported is None


async def test_the_probe_tells_of_a_program_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acp, "_PROBE_PATIENCE", 0.2)
    hangs = await AcpBackend(replace(ROW, args=("-c", "input(); input()"))).probe()
    assert "did not answer as an agent of the Agent Client Protocol within 0.2 s" in str(
        hangs.problem
    )


async def test_an_agent_of_another_protocol_is_not_supported() -> None:
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 7}}
    script = f"print('{json.dumps(answer)}', flush=True); input(); input()"
    probe = await AcpBackend(replace(ROW, args=("-c", script))).probe()
    assert "Update the older one" in (probe.problem or "")
    assert probe.supported is False
