"""Starting in a copy of a conversation that ends with a given turn; `test_codex` has its own."""

from pathlib import Path
from typing import Any

import pytest

from model.backends import agent_events, base
from model.backends.demo.backend import DemoBackend
from model.backends.opencode.conversations import fork
from model.base.errors import SpinneyError
from tests.model.backends import claude_lines as say
from tests.model.backends.agents import Conversation, Open, get_resume_token, make_launch, text
from tests.model.backends.claude_lines import read_arguments

Json = dict[str, Any]


def marks(events: list[agent_events.AgentEvent]) -> list[str]:
    return [event.mark for event in events if isinstance(event, agent_events.TurnMarked)]


# Claude Code -------------------------------------------------------------------------------------


async def test_claude_is_started_on_a_copy_with_an_id_of_its_own(
    open_claude: Open, program: Path
) -> None:
    await open_claude([say.result()], resume_token="T", fork_at="line-7")
    (arguments,) = read_arguments(program)
    first = arguments.index("--resume")
    copy = ["--resume", "T", "--resume-session-at", "line-7", "--fork-session", "--session-id"]
    assert arguments[first : first + 6] == copy
    assert arguments[first + 6] != "T"


async def test_claude_without_the_conversation_or_the_line_starts_nothing(
    open_claude: Open, program: Path
) -> None:
    with pytest.raises(base.CannotForkError, match="no longer has the conversation"):
        await open_claude(script={"lost": True}, resume_token="gone", fork_at="line-7")
    with pytest.raises(base.CannotForkError):
        missing = "No message found with message.uuid of: line-7"
        await open_claude(script={"broken": missing}, resume_token="T", fork_at="line-7")
    assert len(read_arguments(program)) == 2


async def test_claudes_mark_is_the_last_line_of_the_main_conversation(open_claude: Open) -> None:
    conversation = await open_claude(
        [
            say.init(),
            say.assistant("m1", say.text("First"), uuid="u1"),
            say.assistant("m2", say.text("Second"), uuid="u2"),
            say.assistant("m3", say.text("Of a sub-agent"), uuid="u3", parent_tool_use_id="t"),
            say.result(),
        ],
        [say.init(), say.result()],
    )
    events = await conversation.turn("Hello")
    assert marks(events) == ["u2"]
    assert isinstance(events[-2], agent_events.TurnMarked), "before the end of the turn"
    assert marks(await conversation.turn("No answer")) == []


# OpenCode ----------------------------------------------------------------------------------------


class OpenCodeCalls:
    """The answers of a server with one conversation of three prompts."""

    def __init__(self, directory: str = "/w", can_move: bool = True) -> None:
        self.posted: list[tuple[str, Json | None]] = []
        self._directory = directory
        self._can_move = can_move

    async def __call__(self, method: str, path: str, body: Json | None = None) -> Any:
        if method == "POST":
            self.posted.append((path, body))
        match path:
            case "/session/ses_1":
                return {"id": "ses_1", "directory": self._directory}
            case "/session/ses_1/message":
                roles = ["user", "assistant"] * 3
                return [{"info": {"id": f"m{n}", "role": role}} for n, role in enumerate(roles)]
            case "/session/ses_1/fork":
                return {"id": "ses_2", "directory": self._directory}
            case _ if "move" in path and self._can_move:
                return None
        raise SpinneyError("There is nothing.", "not_found")


@pytest.mark.parametrize(("mark", "body"), [("m0", {"messageID": "m2"}), ("m4", {})])
async def test_opencode_leaves_out_from_the_message_after_the_mark_on(
    mark: str, body: Json
) -> None:
    calls = OpenCodeCalls()
    assert await fork(calls, "ses_1", mark, Path("/w")) == "ses_2"
    assert calls.posted == [("/session/ses_1/fork", body)]


@pytest.mark.parametrize(
    ("token", "mark"), [("ses_1", "unknown"), ("ses_1", "m1"), ("ses_gone", "m0"), ("../x", "m0")]
)
async def test_opencode_copies_nothing_without_the_message(token: str, mark: str) -> None:
    calls = OpenCodeCalls()
    with pytest.raises(base.CannotForkError, match="no longer has the conversation"):
        await fork(calls, token, mark, Path("/w"))
    assert calls.posted == []


async def test_opencode_moves_the_copy_to_another_worktree_or_says_that_it_cannot() -> None:
    calls = OpenCodeCalls()
    await fork(calls, "ses_1", "m0", Path("/other"))
    assert calls.posted[1][1] == {"sessionID": "ses_2", "destination": {"directory": "/other"}}
    with pytest.raises(base.CannotForkError, match="cannot continue this conversation in another"):
        await fork(OpenCodeCalls(can_move=False), "ses_1", "m0", Path("/other"))


# The demo agent ----------------------------------------------------------------------------------


async def test_the_demo_agent_remembers_what_came_before_the_mark(
    tmp_path: Path, worktree: Path
) -> None:
    backend = DemoBackend(tmp_path / "memory")
    agent = await backend.open(make_launch(worktree))
    original = Conversation(agent)
    await agent.send(base.Prompt("/demo ask one?"))
    asked = await original.until(agent_events.QuestionAsked)
    assert await agent.steer("m", base.Prompt("and more"))
    await agent.answer(asked.request_id, {})
    first = marks(await original.rest())[-1]
    await original.turn("/demo say two")
    token = get_resume_token(original)
    copy = await backend.open(make_launch(worktree, resume_token=token, fork_at=first))
    said = text(await Conversation(copy).turn("/demo recall"))
    assert "one" in said and "and more" in said
    assert "two" not in said
    with pytest.raises(base.CannotForkError):
        await backend.open(make_launch(worktree, resume_token=token, fork_at="9"))
    for opened in (agent, copy):
        await opened.close()
