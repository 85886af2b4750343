"""What the real Claude Code once said, played to its adapter again: as it was, in any pieces, and
damaged in every way; the adapter follows what it can, never trips, and ends each turn that began.
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

from model.backends import base, channel
from model.backends.claude import backend
from model.backends.claude.backend import ClaudeBackend
from model.backends.process import AgentProcess
from model.backends.program import AgentProgram
from model.backends.traffic import TrafficRecorder
from model.domain.resources import Usage
from tests.model.backends.agents import Conversation, a_launch, only
from tests.model.backends.claude_recordings import (
    SCENARIOS,
    Chunks,
    Json,
    PlayedProcess,
    Player,
    in_one_piece,
    kind_of,
    recording,
)

Play = Callable[..., Awaitable[tuple[Conversation, Player]]]

SHAPES: Mapping[str, Sequence[str]] = {
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
"""What is told in each recording, the pieces of one thing as one."""


@pytest.fixture
async def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Play]:
    """Opens a conversation with a player of lines in the place of the program."""
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
        monkeypatch.setattr(AgentProgram, "find", found)
        environment = {"CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}
        usual = {"model": "sonnet", "thinking": "think", "environment": environment}
        agent = await ClaudeBackend().open(a_launch(worktree, **{**usual, **launch}))
        opened.append(agent)
        return Conversation(agent), players[0]

    async def found(program: AgentProgram, path: str | None) -> str:
        return program.command

    yield play
    await asyncio.gather(*(agent.close() for agent in opened))


def shape(told: Iterable[base.AgentEvent]) -> list[str]:
    """The events in words; neighbours that are pieces or steps of one thing are one word."""
    uses: dict[str, base.ToolUse] = {}
    words: list[str] = []
    for event in told:
        if isinstance(event, base.ToolUse):
            known = event.id in uses
            uses[event.id] = event
            if known:  # its input, or its correction, belongs where it was announced
                continue
            words.append(f"use {event.id}")
        elif word := _word(event):
            words.append(word)
    named = (_use(uses, word) for word in words)
    return [word for word, _ in groupby(named)]


def _use(uses: Mapping[str, base.ToolUse], word: str) -> str:
    kind, _, name = word.partition(" ")
    if kind != "use":
        return word
    use = uses[name]
    if use.name == "edit":
        old, new = use.input["old_content"].strip(), use.input["new_content"].strip()
        return f"edit {use.input['file_path']}: {old} -> {new}".replace(":  ->", ": ->")
    parent = uses.get(use.parent_tool_use_id or "")
    return f"{parent.name}/{use.name}" if parent else use.name


def _word(event: base.AgentEvent) -> str:
    match event:
        case base.TextDelta(kind=kind) | base.TextFinal(kind=kind):
            return kind
        case base.ToolResult(content=content):
            return f"result {content}" if content in ("42", "inner") else "result"
        case base.PlanProposed(text=plan):
            return f"plan {plan}"
        case base.QuestionAsked(questions=(question, *_)):
            return f"question {question.question}"
        case base.PermissionRequested(tool_name=name):
            return f"permission {name}"
        case base.RequestWithdrawn():
            return "withdrawn"
        case base.Notice(text=text):
            return f"notice {text}"
        case base.ConversationNote() if event == base.COMPACTION_NOTE:
            return "shortened"
        case base.TurnFinished(stop_reason=reason):
            return reason
        case base.TurnFailed(error_type=kind):
            return f"failed {kind}"
        case _:
            return ""


def test_every_scenario_is_recorded_and_known() -> None:
    assert SHAPES.keys() == SCENARIOS.keys()


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_recording_is_told_as_it_was(play: Play, name: str) -> None:
    scenario = SCENARIOS[name]
    conversation, _ = await play(recording(name), mode=scenario.mode, model=scenario.model)
    told = await scenario.perform(conversation)
    assert shape(told) == SHAPES[name]
    assert len([e for e in told if isinstance(e, base.ConversationIdentified)]) == 1


@pytest.mark.parametrize("name", SCENARIOS)
async def test_it_does_not_matter_in_which_pieces_lines_arrive(play: Play, name: str) -> None:
    scenario, dice = SCENARIOS[name], random.Random(name)

    def scattered(data: bytes) -> Iterable[bytes]:
        cuts = sorted(dice.sample(range(len(data)), min(len(data), dice.randrange(1, 40))))
        return [data[start:end] for start, end in zip([0, *cuts], [*cuts, None], strict=True)]

    lines = recording(name)
    conversation, _ = await play(lines, scattered, mode=scenario.mode, model=scenario.model)
    assert shape(await scenario.perform(conversation)) == SHAPES[name]


async def test_lines_may_arrive_byte_by_byte(play: Play) -> None:
    scenario = SCENARIOS["permission"]
    conversation, _ = await play(
        recording("permission"), lambda data: [bytes([byte]) for byte in data], mode="build"
    )
    assert shape(await scenario.perform(conversation)) == SHAPES["permission"]


async def test_the_tokens_of_a_stopped_turn_are_what_was_read_for_it(play: Play) -> None:
    conversation, _ = await play(recording("stopped-text"))
    stopped, finished = (
        e
        for e in await SCENARIOS["stopped-text"].perform(conversation)
        if isinstance(e, base.TurnFinished)
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


def said(name: str) -> list[Json]:
    """All lines of a recording, said at once after the first message."""
    first, *lines = recording(name)
    assert kind_of(first["heard"]) == "user"
    return [first, *(line for line in lines if "said" in line)]


def damaged(lines: list[Json], dice: random.Random) -> list[Json]:
    """The same with lines lost, doubled, cut, moved, of unknown kinds and with other values."""
    first, *rest = lines
    made: list[Json] = []
    for line in rest:
        match dice.randrange(12):
            case 0:
                continue
            case 1:
                made += [line, line]
            case 2:
                text = json.dumps(line["said"])
                made.append({"said": text[: dice.randrange(len(text))]})
            case 3:
                made.append({"said": {**line["said"], "type": "tomorrow"}})
            case 4 | 5:
                made.append({"said": _twisted(line["said"], dice)})
            case 6:
                made.insert(dice.randrange(len(made) + 1), line)
            case _:
                made.append(line)
    return [first, *made]


def _twisted(value: Any, dice: random.Random) -> Any:
    """The value with something somewhere inside it replaced by nonsense."""
    if isinstance(value, dict) and value and dice.random() < 0.85:
        key = dice.choice(list(value))
        return {**value, key: _twisted(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.85:
        place = dice.randrange(len(value))
        return [*value[:place], _twisted(value[place], dice), *value[place + 1 :]]
    return dice.choice(NONSENSE)


@pytest.mark.few(4)
@pytest.mark.parametrize("name", SCENARIOS)
async def test_damaged_recordings_neither_trip_the_adapter_nor_leave_a_turn_open(
    play: Play, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    for seed in range(60):
        caplog.clear()
        lines = damaged(said(name), random.Random(f"{name} {seed}"))
        conversation, player = await play(lines, mode=SCENARIOS[name].mode)
        await conversation.agent.send(base.Prompt("Go"))
        player.end()
        await conversation.end()
        told = conversation.told
        begun = 1 + sum(isinstance(event, base.TurnStarted) for event in told)
        ends = [e for e in told if isinstance(e, base.TurnFinished | base.TurnFailed)]
        assert len(ends) == begun, f"seed {seed}"
        tripped = [r.getMessage() for r in caplog.records if r.levelno >= logging.ERROR]
        assert tripped == [], f"seed {seed}"


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_program_that_ends_anywhere_fails_the_open_turn(play: Play, name: str) -> None:
    lines = said(name)
    for length in range(1, len(lines), 4):
        conversation, player = await play(lines[:length], mode=SCENARIOS[name].mode)
        await conversation.agent.send(base.Prompt("Go"))
        player.end()
        await conversation.end()
        ends = [e for e in conversation.told if isinstance(e, base.TurnFinished | base.TurnFailed)]
        whole = any(line.get("said", {}).get("type") == "result" for line in lines[:length])
        assert whole or isinstance(ends[0], base.TurnFailed)


async def test_a_turn_whose_end_was_lost_can_be_stopped(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "STOP_TIMEOUT", 0.01)
    lines = [line for line in said("thinking") if line.get("said", {}).get("type") != "result"]
    conversation, player = await play(lines)
    await conversation.agent.send(base.Prompt("Go"))
    await conversation.until(base.TextFinal)
    await conversation.agent.stop()
    assert only(await conversation.rest(), base.TurnFinished).stop_reason == "stopped"
    assert player.ended
