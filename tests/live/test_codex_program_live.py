"""The life cycle of the program that sessions of the real Codex share, and of its commands."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from model.backends import agent_events, base
from model.backends.codex import server
from model.backends.codex.backend import CodexBackend
from model.base.errors import SpinneyError
from tests.live.codex_setup import LONG_ENOUGH, contents
from tests.model.backends.agents import (
    Open,
    children,
    find_processes_in,
    get_resume_token,
    is_running,
    only,
    text,
    wait_until,
)
from tests.patience import PATIENCE


def find_programs() -> set[int]:
    """The pids of the running shared programs that this process started."""
    return {pid for pid in children() if is_running(pid) and b"app-server" in command_line(pid)}


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


async def test_stop_in_mid_stream_keeps_the_program_usable(open_codex: Open) -> None:
    conversation = await open_codex()
    await conversation.agent.send(base.Prompt("slow"))
    await conversation.until(agent_events.TextDelta)
    async with asyncio.timeout(PATIENCE):  # the whole answer takes a minute
        _, events = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("say: still here")) == "still here"


async def test_an_immediate_stop_stops_the_turn(open_codex: Open) -> None:
    conversation = await open_codex()
    await conversation.agent.send(base.Prompt("slow"))
    async with asyncio.timeout(PATIENCE):  # the whole answer takes a minute
        _, events = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("say: still here")) == "still here"


@pytest.mark.parametrize("words", ["sandboxed:", "bash:"])
async def test_stop_ends_the_running_command_and_its_children(
    open_codex: Open, worktree: Path, words: str
) -> None:
    conversation = await open_codex(mode="yolo" if words == "bash:" else "build")
    command = "env -i setsid sleep 60 & touch ready; wait"
    await conversation.agent.send(base.Prompt(f"{words} {command}"))
    await conversation.until(agent_events.ToolUse)
    await wait_until((worktree / "ready").exists)
    assert find_processes_in(worktree)
    _, events = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"
    assert only(events, agent_events.ToolResult).is_error
    await wait_until(lambda: not find_processes_in(worktree))
    assert contents(worktree) == ["ready"]
    assert text(await conversation.turn("say: still here")) == "still here"


async def test_closing_in_mid_command_leaves_nothing(open_codex: Open, worktree: Path) -> None:
    conversation = await open_codex(mode="yolo")
    other = await open_codex()
    await conversation.agent.send(base.Prompt("bash: setsid sleep 60 & touch ready; wait"))
    await wait_until((worktree / "ready").exists)
    async with asyncio.timeout(PATIENCE):
        await conversation.agent.close()
    await wait_until(lambda: not find_processes_in(worktree))
    assert text(await other.turn("say: still here")) == "still here"


@pytest.mark.parametrize("last", ["say: the colour is blue", "/compact"])
async def test_a_new_process_knows_the_earlier_turns_and_does_not_count_them(
    open_codex: Open, codex_backend: CodexBackend, last: str
) -> None:
    before = await open_codex()
    await before.turn("say: the colour is blue")
    await before.turn(last)
    await before.agent.close()
    await codex_backend.close()
    after = await open_codex(resume_token=get_resume_token(before))
    events = await after.turn("remember?")
    assert "the colour is blue" in text(events)
    assert get_resume_token(after) == get_resume_token(before)
    assert only(events, agent_events.TurnFinished).usage.input_tokens == 100


async def test_a_killed_program_fails_all_turns_and_a_new_one_resumes_them(
    open_codex: Open, worktree: Path
) -> None:
    conversation, other = await open_codex(), await open_codex()
    await conversation.turn("say: the colour is blue")
    await conversation.agent.send(base.Prompt("slow"))
    await other.agent.send(base.Prompt("slow"))
    await asyncio.gather(
        conversation.until(agent_events.TextDelta), other.until(agent_events.TextDelta)
    )
    (program,) = find_programs()
    os.kill(program, signal.SIGKILL)
    for each in (conversation, other):
        failed = only(await each.rest(), agent_events.TurnFailed)
        assert failed.error_type == "backend_error"
        assert failed.error.startswith("Codex was killed (SIGKILL). Send a message")
        assert "Last output" not in failed.error  # its warnings at start
        await each.end()
        await each.agent.close()
    again = await open_codex(resume_token=get_resume_token(conversation))
    assert "the colour is blue" in text(await again.turn("remember?"))
    assert get_resume_token(again) == get_resume_token(conversation)


async def test_an_unknown_conversation_starts_a_new_one(open_codex: Open) -> None:
    unknown = "00000000-0000-4000-8000-000000000000"
    conversation = await open_codex(resume_token=unknown)
    events = await conversation.turn("say: hello")
    assert text(events) == "hello"
    assert "started a new one" in only(events, agent_events.Notice).text
    assert get_resume_token(conversation) != unknown


async def test_sessions_share_one_program_that_ends_with_the_backend(
    open_codex: Open, codex_backend: CodexBackend
) -> None:
    first, second = await open_codex(), await open_codex()
    turns = await asyncio.gather(first.turn("say: one"), second.turn("say: two"))
    assert [text(each) for each in turns] == ["one", "two"]
    assert len(find_programs()) == 1
    await asyncio.gather(first.agent.close(), second.agent.close())
    await codex_backend.close()
    assert find_programs() == set()


async def test_another_environment_starts_another_program(
    open_codex: Open, codex_environment: dict[str, str], worktree: Path
) -> None:
    of_worktree = {**codex_environment, "SPINNEY_BRANCH": "work"}
    first = await open_codex(mode="yolo", environment=of_worktree)
    events = await first.turn(f'bash: {LONG_ENOUGH}; echo "$SPINNEY_BRANCH $OPENAI_API_KEY."')
    assert only(events, agent_events.ToolResult).content == "work ."  # the branch, and no key
    await open_codex(environment={**of_worktree, "SPINNEY_BRANCH": "other"})
    assert len(find_programs()) == 1
    await open_codex(environment={**of_worktree, "COLOUR": "blue"})
    assert len(find_programs()) == 2


async def test_a_closed_session_is_opened_again_in_the_same_program(open_codex: Open) -> None:
    before = await open_codex()
    await before.turn("say: the colour is blue")
    await before.agent.close()
    after = await open_codex(resume_token=get_resume_token(before), system_prompt="Speak of looms.")
    assert "the colour is blue" in text(await after.turn("remember?"))
    assert len(find_programs()) == 1


async def test_an_idle_program_ends(open_codex: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "IDLE_LIMIT", 0.1)
    conversation = await open_codex()
    await conversation.turn("say: one")
    assert len(find_programs()) == 1
    await conversation.agent.close()
    await wait_until(lambda: not find_programs())
    again = await open_codex(resume_token=get_resume_token(conversation))
    assert "say: one" in text(await again.turn("remember?"))


async def test_the_probe_finds_the_program_its_version_and_its_sign_in(
    codex_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in codex_environment.items():
        monkeypatch.setenv(name, value)
    probe = await CodexBackend().probe()
    assert probe.program is not None
    assert Path(probe.program).name == "codex"
    assert probe.version is not None
    assert (probe.signed_in, probe.problem) == (True, None)  # by the key in the environment
    (Path(codex_environment["CODEX_HOME"]) / "config.toml").unlink()
    probe = await CodexBackend().probe()
    assert (probe.signed_in, probe.problem) == (False, "Codex is not signed in. Run: codex login")


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ('profile = "work"\n', 'legacy `profile = "work"` config'),
        ("model = 3\n", "expected a string"),
    ],
)
async def test_unusable_settings_are_not_reported_as_a_missing_sign_in(
    open_codex: Open,
    codex_backend: CodexBackend,
    codex_environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    broken: str,
    said: str,
) -> None:
    for name, value in codex_environment.items():
        monkeypatch.setenv(name, value)
    settings = Path(codex_environment["CODEX_HOME"]) / "config.toml"
    whole = settings.read_text()
    settings.write_text(broken + whole.replace("model =", "review_model =", 1))
    probe = await codex_backend.probe()
    assert probe.problem is not None
    assert said in probe.problem
    with pytest.raises(SpinneyError, match="cannot use its settings") as refused:
        await open_codex()
    assert said in refused.value.message
    settings.write_text(whole)
    again = await open_codex()  # at once, not only after the first program ended by itself
    assert text(await again.turn("say: repaired")) == "repaired"
