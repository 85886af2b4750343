"""The adapter of Claude Code with a program that is missing, outdated, broken or crashes."""

import os
from pathlib import Path

import pytest

from model.backends import agent_events
from model.backends import program as backend_program
from model.backends.claude import session
from model.backends.claude.backend import ClaudeBackend
from model.base.errors import SpinneyError
from tests.model.backends import claude_lines as say
from tests.model.backends.agents import Open, children, make_launch, only, wait_until
from tests.model.backends.claude_lines import read_arguments, read_received


async def test_a_crash_in_mid_turn_is_a_failed_turn(open_claude: Open) -> None:
    conversation = await open_claude([say.init(), "die"])
    failed = only(await conversation.turn("Hello"), agent_events.TurnFailed)
    assert failed.error_type == "backend_error"
    assert failed.error.startswith("Claude Code ended unexpectedly (exit code 3).")
    await conversation.end()


async def test_the_last_output_of_a_dead_program_is_quoted(open_claude: Open) -> None:
    conversation = await open_claude([say.init(), "complain"])
    failed = only(await conversation.turn("Hello"), agent_events.TurnFailed)
    assert failed.error.endswith("Last output: no disk left")


async def test_output_that_is_not_json_is_skipped_with_a_notice(open_claude: Open) -> None:
    conversation = await open_claude([say.init(), "babble", say.result()])
    events = await conversation.turn("Hello")
    assert "Skipped output of Claude Code (not JSON)" in only(events, agent_events.Notice).text
    assert only(events, agent_events.TurnFinished).stop_reason == "end_turn"


async def test_a_line_of_ten_megabytes_is_read_completely(open_claude: Open) -> None:
    words = "word " * 2_000_000
    turn = [say.init(), say.assistant("m", say.text(words)), say.tool_result("t", words)]
    events = await (await open_claude([*turn, say.result()])).turn("Hello")
    assert only(events, agent_events.TextFinal).text == words
    assert only(events, agent_events.ToolResult).content == words


async def test_an_answer_in_another_conversation_is_refused_and_the_program_ended(
    open_claude: Open,
) -> None:
    foreign = [say.init(session="other"), say.assistant("m", say.text("Secret")), say.result()]
    conversation = await open_claude([*foreign], [say.init(), say.result()])
    failed = only(await conversation.turn("Hello"), agent_events.TurnFailed)
    assert "a different conversation" in failed.error
    await conversation.end()
    kinds = agent_events.TextFinal | agent_events.ConversationIdentified
    assert not any(isinstance(event, kinds) for event in conversation.events)


async def test_a_command_of_the_program_may_begin_another_conversation(open_claude: Open) -> None:
    reset = {"type": "conversation_reset", "session_id": "next"}
    conversation = await open_claude([reset, say.result()], [say.init(session="next")])
    events = await conversation.turn("/clear")
    assert only(events, agent_events.ConversationIdentified).resume_token == "next"


SWITCHED_OFF = ("BACKGROUND_TASKS", "CRON", "WORKFLOWS")


async def test_a_profile_is_sent_to_the_program_but_not_on_the_command_line(
    open_claude: Open, program: Path
) -> None:
    profile = {"env": {"KEY": "secret"}, "deniedMcpServers": [{"serverName": "looms"}]}
    await open_claude(profile=profile, disabled_mcp_servers=frozenset({"threads"}))
    assert "secret" not in str(read_arguments(program))
    settings = [
        line["request"]["settings"]
        for line in read_received(program, "control_request")
        if line["request"]["subtype"] == "apply_flag_settings"
    ]
    off = [{"serverName": "threads"}, {"serverName": "looms"}]
    kept = {"useAutoModeDuringPlan": False, "crossSessionInbound": "refuse"}
    switches = {f"CLAUDE_CODE_DISABLE_{what}": "1" for what in SWITCHED_OFF}
    ours = {"deniedMcpServers": off, **kept, "env": {"KEY": "secret", **switches}}
    assert settings == [ours]


