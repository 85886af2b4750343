"""Recorded conversations with the real OpenCode, played to its adapter: whole, cut, damaged."""

import asyncio
import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

from model.backends import agent_events, base
from model.backends.opencode import session
from model.backends.opencode.stop import TurnStopper
from model.domain.agent_commands import AgentCommand
from tests.model.backends.agents import Conversation, only, text
from tests.model.backends.opencode_played import (
    PROPERTIES,
    SCENARIOS,
    Line,
    conversation_of,
    history_of,
    load_recording,
    open_played,
    respond_to_requests,
)
from tests.patience import PATIENCE

ENDS = (agent_events.TurnFinished, agent_events.TurnFailed)


async def play(name: str, lines: list[Line] | None = None, chunk: int = 1 << 16) -> Conversation:
    """Play a recording, or a changed version of its lines, to the adapter."""
    whole = load_recording(name)
    mode, prompt = SCENARIOS[name]
    conversation, server = open_played(
        whole if lines is None else lines, conversation_of(whole), mode, chunk
    )
    responding = asyncio.create_task(respond_to_requests(conversation, name))
    await conversation.agent.send(base.Prompt(prompt))
    if lines is not None:
        # Missing lines may leave the turn open until the program ends.
        await asyncio.wait([responding], timeout=0.3)
        server.end()
    async with asyncio.timeout(PATIENCE):
        await responding
        await conversation.agent.close()
    return conversation


async def test_a_text() -> None:
    events = (await play("text")).events
    assert text(events, "thinking") == "about looms and threads"
    assert text(events) == "I thought about it."
    finals = [event for event in events if isinstance(event, agent_events.TextFinal)]
    assert [(event.kind, event.text) for event in finals] == [
        ("thinking", "about looms and threads"),
        ("text", "I thought about it."),
    ]
    finished = only(events, agent_events.TurnFinished)
    assert (finished.stop_reason, finished.usage.input_tokens) == ("end_turn", 120)
    assert finished.cost_usd is None  # the model has no price, which the program counts as 0


async def test_an_edit() -> None:
    events = (await play("edit")).events
    _announced, edit = (event for event in events if isinstance(event, agent_events.ToolUse))
    assert edit.name == "edit"
    assert edit.input == {"file_path": "a.txt", "old_content": "", "new_content": "hi"}
    assert not only(events, agent_events.ToolResult).is_error
    assert not any(isinstance(event, agent_events.PermissionRequested) for event in events)


async def test_permission_for_a_command_is_requested_after_its_tool_use() -> None:
    events = (await play("command")).events
    places = [
        place
        for place, event in enumerate(events)
        if isinstance(
            event, agent_events.ToolUse | agent_events.PermissionRequested | agent_events.ToolResult
        )
    ]
    announced, used, asked, result = (events[place] for place in places)
    assert isinstance(announced, agent_events.ToolUse)
    assert isinstance(used, agent_events.ToolUse)
    assert isinstance(asked, agent_events.PermissionRequested)
    assert isinstance(result, agent_events.ToolResult)
    assert asked.input == used.input
    assert asked.tool_use_id == used.id == result.tool_use_id
    assert result.content.strip() == "42"


@pytest.mark.parametrize(("code", "is_error"), [(0, False), (3, True), (None, True)])
async def test_a_failed_or_aborted_command_is_reported_as_an_error(
    code: int | None, is_error: bool
) -> None:
    lines = load_recording("command")
    states = [line[PROPERTIES]["part"]["state"] for line in lines if "state" in part_of(line)]
    (ended,) = (state for state in states if state["status"] == "completed")
    ended["metadata"]["exit"] = code
    assert only((await play("command", lines)).events, agent_events.ToolResult).is_error is is_error


def part_of(line: Line) -> Any:
    """The message part of an event, if it has one."""
    return line.get(PROPERTIES, {}).get("part", {}) if "event" in line else {}


async def test_the_commands_of_the_server_are_listed() -> None:
    lines = load_recording("text")
    conversation, server = open_played(lines, conversation_of(lines), "build")
    server.answers["/command"] = [
        {"name": "weave", "description": "Weave", "hints": ["$1", "$ARGUMENTS"]},
        {"name": "init", "description": None, "hints": None},
        {"name": None},
        "garbage",
    ]
    await conversation.agent.send(base.Prompt(SCENARIOS["text"][1]))
    weave, init, compact = (await conversation.until(agent_events.CommandsListed)).commands
    assert weave == AgentCommand(name="weave", description="Weave", argument_hint="[1] [arguments]")
    assert init == AgentCommand(name="init")
    assert compact.name == "compact"
    await conversation.agent.close()


async def test_a_question() -> None:
    events = (await play("question")).events
    (question,) = only(events, agent_events.QuestionAsked).questions
    assert [option.label for option in question.options] == ["Tea", "Coffee"]
    assert "Water" in text(events)
    assert not any(isinstance(event, agent_events.ToolUse) for event in events)


async def test_a_plan() -> None:
    events = (await play("plan")).events
    assert only(events, agent_events.PlanProposed).text == "weave a scarf"
    assert "<" not in text(events)
    assert only(events, agent_events.TurnFinished).stop_reason == "end_turn"


