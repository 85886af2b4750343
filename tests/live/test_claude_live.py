"""The real Claude Code behind its adapter, answered by a scripted provider on loopback."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from model.backends import base
from model.backends.claude import ClaudeBackend
from model.resources import Usage
from tests.live.provider_stub import ProviderStub
from tests.model.backends.agents import Conversation, Open, a_launch, becomes, lives, only, text


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    path = tmp_path / "worktree"
    path.mkdir()
    return path


@pytest.fixture
async def open_claude(claude_environment: dict[str, str], worktree: Path) -> AsyncIterator[Open]:
    opened: list[base.Agent] = []

    async def open_claude(**launch: Any) -> Conversation:
        usual = {"model": "sonnet", "thinking": "think", "environment": claude_environment}
        agent = await ClaudeBackend().open(a_launch(worktree, **{**usual, **launch}))
        opened.append(agent)
        return Conversation(agent)

    yield open_claude
    await asyncio.gather(*(agent.close() for agent in opened))


def token(conversation: Conversation) -> str:
    return only(conversation.told, base.ConversationIdentified).resume_token


async def test_text_and_thinking_stream_and_the_usage_is_told(open_claude: Open) -> None:
    told = await (await open_claude()).turn("think: about looms and threads")
    assert text(told, "thinking") == "about looms and threads"
    assert text(told) == "I thought about it."
    assert sum(isinstance(event, base.TextDelta) for event in told) >= 2
    finished = only(told, base.TurnFinished)
    assert finished.stop_reason == "end_turn"
    assert finished.usage == Usage(
        input_tokens=100,
        output_tokens=5,
        cache_creation_input_tokens=20,
        cache_read_input_tokens=3,
    )
    assert finished.context_tokens == 123
    assert (finished.context_window or 0) >= 100_000


async def test_a_write_happens_on_disk_and_is_told_as_an_edit(
    open_claude: Open, worktree: Path
) -> None:
    told = await (await open_claude()).turn("write a.txt: hi")
    assert (worktree / "a.txt").read_text() == "hi"
    _announced, edit = (event for event in told if isinstance(event, base.ToolUse))
    assert edit.name == "edit"
    assert edit.input == {"file_path": "a.txt", "old_content": "", "new_content": "hi"}
    result = only(told, base.ToolResult)
    assert (result.tool_use_id, result.is_error) == (edit.id, False)
    assert text(told).endswith("done")


async def test_an_edit_tells_what_it_replaces(open_claude: Open, worktree: Path) -> None:
    (worktree / "a.txt").write_text("one two three")
    told = await (await open_claude()).turn("edit a.txt: two => 2")
    assert (worktree / "a.txt").read_text() == "one 2 three"
    edits = [e.input for e in told if isinstance(e, base.ToolUse) and e.name == "edit"]
    assert edits[-1] == {"file_path": "a.txt", "old_content": "two", "new_content": "2"}


async def test_build_mode_asks_before_a_command_and_a_denial_holds(
    open_claude: Open, worktree: Path
) -> None:
    conversation = await open_claude()
    await conversation.agent.send(base.Prompt('bash: python3 -c \'open("a", "w")\''))
    asked = await conversation.until(base.PermissionAsked)
    assert asked.tool_name == "Bash"
    await conversation.agent.permit(asked.request_id, "deny")
    assert only(await conversation.rest(), base.ToolResult).is_error
    assert list(worktree.iterdir()) == []


async def test_what_is_allowed_for_the_session_runs_and_is_not_asked_again(
    open_claude: Open, worktree: Path
) -> None:
    conversation = await open_claude()
    command = "bash: python3 -c 'print(6 * 7)'"
    await conversation.agent.send(base.Prompt(command))
    asked = await conversation.until(base.PermissionAsked)
    await conversation.agent.permit(asked.request_id, "allow_session")
    assert only(await conversation.rest(), base.ToolResult).content == "42"
    assert only(await conversation.turn(command), base.ToolResult).content == "42"
    assert list(worktree.iterdir()) == []  # the rule is in no settings file


async def test_yolo_mode_runs_without_asking(open_claude: Open, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    told = await (await open_claude(mode="yolo")).turn(f"bash: python3 -V && touch {outside}")
    assert not any(isinstance(event, base.PermissionAsked) for event in told)
    assert outside.exists()


async def test_plan_mode_changes_nothing(open_claude: Open, worktree: Path) -> None:
    told = await (await open_claude(mode="plan")).turn("write a.txt: hi")
    assert only(told, base.ToolResult).is_error
    assert list(worktree.iterdir()) == []


async def test_an_approved_plan_is_carried_out_in_the_same_turn(
    open_claude: Open, worktree: Path
) -> None:
    conversation = await open_claude(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    plan = await conversation.until(base.PlanProposed)
    assert plan.text == "weave a scarf"
    assert list(worktree.iterdir()) == []
    await conversation.agent.approve(plan.request_id, base.Settings("build"), None)
    told = await conversation.rest()
    assert (worktree / "planned.txt").read_text() == "weave a scarf\n"
    assert only(told, base.TurnFinished).stop_reason == "end_turn"
    await conversation.turn("write later.txt: x")
    assert (worktree / "later.txt").exists()  # the mode stays


async def test_a_discussed_plan_is_revised(open_claude: Open, worktree: Path) -> None:
    conversation = await open_claude(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    plan = await conversation.until(base.PlanProposed)
    await conversation.agent.discuss(plan.request_id, "In blue, please")
    assert (await conversation.until(base.PlanProposed)).text == "weave a scarf, revised"
    assert list(worktree.iterdir()) == []


async def test_a_question_is_answered(open_claude: Open) -> None:
    conversation = await open_claude()
    await conversation.agent.send(base.Prompt("ask: Tea or coffee? | Tea | Coffee"))
    asked = await conversation.until(base.QuestionAsked)
    (question,) = asked.questions
    assert [option.label for option in question.options] == ["Tea", "Coffee"]
    await conversation.agent.answer(asked.request_id, {question.question: "Water"})
    assert "Water" in text(await conversation.rest())


async def test_stop_in_mid_stream_keeps_the_program_usable(open_claude: Open) -> None:
    conversation = await open_claude()
    await conversation.agent.send(base.Prompt("slow"))
    await conversation.until(base.TextDelta)
    async with asyncio.timeout(30):  # the whole answer takes a minute
        _, told = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(told, base.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("say: still here")) == "still here"


async def test_stop_at_once_stops_too(open_claude: Open) -> None:
    conversation = await open_claude()
    await conversation.agent.send(base.Prompt("slow"))
    async with asyncio.timeout(30):  # the whole answer takes a minute
        _, told = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(told, base.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("say: still here")) == "still here"


async def test_stop_ends_the_command_that_runs(open_claude: Open, worktree: Path) -> None:
    conversation = await open_claude(mode="yolo")
    command = "echo $$ > pid; mv pid ready; sleep 60"
    await conversation.agent.send(base.Prompt(f"bash: {command}"))
    await becomes((worktree / "ready").exists)
    _, told = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(told, base.TurnFinished).stop_reason == "stopped"
    pid = int((worktree / "ready").read_text())
    await becomes(lambda: not lives(pid))


async def test_closing_in_mid_command_leaves_nothing(open_claude: Open, worktree: Path) -> None:
    conversation = await open_claude(mode="yolo")
    command = "setsid sleep 60 & echo $! > pid; mv pid ready; wait"
    await conversation.agent.send(base.Prompt(f"bash: {command}"))
    await becomes((worktree / "ready").exists)
    async with asyncio.timeout(5):
        await conversation.agent.close()
    pid = int((worktree / "ready").read_text())
    await becomes(lambda: not lives(pid))


async def test_a_new_process_knows_the_earlier_turns(open_claude: Open) -> None:
    before = await open_claude()
    await before.turn("say: the colour is blue")
    await before.agent.close()
    after = await open_claude(resume_token=token(before))
    assert "the colour is blue" in text(await after.turn("remember?"))
    assert token(after) == token(before)


async def test_an_unknown_conversation_begins_afresh(open_claude: Open) -> None:
    unknown = "00000000-0000-4000-8000-000000000000"
    conversation = await open_claude(resume_token=unknown)
    told = await conversation.turn("say: hello")
    assert text(told) == "hello"
    assert "begins afresh" in only(told, base.Notice).text
    assert token(conversation) != unknown


async def test_a_refused_key_is_told_at_once(
    open_claude: Open, claude_environment: dict[str, str]
) -> None:
    claude_environment["CLAUDE_CODE_MAX_RETRIES"] = "10"
    conversation = await open_claude()
    async with asyncio.timeout(5):  # all the retries would take minutes
        failed = only(await conversation.turn("error 401"), base.TurnFailed)
    assert failed.error_type == "authentication_error"
    assert "/login" in failed.error
    assert text(await conversation.turn("say: again")) == "again"


@pytest.mark.parametrize(
    ("status", "error_type"),
    [(429, "rate_limit_error"), (529, "backend_error"), (400, "invalid_request")],
)
async def test_a_providers_error_fails_the_turn_and_the_next_one_works(
    open_claude: Open, status: int, error_type: str
) -> None:
    conversation = await open_claude()
    failed = only(await conversation.turn(f"error {status}"), base.TurnFailed)
    assert failed.error_type == error_type
    assert text(await conversation.turn("say: again")) == "again"


async def test_changed_settings_reach_the_provider(
    open_claude: Open, provider: ProviderStub, worktree: Path
) -> None:
    conversation = await open_claude(mode="plan", system_prompt="Speak of looms.")
    await conversation.turn("say: one")
    assert "Speak of looms." in str(provider.requests[-1]["system"])
    await conversation.agent.configure(base.Settings("build", "haiku", "ultrathink", "max"))
    await conversation.turn("write a.txt: x")
    assert "haiku" in provider.requests[-1]["model"]
    assert (worktree / "a.txt").exists()


async def test_a_picture_reaches_the_provider(
    open_claude: Open, provider: ProviderStub, tmp_path: Path
) -> None:
    picture = tmp_path / "dot.png"
    picture.write_bytes(
        bytes.fromhex(
            "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
            "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
        )
    )
    conversation = await open_claude()
    await conversation.agent.send(base.Prompt("say: seen", images=(picture,)))
    await conversation.rest()
    assert '"type": "image"' in str(provider.requests[-1]).replace("'", '"')


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