@pytest.mark.parametrize(
    ("fault", "timeout", "message"),
    [("quits", 60.0, r"exited immediately \(exit code 7\)"), ("hangs", 0.2, "did not respond")],
)
async def test_a_program_without_output_at_startup_is_ended(
    open_claude: Open, monkeypatch: pytest.MonkeyPatch, fault: str, timeout: float, message: str
) -> None:
    monkeypatch.setattr(session, "START_TIMEOUT", timeout)
    before = children()
    with pytest.raises(SpinneyError, match=f"{message} at startup") as raised:
        await open_claude(script={fault: True})
    assert raised.value.error_type == "backend_unavailable"
    await wait_until(lambda: children() <= before)


async def test_a_refused_profile_is_reported(open_claude: Open) -> None:
    refusing = {"refuses": "apply_flag_settings"}
    with pytest.raises(SpinneyError, match="refused a setting: not today"):
        await open_claude(script=refusing, profile={"model": 7})


async def test_a_version_that_lacks_our_options_is_too_old(open_claude: Open) -> None:
    with pytest.raises(SpinneyError, match="Run: claude update") as raised:
        await open_claude(script={"broken": "error: unknown option '--thinking-display'"})
    assert raised.value.error_type == "backend_unavailable"


async def test_a_lost_conversation_starts_over_with_a_notice(
    open_claude: Open, program: Path
) -> None:
    conversation = await open_claude([say.result()], script={"lost": True}, resume_token="gone")
    first, second = read_arguments(program)
    assert first[first.index("--resume") + 1] == "gone"
    assert "--session-id" in second
    assert "started a new one" in only(await conversation.turn("Hello"), agent_events.Notice).text


async def test_a_program_that_does_not_start_is_explained(open_claude: Open) -> None:
    with pytest.raises(SpinneyError, match="did not start: no disk left") as raised:
        await open_claude(script={"broken": "no disk left"})
    assert raised.value.error_type == "backend_unavailable"


async def test_a_program_that_is_not_installed_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    probe = await ClaudeBackend().probe()
    assert probe.program is None
    assert "npm install -g @anthropic-ai/claude-code" in (probe.problem or "")
    with pytest.raises(SpinneyError, match="is not installed") as raised:
        await ClaudeBackend().open(make_launch(tmp_path))
    assert raised.value.error_type == "backend_unavailable"


async def test_the_probe_does_not_wait_for_a_program_that_hangs(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend_program, "COMMAND_TIMEOUT", 0.2)
    (program / "claude").write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    before = children()
    probe = await ClaudeBackend().probe()
    assert "did not report its version within 0.2 seconds" in (probe.problem or "")
    assert (probe.fix, probe.supported) == (None, None)
    await wait_until(lambda: children() <= before)


@pytest.mark.parametrize(
    ("version", "status", "signed_in", "problem"),
    [
        ("2.1.197 (Claude Code)", '{"loggedIn": true}', True, None),
        ("2.1.329 (Claude Code)", '{"loggedIn": false}', False, "Run: claude auth login"),
        ("2.0.1 (Claude Code)", '{"loggedIn": true}', None, "older than 2.1.197"),
        ("2.1.197 (Claude Code)", "unknown command", None, None),
        ("oh no", "", None, "does not run"),
    ],
)
async def test_the_probe_reports_version_and_sign_in(
    program: Path, version: str, status: str, signed_in: bool | None, problem: str | None
) -> None:
    script = (
        f"#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{version}'; else echo '{status}'; fi\n"
    )
    (program / "claude").write_text(script)
    probe = await ClaudeBackend().probe()
    assert probe.program == os.fspath(program / "claude")
    assert probe.signed_in == signed_in
    assert (problem or "") in (probe.problem or "")
    assert (probe.problem is None) == (problem is None)
