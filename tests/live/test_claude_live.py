"""The real Claude Code behind its adapter, answered by a scripted provider: what its turns tell."""

import json
from pathlib import Path

from model.backends import base
from model.domain.resources import Usage
from tests.model.backends.agents import (
    Open,
    only,
    text,
)


async def test_text_and_thinking_stream_and_the_usage_is_told(open_claude: Open) -> None:
    told = await (await open_claude()).turn("think: about looms and threads")
    assert text(told, "thinking") == "about looms and threads"
    assert text(told) == "I thought about it."
    assert sum(isinstance(event, base.TextDelta) for event in told) >= 2
    finished = only(told, base.TurnFinished)
    assert finished.stop_reason == "end_turn"
    assert finished.usage == Usage(
        input_tokens=100,
        output_tokens=5,
        cache_creation_input_tokens=20,
        cache_read_input_tokens=3,
    )
    assert finished.context_tokens == 123
    assert (finished.context_window or 0) >= 100_000


async def test_a_write_happens_on_disk_and_is_told_as_an_edit(
    open_claude: Open, folder: Path
) -> None:
    told = await (await open_claude()).turn("write a.txt: hi")
    assert (folder / "a.txt").read_text() == "hi"
    # Where the file was written before it was looked at, what the program tells corrects it.
    *_, edit = (event for event in told if isinstance(event, base.ToolUse))
    assert edit.name == "edit"
    assert edit.input == {"file_path": "a.txt", "old_content": "", "new_content": "hi"}
    result = only(told, base.ToolResult)
    assert (result.tool_use_id, result.is_error) == (edit.id, False)
    assert text(told).endswith("done")


async def test_an_edit_tells_what_it_replaces(open_claude: Open, folder: Path) -> None:
    (folder / "a.txt").write_text("one two three")
    told = await (await open_claude()).turn("edit a.txt: two => 2")
    assert (folder / "a.txt").read_text() == "one 2 three"
    edits = [e.input for e in told if isinstance(e, base.ToolUse) and e.name == "edit"]
    assert edits[-1] == {"file_path": "a.txt", "old_content": "two", "new_content": "2"}


async def test_a_turn_of_several_requests_adds_their_tokens_and_tells_how_full_the_context_is(
    open_claude: Open, folder: Path
) -> None:
    finished = only(await (await open_claude()).turn("write a.txt: hi"), base.TurnFinished)
    assert finished.usage == Usage(
        input_tokens=200,
        output_tokens=5,
        cache_creation_input_tokens=40,
        cache_read_input_tokens=6,
    )
    assert finished.context_tokens == 123  # of the last request alone


async def test_a_sub_agents_tools_are_told_inside_the_call_that_started_it(
    open_claude: Open, folder: Path
) -> None:
    asked = {
        "description": "Look",
        "prompt": "bash: echo inner",
        "subagent_type": "general-purpose",
    }
    told = await (await open_claude(mode="yolo")).turn(f"call: Agent {json.dumps(asked)}")
    uses = {e.id: e for e in told if isinstance(e, base.ToolUse)}
    outer, inner = uses.values()
    assert (outer.name, outer.parent_tool_use_id) == ("Agent", None)
    assert (inner.name, inner.parent_tool_use_id) == ("Bash", outer.id)
    results = {e.tool_use_id: e.content for e in told if isinstance(e, base.ToolResult)}
    assert results[inner.id] == "inner"
    assert "done" in results[outer.id]
    assert "inner" not in text(told).split("I heard")[0]


async def test_tools_that_run_side_by_side_each_get_their_own_result(open_claude: Open) -> None:
    calls = " & ".join(f'Bash {{"command": "echo {word}"}}' for word in ("one", "two"))
    told = await (await open_claude(mode="yolo")).turn(f"call: {calls}")
    uses = {e.id: e.input["command"] for e in told if isinstance(e, base.ToolUse) and e.input}
    results = {uses[e.tool_use_id]: e.content for e in told if isinstance(e, base.ToolResult)}
    assert results == {"echo one": "one", "echo two": "two"}


async def test_a_to_do_list_is_one_call_with_all_of_it(open_claude: Open) -> None:
    todos = [{"content": "Warp the loom", "status": "pending", "activeForm": "Warping the loom"}]
    conversation = await open_claude(model="claude-sonnet-4-5")  # newer ones have no list
    told = await conversation.turn(f"call: TodoWrite {json.dumps({'todos': todos})}")
    uses = [e for e in told if isinstance(e, base.ToolUse) and e.input]
    assert [(use.name, use.input) for use in uses] == [("TodoWrite", {"todos": todos})]
    assert not only(told, base.ToolResult).is_error


async def test_a_conversation_that_is_shortened_says_so_and_goes_on(open_claude: Open) -> None:
    conversation = await open_claude()
    first = await conversation.turn("say: the colour is blue")
    told = await conversation.turn("/compact")
    assert base.COMPACTION_NOTE in told
    assert only(told, base.TurnFinished)
    assert text(await conversation.turn("say: on we go")) == "on we go"
    assert len([e for e in conversation.told if isinstance(e, base.ConversationIdentified)]) == 1
    assert text(first) == "the colour is blue"


async def test_an_answer_of_a_megabyte_is_told_whole(open_claude: Open) -> None:
    conversation = await open_claude()
    told = await conversation.turn("blob 1")
    assert len(text(told)) == 1_000_000
    assert len(only(told, base.TextFinal).text) == 1_000_000
    assert text(await conversation.turn("say: still here")) == "still here"
