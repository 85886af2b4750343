"""How conversations with agents of the Agent Client Protocol start, end and fail."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from model.backends import agent_events, base
from model.backends.acp import backend
from model.backends.acp.backend import AcpBackend
from model.base.errors import SpinneyError
from tests.model.backends.acp_small import ROW, Json, read_prompts, read_requests
from tests.model.backends.agents import (
    Open,
    get_resume_token,
    is_running,
    make_launch,
    only,
    text,
    wait_until,
)

# Resuming ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["load", "resume"])
async def test_a_resumed_conversation_does_not_repeat_its_history(
    open_small: Open, request_log: Path, way: str
) -> None:
    conversation = await open_small(can={way: True}, system_prompt="Speak of looms.")
    await conversation.turn("say: one")
    await conversation.agent.close()
    again = await open_small(
        can={way: True},
        resume_token=get_resume_token(conversation),
        system_prompt="Speak of looms.",
    )
    events = await again.turn("remember?")
    assert text(events) == "say: one "
    assert not any(
        isinstance(event, agent_events.ToolUse | agent_events.Notice) for event in again.events
    )
    assert get_resume_token(again) == get_resume_token(conversation)
    assert read_prompts(request_log)[-1] == ["remember?"]
    assert len(read_requests(request_log, f"session/{way}")) == 1


@pytest.mark.parametrize("can", [{}, {"load": True}, {"load": True, "resume": True}])
async def test_a_lost_conversation_starts_over_with_a_notice(open_small: Open, can: Json) -> None:
    conversation = await open_small(can=can, resume_token="gone")
    assert text(await conversation.turn("say: hi")) == "hi "
    assert get_resume_token(conversation) != "gone"
    assert "no longer knows the conversation" in only(conversation.events, agent_events.Notice).text


# Stopping and ending -----------------------------------------------------------------------------


async def test_a_stop_ends_the_turn_and_the_agent_stays(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("slow: x"))
    await conversation.until(agent_events.TextDelta)
    await conversation.agent.stop()
    assert only(await conversation.rest(), agent_events.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("say: again")) == "again "


async def test_a_stop_withdraws_open_requests(open_small: Open, request_log: Path) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("bash: echo hi"))
    asked = await conversation.until(agent_events.PermissionRequested)
    await conversation.agent.stop()
    events = await conversation.rest()
    assert only(events, agent_events.RequestWithdrawn).request_id == asked.request_id
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"
    assert read_requests(request_log, "permission")[0]["outcome"]["outcome"] == "cancelled"


@pytest.mark.usefixtures("short_stop_timeout")
async def test_an_agent_that_ignores_a_stop_is_killed_with_its_children(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("deaf: x"))
    child = int((await conversation.until(agent_events.TextDelta)).text)
    await conversation.agent.stop()
    assert only(await conversation.rest(), agent_events.TurnFinished).stop_reason == "stopped"
    await wait_until(lambda: not is_running(child))


async def test_closing_during_a_turn_leaves_no_process(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("deaf: x"))
    child = int((await conversation.until(agent_events.TextDelta)).text)
    await conversation.agent.close()
    await wait_until(lambda: not is_running(child))


async def test_a_program_that_dies_fails_the_turn_with_its_last_output(open_small: Open) -> None:
    events = await (await open_small()).turn("die: now")
    failed = only(events, agent_events.TurnFailed)
    assert "exit code 3" in failed.error
    assert "the loom is broken" in failed.error
    assert failed.error_type == "backend_error"


@pytest.mark.parametrize(
    ("words", "error_type", "expected"),
    [
        ("error: -32000 x", "authentication_error", "In the browser (small login)"),
        ("error: -32603 HTTP 401 Unauthorized", "authentication_error", "HTTP 401"),
        ("error: -32603 429 Too Many Requests", "rate_limit_error", "Wait a while"),
        ("error: -32603 the loom", "backend_error", "It failed: the loom"),
        ("stop: refusal", "invalid_request", "or fork the session"),
    ],
)
async def test_an_error_fails_the_turn_and_the_next_one_works(
    open_small: Open, words: str, error_type: str, expected: str
) -> None:
    conversation = await open_small()
    failed = only(await conversation.turn(words), agent_events.TurnFailed)
    assert failed.error_type == error_type
    assert expected in failed.error
    assert text(await conversation.turn("say: again")) == "again "


@pytest.mark.parametrize("reason", ["max_tokens", "max_turn_requests", "cancelled"])
async def test_the_stop_reason_of_a_turn_is_reported(open_small: Open, reason: str) -> None:
    finished = only(await (await open_small()).turn(f"stop: {reason}"), agent_events.TurnFinished)
    assert finished.stop_reason == reason


# Programs that misbehave -------------------------------------------------------------------------


async def test_lines_that_are_not_json_are_skipped_with_one_notice(open_small: Open) -> None:
    conversation = await open_small()
    events = await conversation.turn("raw: [log] I say this here\n[log] and this")
    assert "ignored (not JSON)" in only(events, agent_events.Notice).text
    assert text(await conversation.turn("say: again")) == "again "


async def test_a_very_long_line_does_not_break_the_conversation(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.turn("long: 10")
    assert text(await conversation.turn("say: again")) == "again "


async def test_the_error_for_a_missing_program_names_it_and_the_file(worktree: Path) -> None:
    row = replace(ROW, program="no-such-agent")
    with pytest.raises(SpinneyError) as raised:
        await AcpBackend(row).open(make_launch(worktree))
    assert raised.value.error_type == "backend_unavailable"
    assert "no-such-agent" in raised.value.message
    assert "[small] in agents.toml" in raised.value.message


@pytest.mark.parametrize(
    ("can", "error_type", "expected"),
    [
        ({"dies": True}, "backend_unavailable", "No such option: --acp"),
        ({"protocol": 7}, "backend_unavailable", "uses version 7 of the Agent Client Protocol"),
        ({"signed_out": True}, "authentication_error", f"By hand (run: {sys.executable} login)"),
        ({"nameless": True}, "backend_error", "did not start a conversation"),
    ],
)
async def test_a_failed_start_reports_the_reason(
    open_small: Open, can: Json, error_type: str, expected: str
) -> None:
    with pytest.raises(SpinneyError) as raised:
        await open_small(can=can)
    assert raised.value.error_type == error_type
    assert expected in raised.value.message


async def test_a_program_that_is_not_an_agent_is_reported(worktree: Path) -> None:
    row = replace(ROW, program=sys.executable, args=("-c", "print('hello')"))
    with pytest.raises(
        SpinneyError, match="did not respond as an Agent Client Protocol agent"
    ) as raised:
        await AcpBackend(row).open(make_launch(worktree))
    assert raised.value.error_type == "backend_unavailable"


# The probe ---------------------------------------------------------------------------------------


async def test_the_probe_initializes_the_agent() -> None:
    assert await AcpBackend(ROW).probe() == base.Probe(sys.executable, "1.2.3", supported=True)


async def test_the_probe_reports_a_missing_program_and_one_that_is_not_an_agent() -> None:
    missing = await AcpBackend(replace(ROW, program="no-such-agent")).probe()
    assert missing.program is None
    assert "no-such-agent" in (missing.problem or "")
    other = await AcpBackend(replace(ROW, args=("-c", "exit(4)"))).probe()
    assert other.program == sys.executable
    assert "did not respond as an Agent Client Protocol agent" in (other.problem or "")
    assert other.supported is None


async def test_the_probe_reports_a_program_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "_PROBE_TIMEOUT", 0.2)
    hangs = await AcpBackend(replace(ROW, args=("-c", "input(); input()"))).probe()
    assert "did not respond as an Agent Client Protocol agent within 0.2 s" in str(hangs.problem)


async def test_an_agent_with_another_protocol_version_is_not_supported() -> None:
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 7}}
    script = f"print('{json.dumps(answer)}', flush=True); input(); input()"
    probe = await AcpBackend(replace(ROW, args=("-c", script))).probe()
    assert "Update the older" in (probe.problem or "")
    assert probe.supported is False
