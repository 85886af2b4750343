"""The events of turns of the real Codex, including its to-do lists and sub-agents."""

import asyncio
from pathlib import Path

from model.backends import agent_events, base
from model.backends.codex.backend import CodexBackend
from model.domain.usage import Usage
from tests.live.codex_setup import LONG_ENOUGH, contents
from tests.model.backends.agents import (
    Conversation,
    Open,
    find_processes_in,
    get_resume_token,
    make_launch,
    only,
    text,
    wait_until,
)


async def test_text_and_thinking_stream_and_the_usage_is_reported(open_codex: Open) -> None:
    events = await (await open_codex()).turn("think: about looms and threads")
    assert text(events, "thinking") == "about looms and threads"
    assert text(events) == "I thought about it."
    finished = only(events, agent_events.TurnFinished)
    assert finished.stop_reason == "end_turn"
    assert finished.usage == Usage(
        input_tokens=100,
        output_tokens=5,
        cache_creation_input_tokens=20,
        cache_read_input_tokens=3,
    )
    assert finished.context_tokens == 128
    assert (finished.context_window or 0) >= 100_000


async def test_a_conversation_that_is_open_elsewhere_goes_on_in_a_copy(
    open_codex: Open, codex_environment: dict[str, str], worktree: Path
) -> None:
    first = await open_codex()
    await first.turn("say: warp")
    token = get_resume_token(first)
    elsewhere = CodexBackend()
    launch = make_launch(
        worktree, model="gpt-5.5", environment=codex_environment, resume_token=token
    )
    copy = Conversation(await elsewhere.open(launch))
    try:
        assert "warp" in text(await copy.turn("remember?"))
        notes = [each for each in copy.events if isinstance(each, agent_events.ConversationNote)]
        assert any("goes on in a copy" in note.text for note in notes)
        assert get_resume_token(copy) != token
    finally:
        await copy.agent.close()
        await elsewhere.close()


async def test_the_reasoning_of_open_models_is_shown(open_codex: Open) -> None:
    events = await (await open_codex()).turn("reason: about looms")
    assert text(events, "thinking") == "about looms"
    assert text(events) == "I thought about it."


async def test_each_turn_reports_its_own_usage(open_codex: Open) -> None:
    conversation = await open_codex()
    await conversation.turn("say: one")
    second = only(await conversation.turn("write a.txt: two"), agent_events.TurnFinished)
    assert second.usage.input_tokens == 200  # two answers of the model
    assert second.usage.output_tokens == 5


async def test_a_write_happens_on_disk_and_is_reported_as_an_edit(
    open_codex: Open, worktree: Path
) -> None:
    events = await (await open_codex()).turn("write a.txt: hi")
    assert (worktree / "a.txt").read_text() == "hi\n"
    edit = [event for event in events if isinstance(event, agent_events.ToolUse)][-1]
    assert edit.name == "edit"
    assert edit.input == {"file_path": "a.txt", "old_content": "", "new_content": "hi\n"}
    result = only(events, agent_events.ToolResult)
    assert (result.tool_use_id, result.is_error) == (edit.id, False)
    assert text(events).endswith("done")


async def test_an_edit_reports_what_it_replaces(open_codex: Open, worktree: Path) -> None:
    (worktree / "a.txt").write_text("one\ntwo\nthree\n")
    events = await (await open_codex()).turn("edit a.txt: two => 2")
    assert (worktree / "a.txt").read_text() == "one\n2\nthree\n"
    edits = [e.input for e in events if isinstance(e, agent_events.ToolUse)]
    assert edits[-1]["file_path"] == "a.txt"
    assert "two\n" in edits[-1]["old_content"]
    assert "2\n" in edits[-1]["new_content"]


async def test_a_to_do_list_is_shown_as_it_changes(open_codex: Open) -> None:
    events = await (await open_codex()).turn("todo: spin | weave")
    first, last = (event for event in events if isinstance(event, agent_events.ToolUse))
    assert first.name == "TodoWrite"
    assert first.input["todos"] == [
        {"content": "spin", "status": "in_progress"},
        {"content": "weave", "status": "pending"},
    ]
    assert {todo["status"] for todo in last.input["todos"]} == {"completed"}


async def test_a_sub_agents_tools_are_shown_under_the_tool_that_started_it(
    open_codex: Open, worktree: Path
) -> None:
    words = f"sandboxed: {LONG_ENOUGH}; touch woven"
    conversation = await open_codex(model="gpt-5.2")
    events = await conversation.turn(f"agent: {words}")
    assert contents(worktree) == ["woven"]
    agent, command = (event for event in events if isinstance(event, agent_events.ToolUse))
    assert (agent.name, agent.input["prompt"]) == ("agent", words)
    assert (command.name, command.parent_tool_use_id) == ("bash", agent.id)
    results = {e.tool_use_id: e.content for e in events if isinstance(e, agent_events.ToolResult)}
    assert results[agent.id] == "done"
    assert text(events) == "done"
    assert only(events, agent_events.TurnFinished).usage.input_tokens > 300


async def test_a_sub_agent_asks_too(open_codex: Open, worktree: Path) -> None:
    conversation = await open_codex(model="gpt-5.2")
    await conversation.agent.send(base.Prompt("agent: bash: touch woven"))
    asked = await conversation.until(agent_events.PermissionRequested)
    assert asked.input == {"command": "touch woven"}
    await conversation.agent.permit(asked.request_id, "allow")
    await conversation.rest()
    assert contents(worktree) == ["woven"]


async def test_a_stop_ends_sub_agents_too(open_codex: Open, worktree: Path) -> None:
    conversation = await open_codex(model="gpt-5.2", mode="yolo")
    await conversation.agent.send(base.Prompt("agent: bash: touch ready; sleep 60"))
    await wait_until((worktree / "ready").exists)
    await asyncio.gather(conversation.agent.stop(), conversation.rest())
    events = conversation.events
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"
    used = {event.id for event in events if isinstance(event, agent_events.ToolUse)}
    failed = {
        e.tool_use_id for e in events if isinstance(e, agent_events.ToolResult) and e.is_error
    }
    assert used == failed  # the sub-agent, and its command if that was reported before the stop
    await wait_until(lambda: not find_processes_in(worktree))
    assert text(await conversation.turn("say: still here")) == "still here"


async def test_the_conversation_is_compacted_on_request(open_codex: Open) -> None:
    conversation = await open_codex()
    await conversation.turn("say: one")
    events = await conversation.turn("/compact")
    assert agent_events.COMPACTION_NOTE in events
    assert text(await conversation.turn("say: two")) == "two"
