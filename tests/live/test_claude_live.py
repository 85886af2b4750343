"""The events of turns of the real Claude Code, with a scripted provider."""

import json
import uuid
from pathlib import Path

from model.backends import agent_events, base
from model.backends.claude import second_writer
from model.domain.usage import Usage
from tests.model.backends.agents import (
    Open,
    get_resume_token,
    only,
    text,
)


async def test_text_and_thinking_stream_and_the_usage_is_reported(open_claude: Open) -> None:
    events = await (await open_claude()).turn("think: about looms and threads")
    assert text(events, "thinking") == "about looms and threads"
    assert text(events) == "I thought about it."
    assert sum(isinstance(event, agent_events.TextDelta) for event in events) >= 2
    finished = only(events, agent_events.TurnFinished)
    assert finished.stop_reason == "end_turn"
    assert finished.usage == Usage(
        input_tokens=100,
        output_tokens=5,
        cache_creation_input_tokens=20,
        cache_read_input_tokens=3,
    )
    assert finished.context_tokens == 123
    assert (finished.context_window or 0) >= 100_000


async def test_a_write_happens_on_disk_and_is_reported_as_an_edit(
    open_claude: Open, folder: Path
) -> None:
    events = await (await open_claude()).turn("write a.txt: hi")
    assert (folder / "a.txt").read_text() == "hi"
    # If the adapter read the file only after the write, the program's result corrects the edit.
    *_, edit = (event for event in events if isinstance(event, agent_events.ToolUse))
    assert edit.name == "edit"
    assert edit.input == {"file_path": "a.txt", "old_content": "", "new_content": "hi"}
    result = only(events, agent_events.ToolResult)
    assert (result.tool_use_id, result.is_error) == (edit.id, False)
    assert text(events).endswith("done")


async def test_an_edit_reports_what_it_replaces(open_claude: Open, folder: Path) -> None:
    (folder / "a.txt").write_text("one two three")
    events = await (await open_claude()).turn("edit a.txt: two => 2")
    assert (folder / "a.txt").read_text() == "one 2 three"
    edits = [e.input for e in events if isinstance(e, agent_events.ToolUse) and e.name == "edit"]
    assert edits[-1] == {"file_path": "a.txt", "old_content": "two", "new_content": "2"}


async def test_a_turn_of_several_requests_sums_their_tokens_and_reports_the_context_size(
    open_claude: Open, folder: Path
) -> None:
    finished = only(await (await open_claude()).turn("write a.txt: hi"), agent_events.TurnFinished)
    assert finished.usage == Usage(
        input_tokens=200,
        output_tokens=5,
        cache_creation_input_tokens=40,
        cache_read_input_tokens=6,
    )
    assert finished.context_tokens == 123  # of the last request alone


async def test_a_sub_agents_tools_are_reported_under_the_call_that_started_it(
    open_claude: Open, folder: Path
) -> None:
    asked = {
        "description": "Look",
        "prompt": "bash: echo inner",
        "subagent_type": "general-purpose",
    }
    events = await (await open_claude(mode="yolo")).turn(f"call: Agent {json.dumps(asked)}")
    uses = {e.id: e for e in events if isinstance(e, agent_events.ToolUse)}
    outer, inner = uses.values()
    assert (outer.name, outer.parent_tool_use_id) == ("Agent", None)
    assert (inner.name, inner.parent_tool_use_id) == ("Bash", outer.id)
    results = {e.tool_use_id: e.content for e in events if isinstance(e, agent_events.ToolResult)}
    assert results[inner.id] == "inner"
    assert "done" in results[outer.id]
    assert "inner" not in text(events).split("Results:")[0]


async def test_parallel_tools_get_their_own_results(open_claude: Open) -> None:
    calls = " & ".join(f'Bash {{"command": "echo {word}"}}' for word in ("one", "two"))
    events = await (await open_claude(mode="yolo")).turn(f"call: {calls}")
    uses = {
        e.id: e.input["command"] for e in events if isinstance(e, agent_events.ToolUse) and e.input
    }
    results = {
        uses[e.tool_use_id]: e.content for e in events if isinstance(e, agent_events.ToolResult)
    }
    assert results == {"echo one": "one", "echo two": "two"}


async def test_a_to_do_list_is_one_call_with_all_of_it(open_claude: Open) -> None:
    todos = [{"content": "Warp the loom", "status": "pending", "activeForm": "Warping the loom"}]
    conversation = await open_claude(model="claude-sonnet-4-5")  # newer models have no such tool
    events = await conversation.turn(f"call: TodoWrite {json.dumps({'todos': todos})}")
    uses = [e for e in events if isinstance(e, agent_events.ToolUse) and e.input]
    assert [(use.name, use.input) for use in uses] == [("TodoWrite", {"todos": todos})]
    assert not only(events, agent_events.ToolResult).is_error


async def test_a_compacted_conversation_reports_it_and_continues(open_claude: Open) -> None:
    conversation = await open_claude()
    first = await conversation.turn("say: the colour is blue")
    events = await conversation.turn("/compact")
    assert agent_events.COMPACTION_NOTE in events
    assert only(events, agent_events.TurnFinished)
    assert text(await conversation.turn("say: on we go")) == "on we go"
    assert (
        len([e for e in conversation.events if isinstance(e, agent_events.ConversationIdentified)])
        == 1
    )
    assert text(first) == "the colour is blue"


async def test_an_answer_of_a_megabyte_is_reported_in_full(open_claude: Open) -> None:
    conversation = await open_claude()
    events = await conversation.turn("blob 1")
    assert len(text(events)) == 1_000_000
    assert len(only(events, agent_events.TextFinal).text) == 1_000_000
    assert text(await conversation.turn("say: still here")) == "still here"


async def test_a_second_writer_of_the_conversation_is_noticed(
    open_claude: Open, claude_environment: dict[str, str]
) -> None:
    conversation = await open_claude()
    await conversation.turn("say: warp")
    await conversation.turn("say: weft")
    assert second_writer.NOTE not in conversation.events
    config = Path(claude_environment["CLAUDE_CONFIG_DIR"])
    (path,) = config.glob(f"projects/*/{get_resume_token(conversation)}.jsonl")
    typed = next(line for line in path.read_text().splitlines() if '"say: weft"' in line)
    with path.open("a") as file:
        file.write(typed.replace('"entrypoint":"sdk-cli"', '"entrypoint":"cli"') + "\n")
    await conversation.turn("say: again")
    assert conversation.events.count(second_writer.NOTE) == 1


async def test_a_message_sent_into_the_last_text_adds_to_what_the_turn_cost(
    open_claude: Open,
) -> None:
    conversation = await open_claude()
    alone = only(await conversation.turn("say: warp"), agent_events.TurnFinished)
    await conversation.agent.send(base.Prompt("slowly: " + "weft " * 6))
    await conversation.until(agent_events.TextDelta)
    message_id = str(uuid.uuid4())
    assert await conversation.agent.steer(message_id, base.Prompt("say: more"))
    events = await conversation.rest()
    assert only(events, agent_events.SteerTaken).message_id == message_id
    both = only(events, agent_events.TurnFinished)
    assert both.usage.input_tokens == 2 * alone.usage.input_tokens
    assert alone.cost_usd is not None and both.cost_usd is not None
    assert both.cost_usd > 1.5 * alone.cost_usd
    assert text(events).endswith("more")
