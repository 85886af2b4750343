"""Recorded conversations with the real OpenCode, played to its adapter: whole, cut, damaged."""

import asyncio
import json
import random
from typing import Any

import pytest

from model.backends import base
from model.backends.opencode import session
from model.domain.resources import AgentCommand
from tests.model.backends.agents import Conversation, only, text
from tests.model.backends.opencode_played import (
    SCENARIOS,
    Line,
    answering,
    conversation_of,
    history_of,
    open_played,
    recorded,
)
from tests.patience import PATIENCE

ENDS = (base.TurnFinished, base.TurnFailed)


async def played(name: str, lines: list[Line] | None = None, chunk: int = 1 << 16) -> Conversation:
    """What the adapter tells of a recording, or of what became of one."""
    whole = recorded(name)
    mode, prompt = SCENARIOS[name]
    conversation, server = open_played(
        whole if lines is None else lines, conversation_of(whole), mode, chunk
    )
    acting = asyncio.create_task(answering(conversation, name))
    await conversation.agent.send(base.Prompt(prompt))
    if lines is not None:
        # What is missing may leave the turn open; as in life, the program ends some day.
        await asyncio.wait([acting], timeout=0.3)
        server.end()
    async with asyncio.timeout(PATIENCE):
        await acting
        await conversation.agent.close()
    return conversation


async def test_a_text() -> None:
    told = (await played("text")).told
    assert text(told, "thinking") == "about looms and threads"
    assert text(told) == "I thought about it."
    finals = [event for event in told if isinstance(event, base.TextFinal)]
    assert [(event.kind, event.text) for event in finals] == [
        ("thinking", "about looms and threads"),
        ("text", "I thought about it."),
    ]
    finished = only(told, base.TurnFinished)
    assert (finished.stop_reason, finished.usage.input_tokens) == ("end_turn", 120)


async def test_an_edit() -> None:
    told = (await played("edit")).told
    _announced, edit = (event for event in told if isinstance(event, base.ToolUse))
    assert edit.name == "edit"
    assert edit.input == {"file_path": "a.txt", "old_content": "", "new_content": "hi"}
    assert not only(told, base.ToolResult).is_error
    assert not any(isinstance(event, base.PermissionRequested) for event in told)


async def test_a_command_is_asked_after_its_use_is_told() -> None:
    told = (await played("command")).told
    places = [
        place
        for place, event in enumerate(told)
        if isinstance(event, base.ToolUse | base.PermissionRequested | base.ToolResult)
    ]
    announced, used, asked, result = (told[place] for place in places)
    assert isinstance(announced, base.ToolUse)
    assert isinstance(used, base.ToolUse)
    assert isinstance(asked, base.PermissionRequested)
    assert isinstance(result, base.ToolResult)
    assert asked.input == used.input
    assert asked.tool_use_id == used.id == result.tool_use_id
    assert result.content.strip() == "42"


@pytest.mark.parametrize(("code", "is_error"), [(0, False), (3, True), (None, True)])
async def test_a_command_that_failed_or_was_aborted_is_told_as_one(
    code: int | None, is_error: bool
) -> None:
    lines = recorded("command")
    states = [line["told"]["part"]["state"] for line in lines if "state" in part_of(line)]
    (ended,) = (state for state in states if state["status"] == "completed")
    ended["metadata"]["exit"] = code
    assert only((await played("command", lines)).told, base.ToolResult).is_error is is_error


def part_of(line: Line) -> Any:
    """The part of a message that an event tells of, or nothing."""
    return line.get("told", {}).get("part", {}) if "event" in line else {}


async def test_what_the_server_lists_as_commands_is_told() -> None:
    lines = recorded("text")
    conversation, server = open_played(lines, conversation_of(lines), "build")
    server.answers["/command"] = [
        {"name": "weave", "description": "Weave", "hints": ["$1", "$ARGUMENTS"]},
        {"name": "init", "description": None, "hints": None},
        {"name": None},
        "garbage",
    ]
    await conversation.agent.send(base.Prompt(SCENARIOS["text"][1]))
    weave, init, compact = (await conversation.until(base.CommandsListed)).commands
    assert weave == AgentCommand(name="weave", description="Weave", argument_hint="[1] [arguments]")
    assert init == AgentCommand(name="init")
    assert compact.name == "compact"
    await conversation.agent.close()


async def test_a_question() -> None:
    told = (await played("question")).told
    (question,) = only(told, base.QuestionAsked).questions
    assert [option.label for option in question.options] == ["Tea", "Coffee"]
    assert "Water" in text(told)
    assert not any(isinstance(event, base.ToolUse) for event in told)


async def test_a_plan() -> None:
    told = (await played("plan")).told
    assert only(told, base.PlanProposed).text == "weave a scarf"
    assert "<" not in text(told)
    assert only(told, base.TurnFinished).stop_reason == "end_turn"


async def test_a_stop() -> None:
    finished = only((await played("stop")).told, base.TurnFinished)
    assert finished.stop_reason == "stopped"


async def test_a_refused_key() -> None:
    failed = only((await played("refused")).told, base.TurnFailed)
    assert failed.error_type == "authentication_error"