async def test_a_stop() -> None:
    finished = only((await play("stop")).events, agent_events.TurnFinished)
    assert finished.stop_reason == "stopped"


async def test_late_events_of_a_stopped_turn_do_not_end_the_next_one() -> None:
    stopped, following = load_recording("stop"), load_recording("text")
    calls = [place for place, line in enumerate(stopped) if "call" in line]
    begun, ended = stopped[: calls[1] + 1], stopped[calls[1] + 1 : calls[2]]
    session = conversation_of(stopped)
    following = json.loads(json.dumps(following).replace(conversation_of(following), session))
    # A response that was created during the stop is new to the adapter.
    late = json.loads(json.dumps(ended).replace("msg_1fef53cd5001", "msg_1fef53cd5002"))
    first = [line for line in ended if line["event"].startswith("session.")][:3]
    lines = [*begun, *first, following[0], *late, *following[1:]]
    conversation, _ = open_played(lines, session, "build")
    await conversation.agent.send(base.Prompt("slow"))
    await respond_to_requests(conversation, "stop")
    events = await conversation.turn("think: about looms and threads")
    await conversation.agent.close()
    assert text(events) == "I thought about it."
    assert only(events, agent_events.TurnFinished).stop_reason == "end_turn"


async def test_a_turn_that_is_given_up_fails_though_its_end_is_handled_after_the_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorded = load_recording("stop")
    key = conversation_of(recorded)
    begun = recorded[: next(i for i, line in enumerate(recorded) if "abort" in str(line))]
    status = {"type": "retry", "attempt": 1, "message": "Busy", "next": 1000 * (time.time() + 40)}
    retry: Line = {
        "event": "session.status",
        PROPERTIES: {"sessionID": key, "status": status},
    }
    idle: Line = {
        "event": "session.status",
        PROPERTIES: {"sessionID": key, "status": {"type": "idle"}},
    }
    conversation, server = open_played([*begun, retry, {"call": "POST"}, idle], key, "build")

    async def stop(stopper: TurnStopper, timeout: float | None = None) -> None:
        await server.call("POST", "/abort", Path("/worktree"))
        while not stopper._idle.is_set():
            await asyncio.sleep(0)

    monkeypatch.setattr(TurnStopper, "stop", stop)
    failed = only(await conversation.turn("slow"), agent_events.TurnFailed)
    assert 30 < (failed.retry_after or 0) <= 40
    await conversation.agent.close()


async def test_a_refused_key() -> None:
    failed = only((await play("refused")).events, agent_events.TurnFailed)
    assert failed.error_type == "authentication_error"


async def test_a_sub_agents_tools_are_reported_under_its_tool_use() -> None:
    events = (await play("agent")).events
    uses = {event.id: event for event in events if isinstance(event, agent_events.ToolUse)}
    task, command = uses.values()
    assert (task.name, task.parent_tool_use_id) == ("Task", None)
    assert (command.name, command.parent_tool_use_id) == ("Bash", task.id)
    assert only(events, agent_events.PermissionRequested).tool_use_id == command.id
    assert (
        only(events, agent_events.TurnFinished).usage.input_tokens > 300
    )  # including the sub-agent's


async def test_a_to_do_list() -> None:
    events = (await play("todo")).events
    use = [event for event in events if isinstance(event, agent_events.ToolUse)][-1]
    assert use.name == "TodoWrite"
    assert [todo["content"] for todo in use.input["todos"]] == ["spin", "weave"]


@pytest.mark.parametrize("name", SCENARIOS)
async def test_pieces_of_any_size_produce_the_same_events(name: str) -> None:
    def comparable(conversation: Conversation) -> list[Any]:
        return [
            event
            for event in conversation.events
            if not isinstance(
                event,
                agent_events.PlanProposed | agent_events.RequestWithdrawn | agent_events.TextDelta,
            )
        ]

    whole, bytewise, pieces = await asyncio.gather(
        play(name), play(name, chunk=1), play(name, chunk=random.randint(2, 300))
    )
    assert comparable(whole) == comparable(bytewise) == comparable(pieces)
    assert text(whole.events) == text(bytewise.events) == text(pieces.events)


def damage(lines: list[Line], chance: random.Random) -> list[Line]:
    """The recording with events dropped, doubled, moved, cut or of unknown types."""
    result: list[Line] = []
    for line in lines:
        if "call" in line:
            result.append(line)
            continue
        match chance.randrange(12):
            case 0:
                continue
            case 1:
                result += [line, line]
            case 2:
                result.insert(chance.randrange(len(result)) or 1, line)
            case 3:
                result.append(
                    {"raw": "data: " + json.dumps(line)[: chance.randrange(200)] + "\n\n"}
                )
            case 4:
                result += [{"event": "thread.rewoven", PROPERTIES: line[PROPERTIES]}, line]
            case 5:
                result.append({**line, PROPERTIES: damage_value(line[PROPERTIES], chance)})
            case _:
                result.append(line)
    return result


