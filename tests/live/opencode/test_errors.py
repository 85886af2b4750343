"""Errors of the real OpenCode's provider, and how they are reported."""

from pathlib import Path
from typing import Any

import pytest

from model.backends import agent_events, base
from model.base.errors import SpinneyError
from tests.live.completions_stub import MODEL, PROVIDER, CompletionsStub
from tests.model.backends.agents import Open, only, text

pytestmark = pytest.mark.asyncio(loop_scope="package")


@pytest.mark.parametrize(
    ("status", "error_type", "advice"),
    [
        (401, "authentication_error", "opencode auth login"),
        (400, "invalid_request", "fork the session"),
    ],
)
async def test_a_providers_error_fails_the_turn_and_the_next_one_works(
    open_opencode: Open, status: int, error_type: str, advice: str
) -> None:
    conversation = await open_opencode()
    failed = only(await conversation.turn(f"error {status}"), agent_events.TurnFailed)
    assert failed.error_type == error_type
    assert advice in failed.error
    assert text(await conversation.turn("say: again")) == "again"


async def test_a_rate_limit_reports_when_it_ends(
    open_opencode: Open, provider: CompletionsStub
) -> None:
    conversation = await open_opencode()
    provider.headers, provider.error = {"retry-after": "600"}, "Rate limit reached"
    try:
        failed = only(await conversation.turn("error 429"), agent_events.TurnFailed)
    finally:
        provider.headers, provider.error = {}, ""
    assert failed.error_type == "rate_limit_error"
    assert 500 < (failed.retry_after or 0) <= 600
    assert text(await conversation.turn("say: again")) == "again"


async def test_a_provider_that_asks_for_a_delay_is_a_rate_limit(
    open_opencode: Open, provider: CompletionsStub
) -> None:
    conversation = await open_opencode()
    provider.headers, provider.error = {"retry-after": "40"}, "Too busy just now."
    try:
        failed = only(await conversation.turn("error 429"), agent_events.TurnFailed)
    finally:
        provider.headers, provider.error = {}, ""
    assert failed.error_type == "rate_limit_error"
    assert 30 < (failed.retry_after or 0) <= 40


async def test_a_broken_picture_fails_the_turn_and_the_next_one_works(
    open_opencode: Open, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.png"
    start = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000080000000808020000004b6d29dc")
    broken.write_bytes(start[:-1] + b"\0" + bytes(40))
    conversation = await open_opencode()
    await conversation.agent.send(base.Prompt("say: what is this?", images=(broken,)))
    failed = only(await conversation.rest(), agent_events.TurnFailed)
    assert "mage could not be decoded" in failed.error
    assert text(await conversation.turn("say: again")) == "again"


async def test_a_provider_that_answers_with_a_page_fails_the_turn_and_the_next_one_works(
    open_opencode: Open, provider: CompletionsStub
) -> None:
    conversation = await open_opencode()
    before = len(provider.requests)
    provider.page = "<html><body>Sign in to this network</body></html>"
    try:
        failed = only(await conversation.turn("say: hello"), agent_events.TurnFailed)
    finally:
        provider.page = ""
    assert "sign-in page" in failed.error
    assert 5 <= len(provider.requests) - before < 30
    assert text(await conversation.turn("say: again")) == "again"


async def test_an_unknown_model_is_refused_and_the_next_one_works(open_opencode: Open) -> None:
    conversation = await open_opencode(model="nobody/nothing")
    with pytest.raises(SpinneyError, match=f"It has .*{PROVIDER}/{MODEL}"):
        await conversation.agent.send(base.Prompt("say: hello"))
    await conversation.agent.configure(base.Settings("build", f"{PROVIDER}/{MODEL}"))
    assert text(await conversation.turn("say: again")) == "again"


async def test_a_conversation_that_is_too_long_is_compacted(
    open_opencode: Open, provider: CompletionsStub
) -> None:
    conversation = await open_opencode()
    provider.error = "prompt is too long: maximum context length exceeded"
    try:
        events = await conversation.turn("error 400")
    finally:
        provider.error = ""
    notices = [event.text for event in events if isinstance(event, agent_events.Notice)]
    assert notices == ["Shortening the conversation…"]
    assert agent_events.COMPACTION_NOTE in events
    assert only(events, agent_events.TurnFinished).stop_reason == "end_turn"


@pytest.mark.parametrize("stage", ["overloaded", "no network"])
async def test_an_unreachable_provider_fails_the_turn_soon(
    open_opencode: Open, environment: dict[str, str], tmp_path: Path, stage: str
) -> None:
    profile: dict[str, Any] = {}
    if stage == "no network":
        options = {"baseURL": "http://127.0.0.1:9/v1", "apiKey": "dummy"}
        profile = {"provider": {PROVIDER: {"options": options}}}
    conversation = await open_opencode(profile=profile)
    events = await conversation.turn("error 529")
    failed = only(events, agent_events.TurnFailed)
    assert failed.error_type == "backend_error"
    assert "Try again" in failed.error
    assert "Retrying" in next(e.text for e in events if isinstance(e, agent_events.Notice))
