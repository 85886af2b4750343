"""The adapter of Codex: recordings of the real program, and programs that misbehave."""

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

from model.backends import agent_events, base
from model.backends.codex.backend import CodexBackend
from model.base.errors import SpinneyError
from tests.model.backends.agents import Conversation, Open, make_launch, only, text
from tests.model.backends.codex_player import Player, damage, lines_until, load_recording
from tests.model.backends.codex_scenarios import SCENARIOS, play
from tests.patience import PATIENCE

Json = dict[str, Any]

ANSWER = "TextDelta TextFinal TurnMarked TurnFinished"
OUTCOMES = {
    "text": f"TextDelta TextFinal {ANSWER}",  # the first is thinking
    "edit": f"TextDelta TextFinal ToolUse ToolResult {ANSWER} ToolUse ToolResult {ANSWER}",
    "permission": f"ToolUse PermissionRequested ToolResult {ANSWER}",
    "plan": f"TextDelta TextFinal PlanProposed TurnModeReported ToolUse ToolResult {ANSWER}",
    "question": f"QuestionAsked {ANSWER}",
    "stop": f"TextDelta TurnMarked TurnFinished {ANSWER}",
    "sub-agent": f"ToolUse ToolResult {ANSWER}",
    "to-do-list": f"ToolUse ToolResult ToolUse ToolResult {ANSWER}",
    "error": f"Notice TurnMarked TurnFailed {ANSWER}",
    "compact": f"{ANSWER} Notice ConversationNote TurnMarked TurnFinished",
}
"""The kinds of events of each recording, adjacent equal ones once."""

DAMAGED_VERSIONS = 20
"""Number of damaged versions of each recording to play."""


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
        defaults = {"model": "gpt-5.5", "thinking": "think"}
        agent = await backend.open(make_launch(worktree, **{**defaults, **launch}))
        opened.append(agent)
        return Conversation(agent)

    yield open_codex
    await asyncio.gather(*(agent.close() for agent in opened))
    await backend.close()


def list_kinds(events: list[agent_events.AgentEvent]) -> str:
    names = [type(event).__name__ for event in events]
    return " ".join(name for name, _ in groupby(names))


@pytest.mark.few(8)
@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("pieces", [{}, {"seed": 1}], ids=["lines", "pieces"])
async def test_a_recording_produces_the_expected_events(
    open_codex: Open, player: Player, tmp_path: Path, name: str, pieces: Json
) -> None:
    player.prepare(load_recording(name, tmp_path), **pieces)
    conversation = await open_codex(**SCENARIOS[name].launch)
    events = await play(conversation, SCENARIOS[name])
    shown = [event for event in events if not _is_about_the_program(event)]
    assert isinstance(shown[0], agent_events.ConversationIdentified)
    assert list_kinds(shown[1:]) == OUTCOMES[name]


def _is_about_the_program(event: agent_events.AgentEvent) -> bool:
    is_of_model = isinstance(event, agent_events.Notice) and "Model metadata" in event.text
    return is_of_model or isinstance(
        event,
        agent_events.CommandsListed
        | agent_events.ModelsListed
        | agent_events.ModelReported
        | agent_events.UsageReported,
    )


@pytest.mark.usefixtures("short_stop_timeout")
@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.longer
async def test_damaged_recordings_end_and_log_no_error(
    worktree: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    name: str,
) -> None:
    for seed in range(DAMAGED_VERSIONS):
        player = Player(tmp_path / f"bin{seed}")
        monkeypatch.setenv("PATH", str(player.folder))
        lines = damage(load_recording(name, tmp_path), random.Random(seed))
        player.prepare(lines, seed=seed, timeout=0.2)
        backend = CodexBackend()
        async with asyncio.timeout(PATIENCE):
            await _play_to_the_end(backend, make_launch(worktree, **SCENARIOS[name].launch), name)
            await backend.close()
    wrong = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert not wrong, f"{wrong[0].getMessage()}\n{wrong[0].exc_text}"