def damage_value(value: Any, chance: random.Random) -> Any:
    """The value with one part of it replaced by another value."""
    if not isinstance(value, dict) or not value:
        return chance.choice([None, 0, "", [], {}, "x", -1, [{}], {"a": None}])
    key = chance.choice(list(value))
    return {**value, key: damage_value(value[key], chance)}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_damaged_recording_has_exactly_one_end(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def play_damaged(seed: int) -> None:
        lines = damage(load_recording(name), random.Random(seed))
        events = (await play(name, lines)).events
        assert sum(isinstance(event, ENDS) for event in events) == 1, f"seed {seed}: {events}"
        assert isinstance(events[-1], ENDS), f"seed {seed}"

    await asyncio.gather(*map(play_damaged, range(60)))
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []


async def test_garbage_and_a_huge_event_are_skipped() -> None:
    lines = load_recording("text")
    huge = {**lines[-1], PROPERTIES: {**lines[-1][PROPERTIES], "more": "x" * 10_000_000}}
    mixed = [lines[0], {"raw": "data: {nonsense\n\n"}, {"raw": "\x00\xff: ?\n"}, huge, *lines[1:]]
    events = (await play("text", mixed)).events
    assert text(events) == "I thought about it."
    assert "ignored" in only(events, agent_events.Notice).text


async def test_events_missed_while_disconnected_are_recovered() -> None:
    lines = load_recording("command")
    calls = [place for place, line in enumerate(lines) if "call" in line]
    asked = next(line[PROPERTIES] for line in lines if line.get("event") == "permission.asked")
    conversation, server = open_played(
        [line for line in lines[: calls[1] + 1] if line.get("event") != "permission.asked"],
        conversation_of(lines),
        "build",
    )
    server.answers = {"/permission": [asked], "/session/status": {conversation_of(lines): {}}}
    await conversation.agent.send(base.Prompt("bash: echo $((6 * 7))"))
    await conversation.until(agent_events.ToolUse)
    server.cut_off()
    request = await conversation.until(agent_events.PermissionRequested)
    await conversation.agent.permit(request.request_id, "allow")
    old = {"info": {"id": "msg_old", "role": "assistant", "sessionID": asked["sessionID"]}}
    history = [old, *history_of(lines)]
    server.answers = {f"/session/{conversation_of(lines)}/message": history}
    server.cut_off()
    await conversation.rest()
    events = conversation.events
    await conversation.agent.close()
    assert only(events, agent_events.ToolResult).content.strip() == "42"
    assert [event.text for event in events if isinstance(event, agent_events.TextFinal)] == ["done"]
    assert only(events, agent_events.TurnFinished).stop_reason == "end_turn"


async def test_an_automatic_permission_does_not_wait_for_the_tools_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session, "_INPUT_TIMEOUT", 2 * PATIENCE)
    lines = load_recording("command")
    asked = [line.get("event") for line in lines].index("permission.asked")
    early = [*lines[: asked - 1], *lines[asked:]]  # before the input of its tool
    conversation, _ = open_played(early, conversation_of(lines), "yolo")
    events = await conversation.turn("bash: echo $((6 * 7))")
    await conversation.agent.close()
    assert only(events, agent_events.ToolResult).content.strip() == "42"


async def test_a_program_that_dies_fails_the_turn() -> None:
    events = (await play("text", load_recording("text")[:12])).events
    failed = only(events, agent_events.TurnFailed)
    assert failed.error_type == "backend_error"
    assert "SIGKILL" in failed.error


async def test_a_turn_that_a_plugin_begins_is_shown_and_its_requests_are_asked() -> None:
    lines = load_recording("command")
    conversation, server = open_played(
        lines + load_recording("text"), conversation_of(lines), SCENARIOS["command"][0]
    )
    # The prompt is not ours: only its events arrive.
    await server.call("POST", "/session/x/prompt_async", Path("/worktree"))
    async with asyncio.timeout(PATIENCE):
        await respond_to_requests(conversation, "command")
    kinds = [type(event) for event in conversation.events]
    assert kinds[0] is agent_events.TurnStarted
    assert agent_events.PermissionRequested in kinds
    assert only(conversation.events, agent_events.ToolResult).content == "42\n"
    assert only(conversation.events, agent_events.TurnFinished).stop_reason == "end_turn"
    await conversation.agent.close()


@pytest.mark.parametrize("kind", ["permission", "question"])
async def test_a_request_that_belongs_to_no_turn_is_rejected(kind: str) -> None:
    lines = load_recording("text")
    key = conversation_of(lines)
    asked: Line = {"event": f"{kind}.asked", PROPERTIES: {"id": "r1", "sessionID": key}}
    conversation, server = open_played([*lines, {"call": "POST"}, asked], key, "build")
    await conversation.turn("think: about looms and threads")
    await server.call("POST", "/nothing", Path("/worktree"))
    async with asyncio.timeout(PATIENCE):
        while not server.rejected:
            await asyncio.sleep(0)
    assert server.rejected == [f"/{kind}/r1/" + ("reply" if kind == "permission" else "reject")]
    await conversation.agent.close()
