"""The adapter of the Agent Client Protocol: the events of an agent, and what it is sent."""

from dataclasses import replace
from pathlib import Path

from model.agents.agents_file import McpServer
from model.backends import agent_events, base
from model.domain.agent_commands import AgentCommand
from tests.model.backends.acp_small import ROW, TURN_USAGE, read_prompts, read_requests
from tests.model.backends.agents import Open, only, text

# Events ------------------------------------------------------------------------------------------


async def test_text_streams_as_one_block_and_the_usage_is_reported(open_small: Open) -> None:
    events = await (await open_small()).turn("say: threads and looms")
    deltas = [event for event in events if isinstance(event, agent_events.TextDelta)]
    assert text(events) == "threads and looms "
    assert len({delta.block for delta in deltas}) == 1
    assert only(events, agent_events.TurnFinished) == agent_events.TurnFinished(
        "end_turn", TURN_USAGE
    )


async def test_thinking_is_a_block_of_its_own(open_small: Open) -> None:
    events = await (await open_small()).turn("think: of looms")
    assert (text(events, "thinking"), text(events)) == ("of looms", "thought ")
    assert len({event.block for event in events if isinstance(event, agent_events.TextDelta)}) == 2


async def test_two_turns_have_different_blocks(open_small: Open) -> None:
    conversation = await open_small()
    turns = [await conversation.turn("say: one"), await conversation.turn("say: two")]
    blocks = [{e.block for e in turn if isinstance(e, agent_events.TextDelta)} for turn in turns]
    assert blocks[0].isdisjoint(blocks[1])


async def test_an_edit_in_the_worktree_needs_no_permission_and_reports_both_texts(
    open_small: Open, worktree: Path
) -> None:
    (worktree / "a.txt").write_text("one two")
    events = await (await open_small()).turn("edit: a.txt two 2")
    assert (worktree / "a.txt").read_text() == "one 2"
    announced, edit = (event for event in events if isinstance(event, agent_events.ToolUse))
    assert announced.id == edit.id
    assert edit.name == "edit"
    assert edit.input == {"file_path": "a.txt", "old_content": "two", "new_content": "2"}
    assert only(events, agent_events.ToolResult) == agent_events.ToolResult(edit.id, "")


async def test_a_new_file_has_no_old_content(open_small: Open) -> None:
    events = await (await open_small()).turn("edit: new.txt - hello")
    *_, edit = (event for event in events if isinstance(event, agent_events.ToolUse))
    assert edit.input == {"file_path": "new.txt", "old_content": "", "new_content": "hello"}


async def test_a_diff_is_kept_if_the_result_omits_it(open_small: Open) -> None:
    events = await (await open_small(can={"forgets_diffs": True})).turn("edit: new.txt - hello")
    *_, edit = (event for event in events if isinstance(event, agent_events.ToolUse))
    assert (edit.name, edit.input["new_content"]) == ("edit", "hello")
    assert only(events, agent_events.ToolResult).content == "written"


async def test_a_call_that_changes_two_files_is_two_edits(open_small: Open) -> None:
    events = await (await open_small()).turn("many: a.txt b.txt")
    uses = [event for event in events if isinstance(event, agent_events.ToolUse)]
    assert [use.input["file_path"] for use in uses] == ["a.txt", "b.txt"]
    results = [event.tool_use_id for event in events if isinstance(event, agent_events.ToolResult)]
    assert results == [use.id for use in uses]


async def test_a_list_of_steps_is_a_to_do_list_that_changes(open_small: Open) -> None:
    events = await (await open_small()).turn("todo: warp weft")
    uses = [event for event in events if isinstance(event, agent_events.ToolUse)]
    assert {(use.id, use.name) for use in uses} == {(uses[0].id, "TodoWrite")}
    assert uses[-1].input["todos"] == [
        {"content": "warp", "status": "completed"},
        {"content": "weft", "status": "completed"},
    ]


async def test_context_usage_is_reported_if_the_agent_sends_it(open_small: Open) -> None:
    finished = only(await (await open_small()).turn("context: 300 9000"), agent_events.TurnFinished)
    assert (finished.context_tokens, finished.context_window) == (300, 9000)


