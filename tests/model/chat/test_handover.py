"""Changing a session's agent: what the new one receives, and resuming the earlier one."""

from model.backends import agent_events
from model.base.errors import SpinneyError
from model.chat.handover import build_agent_change
from model.domain.sessions import Session
from tests.model.chat.harness import DONE, Harness
from tests.puppet import Puppet


async def run_turn(
    harness: Harness, count: int, text: str, answer: str, token: str
) -> tuple[Puppet, str]:
    """Run a turn of the `count`th opened agent; return the agent and the text it was sent."""
    await harness.chats.send("s", text)
    puppet = await harness.backend.newest(count)
    _, sent = await puppet.wait_for_call("send")
    puppet.say(
        agent_events.ConversationIdentified(token), agent_events.TextDelta("a", answer), DONE
    )
    await harness.wait_for_turn()
    return puppet, str(sent)


async def test_the_new_agent_is_sent_a_summary_once_and_the_conversation_shows_it(
    harness: Harness,
) -> None:
    await run_turn(harness, 1, "Build a loom", "I wove one.", "first")
    await harness.chats.change_agent("s", "backend_b", {})
    new, sent = await run_turn(harness, 2, "Go on", "I do.", "second")
    assert new.launch.resume_token is None
    assert "<summary>\nThey want looms.\n</summary>" in sent
    assert sent.endswith("\n\nGo on")
    assert "Build a loom" in harness.writer.material["conversation"]
    assert "I wove one." in harness.writer.material["conversation"]
    assert "Go on" not in harness.writer.material["conversation"]
    texts = [(message.role, message.text) for message in await harness.messages()]
    assert texts[2] == ("user", "Go on")
    assert texts[3][1].startswith("**Codex takes over from Demo agent.** It received this summary")
    assert "> They want looms." in texts[3][1]
    assert texts[4] == ("assistant", "I do.")
    await harness.chats.send("s", "And on")
    assert (await new.wait_for_call("send"))[1] == "And on"


async def test_the_earlier_agent_resumes_its_own_conversation_and_receives_what_it_missed(
    harness: Harness,
) -> None:
    await run_turn(harness, 1, "Build a loom", "I wove one.", "first")
    await harness.chats.change_agent("s", "backend_b", {})
    await run_turn(harness, 2, "Paint it", "It is red.", "second")
    await harness.chats.change_agent("s", "demo", {})
    assert harness.session.resume_token == "first"
    assert harness.session.memories["backend_b"].resume_token == "second"
    resumed, _ = await run_turn(harness, 3, "Sell it", "Sold.", "first")
    assert resumed.launch.resume_token == "first"
    assert "It is red." in harness.writer.material["conversation"]
    assert "Build a loom" not in harness.writer.material["conversation"]
    note = next(m.text for m in await harness.messages() if "resumes its earlier" in m.text)
    assert "what happened since" in note


async def test_switching_to_another_agent_and_back_changes_nothing(harness: Harness) -> None:
    await run_turn(harness, 1, "Build a loom", "I wove one.", "first")
    await harness.chats.change_agent("s", "backend_b", {})
    await harness.chats.change_agent("s", "demo", {})
    assert harness.session.handover is None
    resumed, sent = await run_turn(harness, 2, "Go on", "I do.", "first")
    assert resumed.launch.resume_token == "first"
    assert sent == "Go on"


async def test_a_failed_summary_is_reported_in_the_conversation(harness: Harness) -> None:
    harness.writer.error = SpinneyError("Claude Code is not installed.", "backend_unavailable")
    await run_turn(harness, 1, "Build a loom", "I wove one.", "first")
    await harness.chats.change_agent("s", "backend_b", {})
    _, sent = await run_turn(harness, 2, "Go on", "I do.", "second")
    assert sent == "Go on"
    note = next(m.text for m in await harness.messages() if "takes over" in m.text)
    assert "It does not know the conversation above: writing a summary failed." in note
    assert "Claude Code is not installed." in note
    assert harness.session.handover is None


async def test_a_command_is_sent_unchanged_and_the_summary_follows_with_the_next_message(
    harness: Harness,
) -> None:
    await run_turn(harness, 1, "Build a loom", "I wove one.", "first")
    await harness.chats.change_agent("s", "backend_b", {})
    new, sent = await run_turn(harness, 2, "/compact", "Done.", "second")
    assert sent == "/compact"
    await harness.chats.send("s", "Go on")
    assert "They want looms." in str((await new.wait_for_call("send"))[1])


async def test_a_change_before_the_first_message_needs_no_handover() -> None:
    session = Session(id="s", worktree_id="w", name="n", created_at=1)
    assert build_agent_change(session, "backend_b")["handover"] is None