async def test_what_a_sub_agent_does_is_told_under_its_use() -> None:
    told = (await played("agent")).told
    uses = {event.id: event for event in told if isinstance(event, base.ToolUse)}
    task, command = uses.values()
    assert (task.name, task.parent_tool_use_id) == ("Task", None)
    assert (command.name, command.parent_tool_use_id) == ("Bash", task.id)
    assert only(told, base.PermissionRequested).tool_use_id == command.id
    assert only(told, base.TurnFinished).usage.input_tokens > 300  # its own and the sub-agent's


async def test_a_list_of_things_to_do() -> None:
    told = (await played("todo")).told
    use = [event for event in told if isinstance(event, base.ToolUse)][-1]
    assert use.name == "TodoWrite"
    assert [todo["content"] for todo in use.input["todos"]] == ["spin", "weave"]


@pytest.mark.parametrize("name", SCENARIOS)
async def test_pieces_of_any_size_tell_the_same(name: str) -> None:
    def told(conversation: Conversation) -> list[Any]:
        return [
            event
            for event in conversation.told
            if not isinstance(event, base.PlanProposed | base.RequestWithdrawn | base.TextDelta)
        ]

    whole, bytewise, pieces = await asyncio.gather(
        played(name), played(name, chunk=1), played(name, chunk=random.randint(2, 300))
    )
    assert told(whole) == told(bytewise) == told(pieces)
    assert text(whole.told) == text(bytewise.told) == text(pieces.told)


def damaged(lines: list[Line], chance: random.Random) -> list[Line]:
    """The recording with events dropped, doubled, moved, cut, and some that nobody knows."""
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
                result += [{"event": "thread.rewoven", "told": line["told"]}, line]
            case 5:
                result.append({**line, "told": without(line["told"], chance)})
            case _:
                result.append(line)
    return result


def without(told: Any, chance: random.Random) -> Any:
    """The same with something in it missing or of another type."""
    if not isinstance(told, dict) or not told:
        return chance.choice([None, 0, "", [], {}, "x", -1, [{}], {"a": None}])
    key = chance.choice(list(told))
    return {**told, key: without(told[key], chance)}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_damaged_recording_ends_honestly(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def one(seed: int) -> None:
        lines = damaged(recorded(name), random.Random(seed))
        told = (await played(name, lines)).told
        assert sum(isinstance(event, ENDS) for event in told) == 1, f"seed {seed}: {told}"
        assert isinstance(told[-1], ENDS), f"seed {seed}"

    await asyncio.gather(*map(one, range(60)))
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []


async def test_garbage_and_a_huge_event_are_left_out() -> None:
    lines = recorded("text")
    huge = {**lines[-1], "told": {**lines[-1]["told"], "more": "x" * 10_000_000}}
    mixed = [lines[0], {"raw": "data: {nonsense\n\n"}, {"raw": "\x00\xff: ?\n"}, huge, *lines[1:]]
    told = (await played("text", mixed)).told
    assert text(told) == "I thought about it."
    assert "ignored" in only(told, base.Notice).text


async def test_what_was_told_while_the_stream_was_cut_is_made_up_for() -> None:
    lines = recorded("command")
    calls = [place for place, line in enumerate(lines) if "call" in line]
    asked = next(line["told"] for line in lines if line.get("event") == "permission.asked")
    conversation, server = open_played(
        [line for line in lines[: calls[1] + 1] if line.get("event") != "permission.asked"],
        conversation_of(lines),
        "build",
    )
    server.answers = {"/permission": [asked], "/session/status": {conversation_of(lines): {}}}
    await conversation.agent.send(base.Prompt("bash: echo $((6 * 7))"))
    await conversation.until(base.ToolUse)
    server.cut_off()
    request = await conversation.until(base.PermissionRequested)
    await conversation.agent.permit(request.request_id, "allow")
    old = {"info": {"id": "msg_old", "role": "assistant", "sessionID": asked["sessionID"]}}
    history = [old, *history_of(lines)]
    server.answers = {f"/session/{conversation_of(lines)}/message": history}
    server.cut_off()
    await conversation.rest()
    told = conversation.told
    await conversation.agent.close()
    assert only(told, base.ToolResult).content.strip() == "42"
    assert [event.text for event in told if isinstance(event, base.TextFinal)] == ["done"]
    assert only(told, base.TurnFinished).stop_reason == "end_turn"


async def test_what_no_person_is_asked_waits_for_no_words_to_show(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session, "_INPUT_TIMEOUT", 2 * PATIENCE)
    lines = recorded("command")
    asked = [line.get("event") for line in lines].index("permission.asked")
    early = [*lines[: asked - 1], *lines[asked:]]  # before the input of its tool
    conversation, _ = open_played(early, conversation_of(lines), "yolo")
    told = await conversation.turn("bash: echo $((6 * 7))")
    await conversation.agent.close()
    assert only(told, base.ToolResult).content.strip() == "42"


async def test_a_program_that_dies_fails_the_turn() -> None:
    told = (await played("text", recorded("text")[:12])).told
    failed = only(told, base.TurnFailed)
    assert failed.error_type == "backend_error"
    assert "SIGKILL" in failed.error
