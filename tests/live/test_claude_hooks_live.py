"""The user's own Claude Code hooks: reported in sessions, not run for generated texts."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from model.backends import agent_events
from tests.live.provider_stub import ProviderStub
from tests.model.backends.agents import Open, only, text

Hook = Callable[[str, str], None]


@pytest.fixture
def hook(claude_environment: dict[str, str]) -> Hook:
    """Sets a shell command as the user's hook for an event."""
    settings = Path(claude_environment["CLAUDE_CONFIG_DIR"]) / "settings.json"
    hooks: dict[str, object] = {}

    def hook(event: str, command: str) -> None:
        hooks[event] = [{"hooks": [{"type": "command", "command": command}]}]
        settings.parent.mkdir(exist_ok=True)
        settings.write_text(json.dumps({"hooks": hooks}))

    return hook


def notes(events: list[agent_events.AgentEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, agent_events.ConversationNote)]


async def test_a_message_blocked_by_a_hook_is_reported(
    open_claude: Open, hook: Hook, provider: ProviderStub
) -> None:
    hook("UserPromptSubmit", "grep -q password && { echo 'No passwords.' >&2; exit 2; }; exit 0")
    conversation = await open_claude()
    events = await conversation.turn("say: my password")
    assert notes(events) == [
        "One of your hooks blocked this message, so the agent did not receive it: No passwords."
    ]
    assert only(events, agent_events.TurnFinished)
    assert provider.requests == []
    assert only(events, agent_events.ConversationNote).each_time
    assert text(await conversation.turn("say: hello")) == "hello"


async def test_hook_feedback_and_hook_failures_are_reported_once(
    open_claude: Open, hook: Hook, tmp_path: Path
) -> None:
    once = tmp_path / "once"
    hook("PostToolUse", "echo 'ruff: not found' >&2; exit 127")
    hook("Stop", f"test -e {once} || {{ touch {once}; echo 'Run the tests.' >&2; exit 2; }}")
    conversation = await open_claude()
    assert notes(await conversation.turn("write a.txt: x")) == [
        "One of your hooks failed (PostToolUse:Write, exit code 127): ruff: not found",
        "One of your hooks made the agent continue (Stop): Run the tests.",
    ]
    assert notes(await conversation.turn("write b.txt: x")) == []


async def test_a_hook_that_ends_the_run_is_reported_with_its_stop_reason(
    open_claude: Open, hook: Hook
) -> None:
    answer = json.dumps({"continue": False, "stopReason": "Enough for today"})
    hook("PostToolUse", f"echo '{answer}'")
    conversation = await open_claude()
    events = await conversation.turn("write a.txt: x")
    assert notes(events) == [
        "One of your hooks ended the run (PostToolUse:Write): Enough for today"
    ]


async def test_hooks_do_not_run_for_generated_texts(
    open_claude: Open, hook: Hook, tmp_path: Path
) -> None:
    for event in ("UserPromptSubmit", "Stop", "SessionStart"):
        hook(event, f"echo {event} >> {tmp_path / 'ran'}")
    conversation = await open_claude(text_only=True, system_prompt="You write.")
    assert text(await conversation.turn("say: a text")) == "a text"
    await conversation.agent.close()
    assert not (tmp_path / "ran").exists()
