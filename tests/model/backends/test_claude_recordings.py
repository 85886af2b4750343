"""Recorded output of the real Claude Code, played to its adapter: unchanged, in any pieces, and
damaged. The adapter reports what it can, raises no error, and ends each turn that began.
"""

import asyncio
import json
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from model.backends import agent_events, base, channel
from model.backends.claude import backend
from model.backends.claude.backend import ClaudeBackend
from model.backends.process import AgentProcess
from model.backends.program import AgentProgram
from model.backends.traffic import TrafficRecorder
from model.domain.usage import Usage
from tests.model.backends.agents import Conversation, make_launch, only
from tests.model.backends.claude_recordings import (
    INPUT,
    OUTPUT,
    SCENARIOS,
    Chunks,
    Json,
    PlayedProcess,
    Player,
    in_one_piece,
    kind_of,
    load_recording,
)

Play = Callable[..., Awaitable[tuple[Conversation, Player]]]

EXPECTED_EVENTS: Mapping[str, Sequence[str]] = {
    "thinking": ["thinking", "text", "end_turn"],
    "edits": [
        "text", "edit a.txt: -> hi", "result", "text", "end_turn",
        "Read", "result", "edit a.txt: hi -> ho", "result", "text", "end_turn",
    ],
    "plan": [
        "text", "plan weave a scarf", "edit planned.txt: -> weave a scarf", "result", "text",
        "end_turn",
    ],
    "question": ["question Tea or coffee?", "text", "end_turn"],
    "permission": ["Bash", "permission Bash", "result 42", "text", "end_turn"],
    "sub-agent": ["Agent", "Agent/Bash", "result inner", "result", "text", "end_turn"],
    "to-do": ["TodoWrite", "result", "text", "end_turn"],
    "stopped-text": ["text", "stopped", "text", "end_turn"],
    "stopped-question": [
        "question Tea or coffee?", "withdrawn", "stopped", "text", "end_turn",
    ],
    "overloaded": [
        "notice Retrying (1 of 1): the provider is overloaded", "failed backend_error", "text",
        "end_turn",
    ],
    "compacted": [
        "text", "end_turn", "notice Shortening the conversation…",
        "shortened", "end_turn", "text",
        "end_turn",
    ],
}  # fmt: skip
"""The events of each recording, in the words of `describe_events`."""