async def test_the_cost_of_a_turn_is_what_the_conversations_sum_grew_by(open_small: Open) -> None:
    conversation = await open_small()
    reported = [
        "context: 1 9 0.25 USD",
        "context: 1 9 0.75 USD",
        "say: nothing",
        "context: 1 9 8 EUR",
    ]
    ends = [
        only(await conversation.turn(each), agent_events.TurnFinished).cost_usd for each in reported
    ]
    assert ends == [0.25, 0.5, None, None]


async def test_updates_of_another_conversation_are_ignored(open_small: Open) -> None:
    assert text(await (await open_small()).turn("other: not ours")) == ""


# Messages ----------------------------------------------------------------------------------------


async def test_the_system_prompt_goes_before_the_first_message_only(
    open_small: Open, request_log: Path
) -> None:
    conversation = await open_small(system_prompt="Speak of looms.")
    await conversation.turn("say: one")
    await conversation.turn("say: two")
    assert read_prompts(request_log) == [["Speak of looms.", "say: one"], ["say: two"]]


async def test_commands_are_listed_at_the_start_and_when_they_change(open_small: Open) -> None:
    conversation = await open_small(can={"commands": "weave (spin)"})
    listed = await conversation.until(agent_events.CommandsListed)
    assert listed.commands == (
        AgentCommand(name="weave", description="To weave", argument_hint="what"),
        AgentCommand(name="spin", description="To spin"),
    )
    changed = only(await conversation.turn("commands: knit"), agent_events.CommandsListed)
    assert [command.name for command in changed.commands] == ["knit"]


async def test_a_command_is_sent_without_text_before_it(
    open_small: Open, request_log: Path
) -> None:
    conversation = await open_small(
        can={"commands": "weave"}, system_prompt="Speak of looms.", mode="plan"
    )
    await conversation.until(agent_events.CommandsListed)
    await conversation.turn("/weave a scarf")
    await conversation.turn("/weaver is another word")
    command, text = read_prompts(request_log)
    assert command == ["/weave a scarf"]
    assert text[0] == "Speak of looms."
    assert text[-1] == "/weaver is another word"


async def test_files_are_sent_as_links_and_images_only_if_supported(
    open_small: Open, request_log: Path, worktree: Path
) -> None:
    (worktree / "a b.txt").write_text("x")
    image = worktree / "dot.png"
    image.write_bytes(b"\x89PNG")
    prompt = base.Prompt("say: seen", files=(worktree / "a b.txt",), images=(image,))
    for can in ({"images": True}, {}):
        conversation = await open_small(can=can)
        await conversation.agent.send(prompt)
        assert text(await conversation.rest()) == "seen "
    with_images, without_images = (
        line["prompt"] for line in read_requests(request_log, "session/prompt")
    )
    assert with_images[1]["uri"] == (worktree / "a b.txt").as_uri()
    assert (with_images[2]["type"], with_images[2]["mimeType"]) == ("image", "image/png")
    assert str(image) in without_images[2]["text"]


async def test_enabled_mcp_servers_are_passed_to_the_agent(
    open_small: Open, request_log: Path
) -> None:
    servers = (
        McpServer("files", "sh", ("-c", "x"), {"A": "b"}),
        McpServer("far", url="http://127.0.0.1:9/", headers={"K": "v"}),
        McpServer("off", "sh"),
    )
    row = replace(ROW, mcp_servers=servers)
    conversation = await open_small(
        row, can={"http": True}, disabled_mcp_servers=frozenset({"off"})
    )
    files, far = read_requests(request_log, "session/new")[0]["mcp_servers"]
    assert (files["name"], files["args"]) == ("files", ["-c", "x"])
    assert Path(files["command"]).is_absolute()
    assert files["env"] == [{"name": "A", "value": "b"}]
    assert (far["type"], far["url"]) == ("http", "http://127.0.0.1:9/")
    await conversation.turn("say: x")
    assert only(conversation.events, agent_events.McpServersListed).names == ("files", "far", "off")
    await open_small(row)
    assert [s["name"] for s in read_requests(request_log, "session/new")[1]["mcp_servers"]] == [
        "files",
        "off",
    ]


async def test_a_text_only_agent_may_use_no_tools(open_small: Open, worktree: Path) -> None:
    conversation = await open_small(can={"modes": True}, mode="plan", text_only=True)
    events = await conversation.turn("bash: touch a.txt")
    assert only(events, agent_events.ToolResult).is_error
    assert list(worktree.iterdir()) == []
