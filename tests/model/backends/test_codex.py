"""The adapter of Codex and its program: recordings of the real one, and one that misbehaves."""

import asyncio
import copy
import json
import logging
import random
import time
from collections.abc import AsyncIterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from model.backends import base
from model.backends.codex.backend import CodexBackend
from model.base.errors import SpinneyError
from tests.model.backends.agents import Conversation, Open, a_launch, only, text
from tests.model.backends.codex_player import Player, mutated, recording, until
from tests.model.backends.codex_scenarios import SCENARIOS, play
from tests.patience import PATIENCE

Json = dict[str, Any]

ANSWER = "TextDelta TextFinal TurnFinished"
OUTCOMES = {
    "text": f"TextDelta TextFinal {ANSWER}",  # the first is thinking
    "edit": f"TextDelta TextFinal ToolUse ToolResult {ANSWER} ToolUse ToolResult {ANSWER}",
    "permission": f"ToolUse PermissionRequested ToolResult {ANSWER}",
    "plan": f"TextDelta TextFinal PlanProposed TurnModeReported ToolUse ToolResult {ANSWER}",
    "question": f"QuestionAsked {ANSWER}",
    "stop": f"TextDelta TurnFinished {ANSWER}",
    "sub-agent": f"ToolUse ToolResult {ANSWER}",
    "to-do-list": f"ToolUse ToolResult ToolUse ToolResult {ANSWER}",
    "error": f"Notice TurnFailed {ANSWER}",
    "compact": f"{ANSWER} Notice ConversationNote TurnFinished",
}
"""The kinds of events that each recording becomes, repeated ones once."""

PERSEVERANCE = 20
"""How many broken versions of each recording are played."""


@pytest.fixture
def player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Player:
    player = Player(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(player.folder))
    return player


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    path = tmp_path / "worktree"
    path.mkdir()
    return path


@pytest.fixture
async def open_codex(player: Player, worktree: Path) -> AsyncIterator[Open]:
    backend = CodexBackend()
    opened: list[base.Agent] = []

    async def open_codex(**launch: Any) -> Conversation:
        usual = {"model": "gpt-5.5", "thinking": "think"}
        agent = await backend.open(a_launch(worktree, **{**usual, **launch}))
        opened.append(agent)
        return Conversation(agent)

    yield open_codex
    await asyncio.gather(*(agent.close() for agent in opened))
    await backend.close()


def kinds(told: list[base.AgentEvent]) -> str:
    names = [type(event).__name__ for event in told]
    return " ".join(name for name, _ in groupby(names))


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("pieces", [{}, {"seed": 1}], ids=["lines", "pieces"])
async def test_a_recording_becomes_the_events_of_its_conversation(
    open_codex: Open, player: Player, tmp_path: Path, name: str, pieces: Json
) -> None:
    player.prepare(recording(name, tmp_path), **pieces)
    conversation = await open_codex(**SCENARIOS[name].launch)
    told = await play(conversation, SCENARIOS[name])
    shown = [event for event in told if not _is_about_the_program(event)]
    assert isinstance(shown[0], base.ConversationIdentified)
    assert kinds(shown[1:]) == OUTCOMES[name]


def _is_about_the_program(event: base.AgentEvent) -> bool:
    is_of_model = isinstance(event, base.Notice) and "Model metadata" in event.text
    return is_of_model or isinstance(
        event, base.CommandsListed | base.ModelsListed | base.ModelReported
    )


@pytest.mark.few(1)
@pytest.mark.usefixtures("impatience")
@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_program_gone_wrong_comes_to_an_honest_end(
    worktree: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    name: str,
) -> None:
    for seed in range(PERSEVERANCE):
        player = Player(tmp_path / f"bin{seed}")
        monkeypatch.setenv("PATH", str(player.folder))
        lines = mutated(recording(name, tmp_path), random.Random(seed))
        player.prepare(lines, seed=seed, patience=0.2)
        backend = CodexBackend()
        async with asyncio.timeout(PATIENCE):
            await _play_to_the_end(backend, a_launch(worktree, **SCENARIOS[name].launch), name)
            await backend.close()
    wrong = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert not wrong, f"{wrong[0].getMessage()}\n{wrong[0].exc_text}"


