"""Stopping, closing, killing and resuming the real Claude Code."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from model.backends import agent_events, base, channel
from model.base.errors import SpinneyError
from tests.live.provider_stub import ProviderStub
from tests.model.backends.agents import (
    Conversation,
    Open,
    find_processes_in,
    get_resume_token,
    is_running,
    only,
    text,
    wait_until,
)
from tests.patience import PATIENCE


async def find_program(folder: Path) -> int:
    """The process of the agent, once what it started for a moment has ended."""
    await wait_until(lambda: len(find_processes_in(folder)) == 1)
    (program,) = find_processes_in(folder)
    return program


async def stop_turn(conversation: Conversation) -> None:
    """Stop the turn, and check that this is reported and that the next turn works."""
    async with asyncio.timeout(PATIENCE):  # without a stop each turn takes at least a minute
        _, events = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("say: still here")) == "still here"
    assert not any(isinstance(e, agent_events.TurnStarted) for e in conversation.events)


async def test_an_immediate_stop_works_whether_or_not_the_turn_has_begun(open_claude: Open) -> None:
    conversation = await open_claude()
    for word in ("slow", "hang", "hang", "slow"):
        await conversation.agent.send(base.Prompt(word))
        await stop_turn(conversation)


async def test_stop_while_the_provider_is_silent(open_claude: Open, provider: ProviderStub) -> None:
    conversation = await open_claude()
    await conversation.agent.send(base.Prompt("hang"))
    await wait_until(lambda: bool(provider.requests))
    await stop_turn(conversation)


async def test_stop_while_the_program_waits_to_retry(
    open_claude: Open, claude_environment: dict[str, str]
) -> None:
    claude_environment["CLAUDE_CODE_MAX_RETRIES"] = "10"
    conversation = await open_claude()
    await conversation.agent.send(base.Prompt("error 529"))
    await conversation.until(agent_events.Notice)
    await stop_turn(conversation)


async def test_a_canceled_start_leaves_no_process(open_claude: Open, folder: Path) -> None:
    opening = asyncio.ensure_future(open_claude())
    await wait_until(lambda: bool(find_processes_in(folder)))
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    await wait_until(lambda: not find_processes_in(folder))


@pytest.mark.parametrize(("word", "kind"), [("slow", "text"), ("ponder", "thinking")])
async def test_stop_in_mid_stream_keeps_the_text_received_so_far(
    open_claude: Open, word: str, kind: str
) -> None:
    conversation = await open_claude()
    await conversation.agent.send(base.Prompt(word))
    assert (await conversation.until(agent_events.TextDelta)).kind == kind
    await stop_turn(conversation)
    assert not any(isinstance(e, agent_events.BlockDropped) for e in conversation.events)


@pytest.mark.parametrize(
    "words",
    ["ask: Tea or coffee? | Tea | Coffee", "plan: weave a scarf", "bash: python3 -c 'print(1)'"],
)
async def test_stop_withdraws_an_open_request(open_claude: Open, words: str) -> None:
    conversation = await open_claude(mode="plan")
    await conversation.agent.send(base.Prompt(words))
    asked = await conversation.until(
        agent_events.QuestionAsked, agent_events.PlanProposed, agent_events.PermissionRequested
    )
    await stop_turn(conversation)
    assert only(conversation.events, agent_events.RequestWithdrawn).request_id == asked.request_id
    with pytest.raises(SpinneyError) as raised:
        await conversation.agent.permit(asked.request_id, "allow")
    assert raised.value.error_type == "conflict"


async def test_stop_ends_the_running_command_and_its_children(
    open_claude: Open, folder: Path
) -> None:
    conversation = await open_claude(mode="yolo")
    program = await find_program(folder)
    command = "sleep 60 & (sleep 61; true) & touch ready; sleep 62"
    await conversation.agent.send(base.Prompt(f"bash: {command}"))
    await wait_until((folder / "ready").exists)
    assert find_processes_in(folder) > {program}
    await stop_turn(conversation)
    await wait_until(lambda: find_processes_in(folder) == {program})


async def test_stop_ends_the_commands_of_a_sub_agent(open_claude: Open, folder: Path) -> None:
    conversation = await open_claude(mode="yolo")
    program = await find_program(folder)
    call = '{"description": "Wait", "prompt": "bash: touch ready; sleep 60"}'
    await conversation.agent.send(base.Prompt(f"call: Agent {call}"))
    await wait_until((folder / "ready").exists)
    await stop_turn(conversation)
    await wait_until(lambda: find_processes_in(folder) == {program})


async def test_a_program_that_hangs_is_killed_and_its_conversation_resumes(
    open_claude: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "STOP_TIMEOUT", 0.2)
    hanging = await open_claude()
    await hanging.turn("say: the colour is blue")
    program = await find_program(folder)
    await hanging.agent.send(base.Prompt("slow"))
    await hanging.until(agent_events.TextDelta)
    os.kill(program, signal.SIGSTOP)
    _, events = await asyncio.gather(hanging.agent.stop(), hanging.rest())
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"
    await wait_until(lambda: not find_processes_in(folder))
    resumed = await open_claude(resume_token=get_resume_token(hanging))
    assert "the colour is blue" in text(await resumed.turn("remember?"))


async def test_a_killed_program_fails_the_turn_and_its_conversation_resumes(
    open_claude: Open, folder: Path
) -> None:
    killed = await open_claude(mode="yolo")
    await killed.turn("say: the colour is blue")
    program = await find_program(folder)
    await killed.agent.send(base.Prompt("bash: touch ready; sleep 60"))
    await wait_until((folder / "ready").exists)
    os.kill(program, signal.SIGKILL)
    failed = only(await killed.rest(), agent_events.TurnFailed)
    assert failed.error_type == "backend_error"
    assert failed.error.startswith("Claude Code was killed (SIGKILL). Send a message to start")
    await killed.agent.close()
    await wait_until(lambda: not find_processes_in(folder))
    resumed = await open_claude(resume_token=get_resume_token(killed))
    assert "the colour is blue" in text(await resumed.turn("remember?"))
    assert get_resume_token(resumed) == get_resume_token(killed)


async def test_closing_in_mid_command_leaves_nothing(open_claude: Open, folder: Path) -> None:
    conversation = await open_claude(mode="yolo")
    command = "setsid sleep 60 & echo $! > pid; mv pid ready; wait"
    await conversation.agent.send(base.Prompt(f"bash: {command}"))
    await wait_until((folder / "ready").exists)
    async with asyncio.timeout(PATIENCE):
        await conversation.agent.close()
    pid = int((folder / "ready").read_text())
    await wait_until(lambda: not is_running(pid))


async def test_a_new_process_knows_the_earlier_turns(open_claude: Open) -> None:
    before = await open_claude()
    await before.turn("say: the colour is blue")
    await before.agent.close()
    after = await open_claude(resume_token=get_resume_token(before))
    assert "the colour is blue" in text(await after.turn("remember?"))
    assert get_resume_token(after) == get_resume_token(before)


async def test_an_unknown_conversation_starts_a_new_one(open_claude: Open) -> None:
    unknown = "00000000-0000-4000-8000-000000000000"
    conversation = await open_claude(resume_token=unknown)
    events = await conversation.turn("say: hello")
    assert text(events) == "hello"
    assert "started a new one" in only(events, agent_events.Notice).text
    assert get_resume_token(conversation) != unknown


async def test_two_sessions_in_one_folder_do_not_mix(open_claude: Open) -> None:
    one, other = await asyncio.gather(open_claude(), open_claude())
    await asyncio.gather(one.turn("say: the colour is blue"), other.turn("say: it is red"))
    await asyncio.gather(one.agent.close(), other.agent.close())
    assert get_resume_token(one) != get_resume_token(other)
    again = await open_claude(resume_token=get_resume_token(one))
    remembered = text(await again.turn("remember?"))
    assert "blue" in remembered
    assert "red" not in remembered


async def test_a_cleared_conversation_resumes_from_the_messages_after_the_clear(
    open_claude: Open,
) -> None:
    conversation = await open_claude()
    await conversation.turn("say: the colour is blue")
    await conversation.turn("/clear")
    await conversation.turn("say: the yarn is wool")
    first, *_, last = [
        e.resume_token
        for e in conversation.events
        if isinstance(e, agent_events.ConversationIdentified)
    ]
    assert first != last
    await conversation.agent.close()
    remembered = text(await (await open_claude(resume_token=last)).turn("remember?"))
    assert "wool" in remembered
    assert "blue" not in remembered
