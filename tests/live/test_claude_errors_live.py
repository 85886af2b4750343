"""Errors of the real Claude Code, as they are shown to the user."""

import asyncio
from pathlib import Path

import pytest

from model.backends import agent_events
from model.backends.claude.backend import ClaudeBackend
from model.base.errors import SpinneyError
from tests.live.provider_stub import ProviderStub
from tests.model.backends.agents import (
    Open,
    make_launch,
    only,
    text,
)
from tests.patience import PATIENCE


async def test_a_refused_key_is_reported_at_once(
    open_claude: Open, claude_environment: dict[str, str]
) -> None:
    claude_environment["CLAUDE_CODE_MAX_RETRIES"] = "10"
    conversation = await open_claude()
    async with asyncio.timeout(PATIENCE):  # all retries would take minutes
        failed = only(await conversation.turn("error 401"), agent_events.TurnFailed)
    assert failed.error_type == "authentication_error"
    assert "claude auth login" in failed.error
    assert text(await conversation.turn("say: again")) == "again"


@pytest.mark.parametrize(
    ("words", "error_type", "advice"),
    [
        ("error 400 no such thing", "invalid_request", "Change the message"),
        ("error 400 Your credit balance is too low", "backend_error", "Add credit"),
        ("error 403", "authentication_error", "claude auth login"),
        ("error 404", "invalid_request", "Choose another model"),
        ("error 413", "too_large", "Send less"),
        ("error 429", "rate_limit_error", "Wait a while"),
        ("error 500", "backend_error", "Try again"),
        ("error 529", "backend_error", "Try again"),
    ],
)
async def test_a_providers_error_fails_the_turn_and_the_next_one_works(
    open_claude: Open, words: str, error_type: str, advice: str
) -> None:
    conversation = await open_claude()
    failed = only(await conversation.turn(words), agent_events.TurnFailed)
    assert failed.error_type == error_type
    assert advice in failed.error
    assert (failed.retry_after is not None) == (error_type == "rate_limit_error")
    limits = {"error 429": "usage_limit", "error 500": "overloaded", "error 529": "overloaded"}
    assert failed.limit == limits.get(words)
    assert text(await conversation.turn("say: again")) == "again"


async def test_a_long_retry_delay_ends_the_turn_and_is_reported(
    open_claude: Open, claude_environment: dict[str, str], provider: ProviderStub
) -> None:
    claude_environment["CLAUDE_CODE_MAX_RETRIES"] = "4"
    provider.pause = 40
    conversation = await open_claude()
    failed = only(await conversation.turn("error 429"), agent_events.TurnFailed)
    assert failed.error_type == "rate_limit_error"
    assert 30 < (failed.retry_after or 0) < 60
    assert text(await conversation.turn("say: again")) == "again"


async def test_a_conversation_that_is_too_long_is_compacted_first(open_claude: Open) -> None:
    conversation = await open_claude()
    await conversation.turn("say: something to shorten")
    events = await conversation.turn("error 400 prompt is too long: 250000 tokens > 200000 maximum")
    failed = only(events, agent_events.TurnFailed)
    assert failed.error_type == "invalid_request"
    assert "/compact" in failed.error
    assert agent_events.COMPACTION_NOTE in events


async def test_no_network_is_reported_with_the_retries(
    open_claude: Open, claude_environment: dict[str, str]
) -> None:
    claude_environment["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9"
    events = await (await open_claude()).turn("say: hello")
    assert [e.text[:16] for e in events if isinstance(e, agent_events.Notice)] == [
        "Retrying (1 of 1"
    ]
    failed = only(events, agent_events.TurnFailed)
    assert failed.error_type == "backend_error"
    assert "unreachable" in failed.error
    assert failed.limit == "network"


async def test_a_missing_sign_in_is_reported_with_the_command(
    open_claude: Open, claude_environment: dict[str, str], provider: ProviderStub
) -> None:
    del claude_environment["ANTHROPIC_API_KEY"]
    failed = only(await (await open_claude()).turn("say: hello"), agent_events.TurnFailed)
    assert failed.error_type == "authentication_error"
    assert "Run: claude auth login" in failed.error
    assert provider.requests == []


async def test_a_missing_directory_is_named_in_the_error(
    folder: Path, claude_environment: dict[str, str]
) -> None:
    gone = make_launch(folder / "gone", environment=claude_environment)
    with pytest.raises(SpinneyError, match=r"directory is missing: .*worktree/gone\. Restore"):
        await ClaudeBackend().open(gone)


async def test_the_probe_finds_the_program_its_version_and_its_sign_in(
    claude_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in claude_environment.items():
        monkeypatch.setenv(name, value)
    probe = await ClaudeBackend().probe()
    assert probe.program is not None
    assert Path(probe.program).name == "claude"
    assert probe.version is not None
    assert probe.signed_in is True  # by the key in the environment


async def test_the_probe_reports_a_missing_sign_in(
    claude_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    del claude_environment["ANTHROPIC_API_KEY"]
    for name, value in claude_environment.items():
        monkeypatch.setenv(name, value)
    probe = await ClaudeBackend().probe()
    assert probe.signed_in is False
    assert probe.problem == "Claude Code is not signed in. Run: claude auth login"