@pytest.fixture
async def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Play]:
    """Opens a conversation in which a player of lines replaces the program."""
    opened: list[base.Agent] = []
    worktree = tmp_path / "worktree"
    worktree.mkdir()

    async def play(
        lines: list[Json], chunks: Chunks = in_one_piece, **launch: Any
    ) -> tuple[Conversation, Player]:
        players: list[Player] = []

        async def start(
            argv: Sequence[str], cwd: Path, environment: object, record: TrafficRecorder
        ) -> AgentProcess:
            conversation = argv[argv.index("--session-id") + 1]
            players.append(Player(lines, conversation, tmp_path, chunks))
            return PlayedProcess(players[0])

        monkeypatch.setattr(backend.AgentProcess, "start", start)
        monkeypatch.setattr(AgentProgram, "find", find)
        environment = {"CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}
        defaults = {"model": "sonnet", "thinking": "think", "environment": environment}
        agent = await ClaudeBackend().open(make_launch(worktree, **{**defaults, **launch}))
        opened.append(agent)
        return Conversation(agent), players[0]

    async def find(program: AgentProgram, path: str | None) -> str:
        return program.command

    yield play
    await asyncio.gather(*(agent.close() for agent in opened))


def describe_events(events: Iterable[agent_events.AgentEvent]) -> list[str]:
    """A word for each event; adjacent events of one block or tool call are one word."""
    uses: dict[str, agent_events.ToolUse] = {}
    words: list[str] = []
    for event in events:
        if isinstance(event, agent_events.ToolUse):
            known = event.id in uses
            uses[event.id] = event
            if known:  # its input or correction counts where it was announced
                continue
            words.append(f"use {event.id}")
        elif word := _describe_event(event):
            words.append(word)
    named = (_describe_use(uses, word) for word in words)
    return [word for word, _ in groupby(named)]


def _describe_use(uses: Mapping[str, agent_events.ToolUse], word: str) -> str:
    kind, _, name = word.partition(" ")
    if kind != "use":
        return word
    use = uses[name]
    if use.name == "edit":
        old, new = use.input["old_content"].strip(), use.input["new_content"].strip()
        return f"edit {use.input['file_path']}: {old} -> {new}".replace(":  ->", ": ->")
    parent = uses.get(use.parent_tool_use_id or "")
    return f"{parent.name}/{use.name}" if parent else use.name


def _describe_event(event: agent_events.AgentEvent) -> str:
    match event:
        case agent_events.TextDelta(kind=kind) | agent_events.TextFinal(kind=kind):
            return kind
        case agent_events.ToolResult(content=content):
            return f"result {content}" if content in ("42", "inner") else "result"
        case agent_events.PlanProposed(text=plan):
            return f"plan {plan}"
        case agent_events.QuestionAsked(questions=(question, *_)):
            return f"question {question.question}"
        case agent_events.PermissionRequested(tool_name=name):
            return f"permission {name}"
        case agent_events.RequestWithdrawn():
            return "withdrawn"
        case agent_events.Notice(text=text):
            return f"notice {text}"
        case agent_events.ConversationNote() if event == agent_events.COMPACTION_NOTE:
            return "shortened"
        case agent_events.TurnFinished(stop_reason=reason):
            return reason
        case agent_events.TurnFailed(error_type=kind):
            return f"failed {kind}"
        case _:
            return ""


def test_every_scenario_has_expected_events() -> None:
    assert EXPECTED_EVENTS.keys() == SCENARIOS.keys()


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_recording_produces_the_expected_events(play: Play, name: str) -> None:
    scenario = SCENARIOS[name]
    conversation, _ = await play(load_recording(name), mode=scenario.mode, model=scenario.model)
    events = await scenario.perform(conversation)
    assert describe_events(events) == EXPECTED_EVENTS[name]
    assert len([e for e in events if isinstance(e, agent_events.ConversationIdentified)]) == 1


@pytest.mark.parametrize("name", SCENARIOS)
async def test_lines_may_arrive_in_any_pieces(play: Play, name: str) -> None:
    scenario, dice = SCENARIOS[name], random.Random(name)

    def scattered(data: bytes) -> Iterable[bytes]:
        cuts = sorted(dice.sample(range(len(data)), min(len(data), dice.randrange(1, 40))))
        return [data[start:end] for start, end in zip([0, *cuts], [*cuts, None], strict=True)]

    lines = load_recording(name)
    conversation, _ = await play(lines, scattered, mode=scenario.mode, model=scenario.model)
    assert describe_events(await scenario.perform(conversation)) == EXPECTED_EVENTS[name]


async def test_lines_may_arrive_byte_by_byte(play: Play) -> None:
    scenario = SCENARIOS["permission"]
    conversation, _ = await play(
        load_recording("permission"), lambda data: [bytes([byte]) for byte in data], mode="build"
    )
    assert describe_events(await scenario.perform(conversation)) == EXPECTED_EVENTS["permission"]


async def test_a_stopped_turn_counts_its_input_tokens(play: Play) -> None:
    conversation, _ = await play(load_recording("stopped-text"))
    stopped, finished = (
        e
        for e in await SCENARIOS["stopped-text"].perform(conversation)
        if isinstance(e, agent_events.TurnFinished)
    )
    assert stopped.usage.input_tokens == 100
    assert finished.usage == Usage(
        input_tokens=100,
        output_tokens=2,
        cache_creation_input_tokens=20,
        cache_read_input_tokens=3,
    )


# Damage ----------------------------------------------------------------------------------------


NONSENSE: Sequence[Any] = (None, True, 7, -1.5, "", "x", [], [1], {}, {"type": "x"})


def load_output(name: str) -> list[Json]:
    """A recording whose output follows the first message without further input."""
    first, *lines = load_recording(name)
    assert kind_of(first[INPUT]) == "user"
    return [first, *(line for line in lines if OUTPUT in line)]


def damage(lines: list[Json], dice: random.Random) -> list[Json]:
    """The lines with some dropped, doubled, cut, moved, of unknown types or with other values."""
    first, *rest = lines
    result: list[Json] = []
    for line in rest:
        match dice.randrange(12):
            case 0:
                continue
            case 1:
                result += [line, line]
            case 2:
                text = json.dumps(line[OUTPUT])
                result.append({OUTPUT: text[: dice.randrange(len(text))]})
            case 3:
                result.append({OUTPUT: {**line[OUTPUT], "type": "tomorrow"}})
            case 4 | 5:
                result.append({OUTPUT: _replace_part(line[OUTPUT], dice)})
            case 6:
                result.insert(dice.randrange(len(result) + 1), line)
            case _:
                result.append(line)
    return [first, *result]


def _replace_part(value: Any, dice: random.Random) -> Any:
    """The value with one part of it replaced by nonsense."""
    if isinstance(value, dict) and value and dice.random() < 0.85:
        key = dice.choice(list(value))
        return {**value, key: _replace_part(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.85:
        place = dice.randrange(len(value))
        return [*value[:place], _replace_part(value[place], dice), *value[place + 1 :]]
    return dice.choice(NONSENSE)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", SCENARIOS)
async def test_damaged_recordings_log_no_error_and_leave_no_turn_open(
    play: Play, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    for seed in range(60):
        caplog.clear()
        lines = damage(load_output(name), random.Random(f"{name} {seed}"))
        conversation, player = await play(lines, mode=SCENARIOS[name].mode)
        await conversation.agent.send(base.Prompt("Go"))
        player.end()
        await conversation.end()
        events = conversation.events
        begun = 1 + sum(isinstance(event, agent_events.TurnStarted) for event in events)
        ends = [
            e for e in events if isinstance(e, agent_events.TurnFinished | agent_events.TurnFailed)
        ]
        assert len(ends) == begun, f"seed {seed}"
        errors = [r.getMessage() for r in caplog.records if r.levelno >= logging.ERROR]
        assert errors == [], f"seed {seed}"


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_program_that_ends_after_any_line_fails_the_open_turn(
    play: Play, name: str
) -> None:
    lines = load_output(name)
    for length in range(1, len(lines), 4):
        conversation, player = await play(lines[:length], mode=SCENARIOS[name].mode)
        await conversation.agent.send(base.Prompt("Go"))
        player.end()
        await conversation.end()
        ends = [
            e
            for e in conversation.events
            if isinstance(e, agent_events.TurnFinished | agent_events.TurnFailed)
        ]
        whole = any(line.get(OUTPUT, {}).get("type") == "result" for line in lines[:length])
        assert whole or isinstance(ends[0], agent_events.TurnFailed)


async def test_a_turn_whose_result_was_lost_can_be_stopped(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "STOP_TIMEOUT", 0.01)
    lines = [
        line for line in load_output("thinking") if line.get(OUTPUT, {}).get("type") != "result"
    ]
    conversation, player = await play(lines)
    await conversation.agent.send(base.Prompt("Go"))
    await conversation.until(agent_events.TextFinal)
    await conversation.agent.stop()
    assert only(await conversation.rest(), agent_events.TurnFinished).stop_reason == "stopped"
    assert player.ended
