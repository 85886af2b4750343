"""Conversations begun in the programs themselves, continued here; and the other way round."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.live.every_backend.conftest import Begin
from tests.live.every_backend.kinds import PROGRAMS, Kind
from tests.live.every_backend.talk import Json, Talk
from tests.program import Program

pytestmark = [
    pytest.mark.parametrize("kind", PROGRAMS.values(), ids=PROGRAMS.keys(), scope="module"),
    pytest.mark.timeout(300),
]

Say = Callable[..., Awaitable[None]]


@pytest.fixture
def say_in_shell(kind: Kind, program: Program) -> Say:
    """Says something with the program in a shell: in a new conversation, or in that of a token."""

    async def say(directory: str, text: str, token: str = "") -> None:
        match kind.needs:
            case "claude":
                command = ["claude", "-p", text, *(["--resume", token] if token else [])]
            case "codex":
                resume = ["resume", token] if token else []
                command = ["codex", "exec", "--skip-git-repo-check", *resume, text]
            case _:
                command = ["opencode", "run", *(["-s", token] if token else []), text]
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=directory,
            env={**program.environ, "PWD": directory},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        assert process.returncode == 0, output

    return say


async def list_ours(talk: Talk) -> list[Json]:
    """The foreign conversations of the worktree with this agent."""
    found = await talk.call("list_foreign_sessions", worktreeId=talk.worktree["id"])
    assert found["problems"] == []
    return [each for each in found["sessions"] if each["backend"] == talk.kind.backend]


async def test_a_conversation_begun_in_a_shell_is_continued(
    begin: Begin, say_in_shell: Say
) -> None:
    talk = await begin()
    directory = talk.worktree["path"]
    await say_in_shell(directory, "say: warp and weft")
    (found,) = await list_ours(talk)
    assert "warp and weft" in found["title"]
    assert Path(found["directory"]) == Path(directory)
    arguments = {"worktreeId": talk.worktree["id"], "backend": talk.kind.backend}
    arguments["conversationId"] = found["conversation_id"]
    session = await talk.call("continue_foreign_session", **arguments)
    again = await talk.call("continue_foreign_session", **arguments)
    assert again["id"] == session["id"]
    assert await list_ours(talk) == []
    here = Talk(talk.kind, talk.socket, talk.call, session, talk.worktree)
    history = (await here.do("get_messages"))["messages"]
    texts = [message["content"][0]["text"] for message in history]
    assert "say: warp and weft" in texts[0] and "warp and weft" in texts[1]
    assert texts[-1].startswith("> **Spinney:** Continued from ")
    if talk.kind.model is not None:
        await here.do("update_session", model=talk.kind.model)
    await here.say("remember?")
    assert "warp and weft" in await here.last_text()


async def test_a_session_continued_in_a_shell_comes_back(begin: Begin, say_in_shell: Say) -> None:
    talk = await begin()
    await talk.say("say: warp")
    command = await talk.do("get_resume_command")
    assert command["command"].startswith(f"cd {talk.worktree['path']} && ")
    assert command["arguments"][0] == talk.kind.needs
    session = await talk.do("get_session")
    assert session["elsewhere_since"] > session["created_at"]
    await say_in_shell(talk.worktree["path"], "say: weft", session["resume_token"])
    await talk.say("remember?")
    assert "weft" in await talk.last_text()
    history = (await talk.do("get_messages"))["messages"]
    texts = [message["content"][0]["text"] for message in history]
    assert [text for text in texts if "own screen; 1 new turn." in text]
    assert [text for text in texts if text.strip().strip('"') == "say: weft"]
    assert (await talk.do("get_session"))["elsewhere_since"] is None
