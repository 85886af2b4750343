"""How conversations with agents of the Agent Client Protocol begin, end and go wrong."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from model.backends import base
from model.backends.acp import backend
from model.backends.acp.backend import AcpBackend
from model.base.errors import SpinneyError
from tests.model.backends.acp_small import ROW, Json, heard, prompts, token
from tests.model.backends.agents import Open, a_launch, becomes, lives, only, text

# Taking a conversation up ------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["load", "resume"])
async def test_a_conversation_is_taken_up_and_its_history_not_told_again(
    open_small: Open, heard_file: Path, way: str
) -> None:
    conversation = await open_small(can={way: True}, system_prompt="Speak of looms.")
    await conversation.turn("say: one")
    await conversation.agent.close()
    again = await open_small(
        can={way: True}, resume_token=token(conversation), system_prompt="Speak of looms."
    )
    told = await again.turn("remember?")
    assert text(told) == "say: one "
    assert not any(isinstance(event, base.ToolUse | base.Notice) for event in again.told)
    assert token(again) == token(conversation)
    assert prompts(heard_file)[-1] == ["remember?"]
    assert len(heard(heard_file, f"session/{way}")) == 1


@pytest.mark.parametrize("can", [{}, {"load": True}, {"load": True, "resume": True}])
async def test_a_lost_conversation_begins_afresh_and_says_so(open_small: Open, can: Json) -> None:
    conversation = await open_small(can=can, resume_token="gone")
    assert text(await conversation.turn("say: hi")) == "hi "
    assert token(conversation) != "gone"
    assert "no longer knows the conversation" in only(conversation.told, base.Notice).text


# Stopping and ending -----------------------------------------------------------------------------


async def test_a_stop_ends_the_turn_and_the_agent_stays(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("slow: x"))
    await conversation.until(base.TextDelta)
    await conversation.agent.stop()
    assert only(await conversation.rest(), base.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("say: again")) == "again "


async def test_a_stop_withdraws_what_was_asked(open_small: Open, heard_file: Path) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("bash: echo hi"))
    asked = await conversation.until(base.PermissionAsked)
    await conversation.agent.stop()
    told = await conversation.rest()
    assert only(told, base.RequestWithdrawn).request_id == asked.request_id
    assert only(told, base.TurnFinished).stop_reason == "stopped"
    assert heard(heard_file, "permission")[0]["outcome"]["outcome"] == "cancelled"


@pytest.mark.usefixtures("impatience")
async def test_who_does_not_obey_a_stop_is_killed_with_its_children(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("deaf: x"))
    child = int((await conversation.until(base.TextDelta)).text)
    await conversation.agent.stop()
    assert only(await conversation.rest(), base.TurnFinished).stop_reason == "stopped"
    await becomes(lambda: not lives(child))


async def test_closing_in_mid_turn_leaves_nothing(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.agent.send(base.Prompt("deaf: x"))
    child = int((await conversation.until(base.TextDelta)).text)
    await conversation.agent.close()
    await becomes(lambda: not lives(child))


async def test_a_program_that_dies_fails_the_turn_with_its_last_words(open_small: Open) -> None:
    told = await (await open_small()).turn("die: now")
    failed = only(told, base.TurnFailed)
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
        ("stop: refusal", "invalid_request", "refused to continue"),
    ],
)
async def test_an_error_fails_the_turn_and_the_next_one_works(
    open_small: Open, words: str, error_type: str, expected: str
) -> None:
    conversation = await open_small()
    failed = only(await conversation.turn(words), base.TurnFailed)
    assert failed.error_type == error_type
    assert expected in failed.error
    assert text(await conversation.turn("say: again")) == "again "


@pytest.mark.parametrize("reason", ["max_tokens", "max_turn_requests", "cancelled"])
async def test_why_a_turn_ended_is_told(open_small: Open, reason: str) -> None:
    finished = only(await (await open_small()).turn(f"stop: {reason}"), base.TurnFinished)
    assert finished.stop_reason == reason


# Programs that misbehave -------------------------------------------------------------------------


async def test_what_is_no_json_is_left_out_and_told_once(open_small: Open) -> None:
    conversation = await open_small()
    told = await conversation.turn("raw: [log] I say this here\n[log] and this")
    assert "ignored (not JSON)" in only(told, base.Notice).text
    assert text(await conversation.turn("say: again")) == "again "


async def test_a_line_without_end_is_left_out(open_small: Open) -> None:
    conversation = await open_small()
    await conversation.turn("long: 10")
    assert text(await conversation.turn("say: again")) == "again "


async def test_a_missing_program_names_itself_and_the_file(worktree: Path) -> None:
    row = replace(ROW, program="no-such-agent")
    with pytest.raises(SpinneyError) as raised:
        await AcpBackend(row).open(a_launch(worktree))
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
async def test_who_cannot_begin_says_why(
    open_small: Open, can: Json, error_type: str, expected: str
) -> None:
    with pytest.raises(SpinneyError) as raised:
        await open_small(can=can)
    assert raised.value.error_type == error_type
    assert expected in raised.value.message


async def test_a_program_that_is_no_agent_is_told(worktree: Path) -> None:
    row = replace(ROW, program=sys.executable, args=("-c", "print('hello')"))
    with pytest.raises(
        SpinneyError, match="did not respond as an Agent Client Protocol agent"
    ) as raised:
        await AcpBackend(row).open(a_launch(worktree))
    assert raised.value.error_type == "backend_unavailable"


# The probe ---------------------------------------------------------------------------------------


async def test_the_probe_greets_the_agent() -> None:
    assert await AcpBackend(ROW).probe() == base.Probe(sys.executable, "1.2.3", supported=True)


async def test_the_probe_tells_what_is_missing_or_no_agent() -> None:
    missing = await AcpBackend(replace(ROW, program="no-such-agent")).probe()
    assert missing.program is None
    assert "no-such-agent" in (missing.problem or "")
    other = await AcpBackend(replace(ROW, args=("-c", "exit(4)"))).probe()
    assert other.program == sys.executable
    assert "did not respond as an Agent Client Protocol agent" in (other.problem or "")
    assert other.supported is None


async def test_the_probe_tells_of_a_program_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "_PROBE_TIMEOUT", 0.2)
    hangs = await AcpBackend(replace(ROW, args=("-c", "input(); input()"))).probe()
    assert "did not respond as an Agent Client Protocol agent within 0.2 s" in str(hangs.problem)


async def test_an_agent_of_another_protocol_is_not_supported() -> None:
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 7}}
    script = f"print('{json.dumps(answer)}', flush=True); input(); input()"
    probe = await AcpBackend(replace(ROW, args=("-c", script))).probe()
    assert "Update the older" in (probe.problem or "")
    assert probe.supported is False