async def _play_to_the_end(backend: CodexBackend, launch: base.Launch, name: str) -> None:
    """Each turn ends, or the agent does, or the person is told why nothing can be done."""
    agent = None
    try:
        agent = await backend.open(launch)
        await play(Conversation(agent), SCENARIOS[name])
    except SpinneyError as error:
        assert error.message
    except AssertionError as ended:
        assert "the agent ended without" in str(ended)
    finally:
        if agent is not None:
            await agent.close()


# What goes with a turn -------------------------------------------------------------------------


async def test_a_thread_gets_its_settings_and_never_a_policy(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    player.prepare(recording("text", tmp_path))
    profile = {"model_verbosity": "low", "sandbox_mode": "danger-full-access"}
    environment = {"SPINNEY_BRANCH": "work"}
    await open_codex(
        system_prompt="Be kind.", profile=profile, max_sub_agents=3, environment=environment
    )
    (told,) = player.heard("thread/start")
    assert told["developerInstructions"] == "Be kind."
    assert not {"sandbox", "permissions", "approvalPolicy"} & set(told)
    assert told["config"]["model_verbosity"] == "low"
    assert "sandbox_mode" not in told["config"]
    assert told["config"]["agents.max_threads"] == 3
    assert told["config"]["shell_environment_policy.set"]["SPINNEY_BRANCH"] == "work"


@pytest.mark.parametrize(
    ("mode", "sandbox", "approval"),
    [
        ("plan", "readOnly", "never"),
        ("build", "workspaceWrite", "on-request"),
        ("yolo", "dangerFullAccess", "never"),
    ],
)
async def test_every_turn_carries_the_policies_of_its_mode(
    open_codex: Open, player: Player, tmp_path: Path, mode: str, sandbox: str, approval: str
) -> None:
    player.prepare(recording("text", tmp_path))
    conversation = await open_codex(mode=mode, effort="high")
    await conversation.turn("think: about looms")
    (told,) = player.heard("turn/start")
    assert (told["sandboxPolicy"]["type"], told["approvalPolicy"]) == (sandbox, approval)
    assert told["collaborationMode"]["mode"] == ("plan" if mode == "plan" else "default")
    assert told["collaborationMode"]["settings"]["reasoning_effort"] == "high"


async def test_an_answer_to_a_question_in_passing_goes_on_when_the_turn_has_just_ended(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = recording("text", tmp_path)
    begin = next(n for n, x in enumerate(lines) if x["msg"].get("method") == "turn/start")
    end = len(until(lines, "turn/completed"))
    done = len(until(lines, "item/completed", 3)) - 1  # after message and thinking, the answer
    asking = json.loads(json.dumps(lines[done]))
    questions = [{"title": "Which tone?", "options": ["Plain", "Playful"]}]
    asking["msg"]["params"]["item"] |= {"id": "a", "delivery": "async", "questions": questions}
    # The answer comes while the turn is just ending.
    steer: Json = {"dir": "in", "msg": {"id": 55, "method": "turn/steer"}}
    late = {"id": 55, "error": {"code": -32600, "message": "no active turn to steer"}}
    once = [*lines[begin : done + 1], asking, steer, *lines[done + 1 : end]]
    player.prepare([*lines[:begin], *once, {"dir": "out", "msg": late}, *lines[begin:]])
    conversation = await open_codex()
    await conversation.agent.send(base.Prompt("think: about looms"))
    asked = await conversation.until(base.QuestionAsked)
    assert [option.label for option in asked.questions[0].options] == ["Plain", "Playful"]
    await conversation.agent.answer(asked.request_id, {"Which tone?": "Plain"})
    only(await conversation.rest(), base.TurnFinished)
    assert player.heard("turn/start")[1]["input"][0]["text"] == "Which tone?\nPlain"


# Programs that misbehave -----------------------------------------------------------------------


async def test_a_program_that_dies_in_mid_turn_tells_its_last_words(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = until(recording("text", tmp_path), "turn/started")
    player.prepare([*lines, {"dir": "die", "words": "out of yarn", "code": 3}])
    failed = only(await (await open_codex()).turn("think: about looms"), base.TurnFailed)
    assert failed.error_type == "backend_error"
    assert failed.error.startswith("Codex ended unexpectedly (exit code 3). Send a message")
    assert failed.error.endswith("out of yarn")


async def test_a_program_that_does_not_start_is_explained(open_codex: Open, player: Player) -> None:
    player.prepare([{"dir": "die", "words": "error loading config.toml: line 3", "code": 1}])
    with pytest.raises(SpinneyError, match=r"Codex did not start: error loading .*: line 3") as no:
        await open_codex()
    assert no.value.error_type == "backend_unavailable"


async def test_a_turn_that_cannot_begin_is_told(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    refused = {"id": 99, "error": {"code": -32600, "message": "no such model"}}
    lines = recording("text", tmp_path)
    place = next(n for n, line in enumerate(lines) if line["msg"].get("method") == "turn/start")
    lines[place]["msg"]["id"] = 99
    player.prepare([*lines[: place + 1], {"dir": "out", "msg": refused}])
    conversation = await open_codex()
    with pytest.raises(SpinneyError, match="no such model"):
        await conversation.agent.send(base.Prompt("Hello"))


async def test_garbage_is_left_out_and_told(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = recording("text", tmp_path)
    start = len(until(lines, "turn/started"))
    garbage = {"dir": "out", "raw": "Segmentation fault? No: a joke"}
    player.prepare([*lines[:start], garbage, *lines[start:]])
    told = await (await open_codex()).turn("think: about looms")
    assert only(told, base.Notice).text == "Skipped output of Codex (not JSON)."
    assert text(told) == "I thought about it."


async def test_a_line_of_ten_megabytes_is_taken(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = recording("text", tmp_path)
    deltas = [n for n, x in enumerate(lines) if x["msg"].get("method") == "item/agentMessage/delta"]
    message = lines[deltas[0]]["msg"]
    long = {"threadId": message["params"]["threadId"], "turnId": message["params"]["turnId"]}
    item = {"type": "commandExecution", "id": "big", "command": "cat", "status": "completed"}
    told = {**long, "item": {**item, "aggregatedOutput": "x" * 10_000_000, "exitCode": 0}}
    big = {"dir": "out", "msg": {"method": "item/completed", "params": told}}
    player.prepare([*lines[: deltas[0]], big, *lines[deltas[0] :]])
    events = await (await open_codex()).turn("think: about looms")
    assert len(only(events, base.ToolResult).content) == 10_000_000
    assert text(events) == "I thought about it."


@pytest.mark.usefixtures("impatience")
async def test_a_program_that_hangs_is_killed_by_a_stop(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    player.prepare(until(recording("stop", tmp_path), "item/agentMessage/delta"))
    conversation = await open_codex()
    await conversation.agent.send(base.Prompt("slow"))
    await conversation.until(base.TextDelta)
    _, told = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(told, base.TurnFinished).stop_reason == "stopped"
    await conversation.end()


async def test_what_the_program_asks_and_nobody_knows_is_refused(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = recording("text", tmp_path)
    start = len(until(lines, "turn/started"))
    thread = lines[start - 1]["msg"]["params"]["threadId"]
    strange = {"id": 7, "method": "loom/weave", "params": {"threadId": thread}}
    refusal = {"id": 7, "error": {}}
    ask = [{"dir": "out", "msg": strange}, {"dir": "in", "msg": refusal}]
    player.prepare([*lines[:start], *ask, *lines[start:]])
    assert text(await (await open_codex()).turn("think: about looms")) == "I thought about it."


async def test_another_conversation_is_never_taken_for_the_sessions(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = recording("text", tmp_path)
    start = next(n for n, x in enumerate(lines) if x["msg"].get("method") == "thread/start")
    resume = {"dir": "in", "msg": {"id": 77, "method": "thread/resume"}}
    foreign = {"dir": "out", "msg": {"id": 77, "result": {"thread": {"id": "somebody-else"}}}}
    player.prepare([*lines[:start], resume, foreign, *lines[start:]])
    conversation = await open_codex(resume_token="mine")
    told = await conversation.turn("think: about looms")
    assert "started a new one" in only(told, base.Notice).text
    assert only(told, base.ConversationIdentified).resume_token not in ("mine", "somebody-else")


async def test_what_a_resumed_thread_used_before_is_not_of_the_turn_however_late_it_is_told(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = recording("text", tmp_path)
    for line in lines:
        if line["msg"].get("method") == "thread/start":
            line["msg"]["method"] = "thread/resume"
    start = len(until(lines, "turn/started"))
    thread = lines[start - 1]["msg"]["params"]["threadId"]
    counted = next(x for x in lines if x["msg"].get("method") == "thread/tokenUsage/updated")
    used = counted["msg"]["params"]
    before = {**used, "turnId": "an-earlier-one", "tokenUsage": copy.deepcopy(used["tokenUsage"])}
    amounts = [used["tokenUsage"]["total"][name] for name in ("inputTokens", "outputTokens")]
    used["tokenUsage"]["total"]["inputTokens"] += amounts[0]
    used["tokenUsage"]["total"]["outputTokens"] += amounts[1]
    late = {"dir": "out", "msg": {**counted["msg"], "params": before}}
    player.prepare([*lines[:start], late, *lines[start:]])
    told = await (await open_codex(resume_token=thread)).turn("think: about looms")
    assert only(told, base.TurnFinished).usage.output_tokens == amounts[1]


async def test_a_used_up_account_tells_when_it_can_be_used_again(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = until(recording("error", tmp_path), "turn/completed")
    window = {"usedPercent": 100, "resetsAt": int(time.time()) + 600}
    limits = {"rateLimits": {"primary": window, "secondary": None}}
    told = {"dir": "out", "msg": {"method": "account/rateLimits/updated", "params": limits}}
    lines[-1]["msg"]["params"]["turn"]["error"] = {"codexErrorInfo": "usageLimitExceeded"}
    player.prepare([*lines[:-1], told, lines[-1]])
    failed = only(await (await open_codex()).turn("error 429"), base.TurnFailed)
    assert failed.error_type == "rate_limit_error"
    assert 500 < (failed.retry_after or 0) <= 600


# Errors, the program on this machine -----------------------------------------------------------


async def test_a_program_that_is_not_installed_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    probe = await CodexBackend().probe()
    assert probe.program is None
    assert "npm install -g @openai/codex" in (probe.problem or "")
    with pytest.raises(SpinneyError, match="is not installed") as raised:
        await CodexBackend().open(a_launch(tmp_path))
    assert raised.value.error_type == "backend_unavailable"


@pytest.mark.parametrize(
    ("given", "signed_in", "problem"),
    [
        ({}, True, None),
        ({"signed_in": False}, False, "Run: codex login"),
        ({"version": "codex-cli 0.44.0"}, None, "older than 0.169.0"),
        ({"version": "oh no"}, None, "does not run"),
    ],
)
async def test_the_probe_tells_version_and_sign_in(
    player: Player,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    given: Json,
    signed_in: bool | None,
    problem: str | None,
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    player.prepare([], **given)
    probe = await CodexBackend().probe()
    assert probe.program == str(player.folder / "codex")
    assert probe.signed_in == signed_in
    assert (problem or "") in (probe.problem or "")
    assert (probe.problem is None) == (problem is None)


async def test_a_program_that_is_too_old_is_not_driven(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = recording("text", tmp_path)
    hello = next(x for x in lines if "userAgent" in (x["msg"].get("result") or {}))
    hello["msg"]["result"]["userAgent"] = "spinney/0.44.0 (Linux)"
    player.prepare(lines)
    with pytest.raises(SpinneyError, match=r"0\.44\.0 is older than 0\.169\.0") as raised:
        await open_codex()
    assert raised.value.error_type == "backend_unavailable"
