"""Errors of the real Codex's provider, and how they are reported."""

import asyncio
from pathlib import Path

import pytest

from model.backends import agent_events
from model.base.errors import SpinneyError
from tests.live.responses_stub import configuration
from tests.model.backends.agents import (
    Open,
    only,
    text,
)
from tests.patience import PATIENCE


async def test_a_refused_key_is_reported_at_once(open_codex: Open) -> None:
    conversation = await open_codex()
    async with asyncio.timeout(PATIENCE):
        failed = only(await conversation.turn("error 401"), agent_events.TurnFailed)
    assert failed.error_type == "authentication_error"
    assert "The provider refused the key in OPENAI_API_KEY." in failed.error
    assert "It said: unexpected status 401" in failed.error
    assert text(await conversation.turn("say: again")) == "again"


@pytest.mark.parametrize(
    ("words", "error_type", "sentence"),
    [
        ("error 429", "rate_limit_error", "Wait a while"),
        ("error 503", "backend_error", "Try again in a moment"),
        ("error 400", "invalid_request", "Change the message"),
        ("error 404", "invalid_request", "Choose another model"),
        ("fail insufficient_quota x", "rate_limit_error", "Wait until it resets"),
        ("fail context_length_exceeded x", "invalid_request", "too long for the model"),
        ("fail server_is_overloaded x", "backend_error", "overloaded"),
    ],
)
async def test_a_providers_error_fails_the_turn_and_the_next_one_works(
    open_codex: Open, words: str, error_type: str, sentence: str
) -> None:
    conversation = await open_codex()
    failed = only(await conversation.turn(words), agent_events.TurnFailed)
    assert failed.error_type == error_type
    assert sentence in failed.error
    assert text(await conversation.turn("say: again")) == "again"


async def test_no_network_is_reported(open_codex: Open, codex_environment: dict[str, str]) -> None:
    settings = Path(codex_environment["CODEX_HOME"]) / "config.toml"
    settings.write_text(configuration("http://127.0.0.1:9"))
    failed = only(await (await open_codex()).turn("say: hello"), agent_events.TurnFailed)
    assert failed.error_type == "backend_error"
    assert "Check the network" in failed.error
    assert "SSL_CERT_FILE" in failed.error


async def test_text_received_before_the_connection_was_lost_stays(open_codex: Open) -> None:
    events = await (await open_codex()).turn("cut: warp and weft")
    assert only(events, agent_events.TurnFailed).error_type == "backend_error"
    said: dict[str, str] = {}
    for event in events:
        match event:
            case agent_events.TextDelta(block, text):
                said[block] = said.get(block, "") + text
            case agent_events.BlockDropped(block):
                del said[block]
    assert list(said.values()) == ["warp and weft"]


async def test_a_missing_sign_in_is_reported_when_a_session_begins(
    open_codex: Open, codex_environment: dict[str, str]
) -> None:
    (Path(codex_environment["CODEX_HOME"]) / "config.toml").unlink()
    with pytest.raises(SpinneyError, match="Run: codex login") as raised:
        await open_codex()
    assert raised.value.error_type == "authentication_error"


async def test_a_rate_limit_reports_when_it_ends(open_codex: Open) -> None:
    words = "fail rate_limit_exceeded Rate limit reached. Please try again in 0.2s."
    failed = only(await (await open_codex()).turn(words), agent_events.TurnFailed)
    assert (failed.error_type, failed.retry_after) == ("rate_limit_error", 0.2)