async def _play_to_the_end(backend: CodexBackend, launch: base.Launch, name: str) -> None:
    """Play until each turn or the agent ends, or an error with a message is raised."""
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


# Settings and requests -------------------------------------------------------------------------


async def test_a_thread_gets_its_settings_and_never_a_policy(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    player.prepare(load_recording("text", tmp_path))
    profile = {
        "model_verbosity": "low",
        "sandbox_mode": "danger-full-access",
        "features.goals": True,
    }
    environment = {"SPINNEY_BRANCH": "work"}
    await open_codex(
        system_prompt="Be kind.", profile=profile, max_sub_agents=3, environment=environment
    )
    (params,) = player.read_requests("thread/start")
    assert params["developerInstructions"] == "Be kind."
    assert not {"sandbox", "permissions", "approvalPolicy"} & set(params)
    assert params["config"]["model_verbosity"] == "low"
    assert "sandbox_mode" not in params["config"]
    assert params["config"]["agents.max_threads"] == 3
    assert params["config"]["features.goals"] is False
    assert params["config"]["shell_environment_policy.set"]["SPINNEY_BRANCH"] == "work"


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
    player.prepare(load_recording("text", tmp_path))
    conversation = await open_codex(mode=mode, effort="high")
    await conversation.turn("think: about looms")
    (params,) = player.read_requests("turn/start")
    assert (params["sandboxPolicy"]["type"], params["approvalPolicy"]) == (sandbox, approval)
    assert params["collaborationMode"]["mode"] == ("plan" if mode == "plan" else "default")
    assert params["collaborationMode"]["settings"]["reasoning_effort"] == "high"


async def test_an_answer_to_an_async_question_starts_a_turn_if_the_last_one_just_ended(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = load_recording("text", tmp_path)
    begin = next(n for n, x in enumerate(lines) if x["msg"].get("method") == "turn/start")
    end = len(lines_until(lines, "turn/completed"))
    done = (
        len(lines_until(lines, "item/completed", 3)) - 1
    )  # after the message and the thinking comes the text
    asking = json.loads(json.dumps(lines[done]))
    questions = [{"title": "Which tone?", "options": ["Plain", "Playful"]}]
    asking["msg"]["params"]["item"] |= {"id": "a", "delivery": "async", "questions": questions}
    # The answer is sent while the turn is ending.
    steer: Json = {"dir": "in", "msg": {"id": 55, "method": "turn/steer"}}
    late = {"id": 55, "error": {"code": -32600, "message": "no active turn to steer"}}
    once = [*lines[begin : done + 1], asking, steer, *lines[done + 1 : end]]
    player.prepare([*lines[:begin], *once, {"dir": "out", "msg": late}, *lines[begin:]])
    conversation = await open_codex()
    await conversation.agent.send(base.Prompt("think: about looms"))
    asked = await conversation.until(agent_events.QuestionAsked)
    assert [option.label for option in asked.questions[0].options] == ["Plain", "Playful"]
    await conversation.agent.answer(asked.request_id, {"Which tone?": "Plain"})
    only(await conversation.rest(), agent_events.TurnFinished)
    assert player.read_requests("turn/start")[1]["input"][0]["text"] == "Which tone?\nPlain"


# Turns that the program begins by itself -------------------------------------------------------


def make_own_turn(lines: list[Json], root: str) -> list[Json]:
    """What the program says in a turn of its own that goes back to the turn `root`."""
    own = lines_until(lines, "turn/completed")[len(lines_until(lines, "turn/started")) - 1 :]
    turn = own[0]["msg"]["params"]["turn"]["id"]
    own = json.loads(json.dumps(own).replace(turn, "own-turn").replace("msg_1", "msg_2"))
    for line in (own[0], own[-1]):
        line["msg"]["params"]["turn"]["rootTurnId"] = root
    return own


@pytest.mark.parametrize("is_resumed", [False, True])
async def test_a_turn_that_the_program_begins_by_itself_is_shown_whole(
    open_codex: Open, player: Player, tmp_path: Path, is_resumed: bool
) -> None:
    lines = load_recording("text", tmp_path)
    if is_resumed:
        opened = next(n for n, x in enumerate(lines) if x["msg"].get("method") == "thread/started")
        opening = next(x["msg"] for x in lines if x["msg"].get("method") == "thread/start")
        opening["method"] = "thread/resume"
        own = make_own_turn(lines, root="a-turn-before-the-restart")
        asked: Json = {"dir": "in", "msg": {"method": "skills/list"}}  # once the session is there
        player.prepare([*lines[: opened + 1], asked, *own])
        thread = lines[opened]["msg"]["params"]["thread"]["id"]
        conversation = await open_codex(resume_token=thread)
    else:
        end = lines_until(lines, "turn/completed")
        first = end[-1]["msg"]["params"]["turn"]["id"]
        player.prepare([*end, *make_own_turn(lines, root=first), *lines[len(end) :]])
        conversation = await open_codex()
        await conversation.turn("think: about looms")
    await conversation.until(agent_events.TurnStarted)
    events = await conversation.rest()
    assert (text(events, "thinking"), text(events)) == ("about looms", "I thought about it.")
    # A copy that ended with the first turn would lose what came between.
    assert only(events, agent_events.TurnMarked).mark == "own-turn"


async def test_a_stop_ends_the_goal_for_which_the_program_would_go_on(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = load_recording("stop", tmp_path)
    start = len(lines_until(lines, "turn/started"))
    thread = lines[start - 1]["msg"]["params"]["threadId"]
    params = {"threadId": thread, "goal": {"objective": "weave", "status": "active"}}
    goal = {"dir": "out", "msg": {"method": "thread/goal/updated", "params": params}}
    stop = next(n for n, x in enumerate(lines) if x["msg"].get("method") == "turn/interrupt")
    clear = {"dir": "in", "msg": {"id": 70, "method": "thread/goal/clear"}}
    cleared = {"dir": "out", "msg": {"id": 70, "result": {}}}
    player.prepare([*lines[:start], goal, *lines[start:stop], clear, cleared, *lines[stop:]])
    conversation = await open_codex()
    await conversation.agent.send(base.Prompt("slow"))
    await conversation.until(agent_events.TextDelta)
    _, events = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"
    assert player.read_requests("thread/goal/clear") == [{"threadId": thread}]


# Programs that misbehave -----------------------------------------------------------------------


async def test_the_last_output_of_a_program_that_dies_during_a_turn_is_quoted(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = lines_until(load_recording("text", tmp_path), "turn/started")
    player.prepare([*lines, {"dir": "die", "words": "out of yarn", "code": 3}])
    failed = only(await (await open_codex()).turn("think: about looms"), agent_events.TurnFailed)
    assert failed.error_type == "backend_error"
    assert failed.error.startswith("Codex ended unexpectedly (exit code 3). Send a message")
    assert failed.error.endswith("out of yarn")


async def test_a_program_that_does_not_start_is_explained(open_codex: Open, player: Player) -> None:
    player.prepare([{"dir": "die", "words": "error loading config.toml: line 3", "code": 1}])
    with pytest.raises(
        SpinneyError, match=r"Codex did not start: error loading .*: line 3"
    ) as raised:
        await open_codex()
    assert raised.value.error_type == "backend_unavailable"


async def test_a_refused_turn_raises_an_error(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    refused = {"id": 99, "error": {"code": -32600, "message": "no such model"}}
    lines = load_recording("text", tmp_path)
    place = next(n for n, line in enumerate(lines) if line["msg"].get("method") == "turn/start")
    lines[place]["msg"]["id"] = 99
    player.prepare([*lines[: place + 1], {"dir": "out", "msg": refused}])
    conversation = await open_codex()
    with pytest.raises(SpinneyError, match="no such model"):
        await conversation.agent.send(base.Prompt("Hello"))


async def test_garbage_is_skipped_with_a_notice(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = load_recording("text", tmp_path)
    start = len(lines_until(lines, "turn/started"))
    garbage = {"dir": "out", "raw": "Segmentation fault? No: a joke"}
    player.prepare([*lines[:start], garbage, *lines[start:]])
    events = await (await open_codex()).turn("think: about looms")
    assert only(events, agent_events.Notice).text == "Skipped output of Codex (not JSON)."
    assert text(events) == "I thought about it."


async def test_a_line_of_ten_megabytes_is_read(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = load_recording("text", tmp_path)
    deltas = [n for n, x in enumerate(lines) if x["msg"].get("method") == "item/agentMessage/delta"]
    message = lines[deltas[0]]["msg"]
    long = {"threadId": message["params"]["threadId"], "turnId": message["params"]["turnId"]}
    item = {"type": "commandExecution", "id": "big", "command": "cat", "status": "completed"}
    params = {**long, "item": {**item, "aggregatedOutput": "x" * 10_000_000, "exitCode": 0}}
    big = {"dir": "out", "msg": {"method": "item/completed", "params": params}}
    player.prepare([*lines[: deltas[0]], big, *lines[deltas[0] :]])
    events = await (await open_codex()).turn("think: about looms")
    assert len(only(events, agent_events.ToolResult).content) == 10_000_000
    assert text(events) == "I thought about it."


@pytest.mark.usefixtures("short_stop_timeout")
async def test_a_program_that_hangs_is_killed_by_a_stop(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    player.prepare(lines_until(load_recording("stop", tmp_path), "item/agentMessage/delta"))
    conversation = await open_codex()
    await conversation.agent.send(base.Prompt("slow"))
    await conversation.until(agent_events.TextDelta)
    _, events = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"
    await conversation.end()


async def test_an_unknown_request_of_the_program_is_refused(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = load_recording("text", tmp_path)
    start = len(lines_until(lines, "turn/started"))
    thread = lines[start - 1]["msg"]["params"]["threadId"]
    unknown = {"id": 7, "method": "loom/weave", "params": {"threadId": thread}}
    refusal = {"id": 7, "error": {}}
    ask = [{"dir": "out", "msg": unknown}, {"dir": "in", "msg": refusal}]
    player.prepare([*lines[:start], *ask, *lines[start:]])
    assert text(await (await open_codex()).turn("think: about looms")) == "I thought about it."


async def test_a_foreign_conversation_is_never_resumed(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = load_recording("text", tmp_path)
    start = next(n for n, x in enumerate(lines) if x["msg"].get("method") == "thread/start")
    resume = {"dir": "in", "msg": {"id": 77, "method": "thread/resume"}}
    foreign = {"dir": "out", "msg": {"id": 77, "result": {"thread": {"id": "foreign"}}}}
    player.prepare([*lines[:start], resume, foreign, *lines[start:]])
    conversation = await open_codex(resume_token="mine")
    events = await conversation.turn("think: about looms")
    assert "started a new one" in only(events, agent_events.Notice).text
    assert only(events, agent_events.ConversationIdentified).resume_token not in ("mine", "foreign")


def fork_recording(place: Path, error: str | None = None) -> list[Json]:
    """A recording in which the thread comes from a fork, or the fork fails."""
    lines = load_recording("text", place)
    start = next(line["msg"] for line in lines if line["msg"].get("method") == "thread/start")
    start["method"] = "thread/fork"
    for line in lines:
        if error and line["dir"] == "out" and line["msg"].get("id") == start["id"]:
            line["msg"] = {"id": start["id"], "error": {"code": -32600, "message": error}}
    return lines


async def test_a_fork_ends_with_the_turn_and_reports_its_own_id(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    player.prepare(fork_recording(tmp_path))
    events = await (await open_codex(resume_token="T", fork_at="turn-2")).turn("think: about looms")
    (asked,) = player.read_requests("thread/fork")
    assert (asked["threadId"], asked["lastTurnId"]) == ("T", "turn-2")
    assert only(events, agent_events.ConversationIdentified).resume_token != "T"
    marked = events.index(only(events, agent_events.TurnMarked))
    assert isinstance(events[marked + 1], agent_events.TurnFinished)


@pytest.mark.parametrize(
    "error", ["turn not found: t", "lastTurnId 't' identifies an in-progress turn"]
)
async def test_a_turn_that_is_lost_is_not_forked(
    open_codex: Open, player: Player, tmp_path: Path, error: str
) -> None:
    player.prepare(fork_recording(tmp_path, error))
    with pytest.raises(base.CannotForkError, match="no longer has the conversation"):
        await open_codex(resume_token="T", fork_at="t")


async def test_earlier_usage_of_a_resumed_thread_is_not_counted_even_if_reported_late(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = load_recording("text", tmp_path)
    for line in lines:
        if line["msg"].get("method") == "thread/start":
            line["msg"]["method"] = "thread/resume"
    start = len(lines_until(lines, "turn/started"))
    thread = lines[start - 1]["msg"]["params"]["threadId"]
    counted = next(x for x in lines if x["msg"].get("method") == "thread/tokenUsage/updated")
    used = counted["msg"]["params"]
    before = {**used, "turnId": "an-earlier-one", "tokenUsage": copy.deepcopy(used["tokenUsage"])}
    amounts = [used["tokenUsage"]["total"][name] for name in ("inputTokens", "outputTokens")]
    used["tokenUsage"]["total"]["inputTokens"] += amounts[0]
    used["tokenUsage"]["total"]["outputTokens"] += amounts[1]
    late = {"dir": "out", "msg": {**counted["msg"], "params": before}}
    player.prepare([*lines[:start], late, *lines[start:]])
    events = await (await open_codex(resume_token=thread)).turn("think: about looms")
    assert only(events, agent_events.TurnFinished).usage.output_tokens == amounts[1]


async def test_a_usage_limit_error_has_a_retry_delay(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = lines_until(load_recording("error", tmp_path), "turn/completed")
    window = {"usedPercent": 100, "resetsAt": int(time.time()) + 600}
    reached = {"rateLimitReachedType": "rate_limit_reached"}
    limits = {"rateLimits": {"limitId": "codex", "primary": window, "secondary": None, **reached}}
    update = {"dir": "out", "msg": {"method": "account/rateLimits/updated", "params": limits}}
    lines[-1]["msg"]["params"]["turn"]["error"] = {"codexErrorInfo": "usageLimitExceeded"}
    player.prepare([*lines[:-1], update, lines[-1]])
    events = await (await open_codex()).turn("error 429")
    [reported] = only(events, agent_events.LimitsReported).windows
    assert (reported.id, reported.used, reported.reached) == ("codex:primary", 1, True)
    assert (reported.resets_at, reported.minutes) == (window["resetsAt"], None)
    failed = only(events, agent_events.TurnFailed)
    assert failed.error_type == "rate_limit_error"
    assert 500 < (failed.retry_after or 0) <= 600


# The installed program -------------------------------------------------------------------------


async def test_a_program_that_is_not_installed_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    probe = await CodexBackend().probe()
    assert probe.program is None
    assert "npm install -g @openai/codex" in (probe.problem or "")
    with pytest.raises(SpinneyError, match="is not installed") as raised:
        await CodexBackend().open(make_launch(tmp_path))
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
async def test_the_probe_reports_version_and_sign_in(
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


async def test_a_program_that_is_too_old_is_refused(
    open_codex: Open, player: Player, tmp_path: Path
) -> None:
    lines = load_recording("text", tmp_path)
    hello = next(x for x in lines if "userAgent" in (x["msg"].get("result") or {}))
    hello["msg"]["result"]["userAgent"] = "spinney/0.44.0 (Linux)"
    player.prepare(lines)
    with pytest.raises(SpinneyError, match=r"0\.44\.0 is older than 0\.169\.0") as raised:
        await open_codex()
    assert raised.value.error_type == "backend_unavailable"
