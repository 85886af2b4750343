"""A change of a session's agent in mid-conversation: what the new one knows, and who comes back."""

from model.backends import base
from model.base.errors import SpinneyError
from model.chat.handover import build_agent_change
from model.domain.resources import Session
from tests.model.chat.stage import DONE, Stage
from tests.puppet import Puppet


async def turn(stage: Stage, count: int, text: str, answer: str, token: str) -> tuple[Puppet, str]:
    """A turn of the agent that is opened as the `count`th, and what it was sent."""
    await stage.chats.send("s", text)
    puppet = await stage.backend.newest(count)
    _, sent = await puppet.hears("send")
    puppet.say(base.ConversationIdentified(token), base.TextDelta("a", answer), DONE)
    await stage.settled()
    return puppet, str(sent)


async def test_the_new_agent_is_sent_a_summary_once_and_the_conversation_shows_it(
    stage: Stage,
) -> None:
    await turn(stage, 1, "Build a loom", "I wove one.", "first")
    await stage.chats.change_agent("s", "backend_b", {})
    new, sent = await turn(stage, 2, "Go on", "I do.", "second")
    assert new.launch.resume_token is None
    assert "<summary>\nThey want looms.\n</summary>" in sent
    assert sent.endswith("\n\nGo on")
    assert "Build a loom" in stage.writer.material["conversation"]
    assert "I wove one." in stage.writer.material["conversation"]
    assert "Go on" not in stage.writer.material["conversation"]
    texts = [(message.role, message.text) for message in await stage.messages()]
    assert texts[2] == ("user", "Go on")
    assert texts[3][1].startswith("**Codex takes over from Demo agent.** It received this summary")
    assert "> They want looms." in texts[3][1]
    assert texts[4] == ("assistant", "I do.")
    await stage.chats.send("s", "And on")
    assert (await new.hears("send"))[1] == "And on"


async def test_the_earlier_agent_resumes_its_own_conversation_and_is_told_what_it_missed(
    stage: Stage,
) -> None:
    await turn(stage, 1, "Build a loom", "I wove one.", "first")
    await stage.chats.change_agent("s", "backend_b", {})
    await turn(stage, 2, "Paint it", "It is red.", "second")
    await stage.chats.change_agent("s", "demo", {})
    assert stage.session.resume_token == "first"
    assert stage.session.memories["backend_b"].resume_token == "second"
    back, _ = await turn(stage, 3, "Sell it", "Sold.", "first")
    assert back.launch.resume_token == "first"
    assert "It is red." in stage.writer.material["conversation"]
    assert "Build a loom" not in stage.writer.material["conversation"]
    note = next(m.text for m in await stage.messages() if "resumes its earlier" in m.text)
    assert "what happened since" in note


async def test_who_looks_at_another_agent_and_comes_back_has_changed_nothing(stage: Stage) -> None:
    await turn(stage, 1, "Build a loom", "I wove one.", "first")
    await stage.chats.change_agent("s", "backend_b", {})
    await stage.chats.change_agent("s", "demo", {})
    assert stage.session.handover is None
    back, sent = await turn(stage, 2, "Go on", "I do.", "first")
    assert back.launch.resume_token == "first"
    assert sent == "Go on"


async def test_without_a_summary_it_is_said_that_the_new_agent_knows_nothing(stage: Stage) -> None:
    stage.writer.error = SpinneyError("Claude Code is not installed.", "backend_unavailable")
    await turn(stage, 1, "Build a loom", "I wove one.", "first")
    await stage.chats.change_agent("s", "backend_b", {})
    _, sent = await turn(stage, 2, "Go on", "I do.", "second")
    assert sent == "Go on"
    note = next(m.text for m in await stage.messages() if "takes over" in m.text)
    assert "It does not know the conversation above: writing a summary failed." in note
    assert "Claude Code is not installed." in note
    assert stage.session.handover is None


async def test_a_command_of_the_new_agent_is_sent_as_it_is_and_the_summary_follows(
    stage: Stage,
) -> None:
    await turn(stage, 1, "Build a loom", "I wove one.", "first")
    await stage.chats.change_agent("s", "backend_b", {})
    new, sent = await turn(stage, 2, "/compact", "Done.", "second")
    assert sent == "/compact"
    await stage.chats.send("s", "Go on")
    assert "They want looms." in str((await new.hears("send"))[1])


async def test_a_change_before_the_first_message_hands_nothing_over() -> None:
    session = Session(id="s", worktree_id="w", name="n", created_at=1)
    assert build_agent_change(session, "backend_b")["handover"] is None
