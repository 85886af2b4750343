"""The real programs' own commands: listing and running them."""

import asyncio
import json
from pathlib import Path

import pytest

from model.backends import agent_events, base
from model.backends.claude.backend import ClaudeBackend
from model.backends.codex.backend import CodexBackend
from model.domain.agent_commands import AgentCommand
from tests.live.provider_stub import ProviderStub
from tests.live.responses_stub import ResponsesStub
from tests.model.backends.agents import Open, by_name, only, text, wait_for_commands
from tests.patience import PATIENCE

SKILL = "---\nname: {0}\ndescription: {1}\n---\nWind the yarn.\n"


def write_file(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(content)


# Claude Code -------------------------------------------------------------------------------------


@pytest.fixture
def project_with_commands(folder: Path, claude_environment: dict[str, str]) -> Path:
    """A project with a command and a skill, and a user with a command."""
    head = "---\ndescription: Weave a cloth\nargument-hint: [yarn] [colour]\n---\n"
    write_file(folder / ".claude/commands/weave.md", f"{head}say: woven $ARGUMENTS\n")
    write_file(folder / ".claude/skills/wind/SKILL.md", SKILL.format("wind", "Wind yarn"))
    home = Path(claude_environment["CLAUDE_CONFIG_DIR"])
    write_file(home / "commands/area/mine.md", "say: mine\n")
    return folder


async def test_claude_code_lists_its_commands_before_the_first_turn(
    open_claude: Open, project_with_commands: Path
) -> None:
    commands = await wait_for_commands(await open_claude())
    assert commands["weave"].description.startswith("Weave a cloth")
    assert commands["weave"].argument_hint == "[yarn] [colour]"
    assert {"area:mine", "wind", "compact", "context", "init"} <= set(commands)
    assert commands["compact"].description


async def test_claude_codes_commands_in_files_are_found_without_running_it(
    project_with_commands: Path, claude_environment: dict[str, str], open_claude: Open
) -> None:
    seen = by_name(await ClaudeBackend().list_commands(project_with_commands, claude_environment))
    assert seen["weave"].argument_hint == "[yarn] [colour]"
    assert set(seen) == {"weave", "wind", "area:mine", "compact"}
    assert set(seen) <= set(await wait_for_commands(await open_claude()))


async def test_claude_code_runs_its_commands(
    open_claude: Open, project_with_commands: Path
) -> None:
    conversation = await open_claude()
    assert text(await conversation.turn("/weave wool red")) == "woven wool red"
    assert text(await conversation.turn("/area:mine")) == "mine"
    answer = only(
        await conversation.turn("/context"), agent_events.TextFinal
    )  # which is not streamed
    assert "Context Usage" in answer.text
    assert "Wind the yarn." in text(await conversation.turn("/wind"))


async def test_claude_code_treats_an_unknown_command_as_text(
    open_claude: Open, provider: ProviderStub
) -> None:
    conversation = await open_claude()
    only(await conversation.turn("/etc/hosts is what?"), agent_events.TurnFinished)
    assert "/etc/hosts is what?" in json.dumps(provider.requests[-1]["messages"])


# Codex -------------------------------------------------------------------------------------------


@pytest.fixture
def project_with_skills(worktree: Path, codex_environment: dict[str, str]) -> Path:
    """A project with skills in both folders for them, and a user with a skill and a prompt."""
    write_file(worktree / ".codex/skills/wind/SKILL.md", SKILL.format("wind", "Wind yarn"))
    write_file(worktree / ".agents/skills/spin/SKILL.md", SKILL.format("spin", "Spin yarn"))
    home = Path(codex_environment["CODEX_HOME"])
    write_file(home / "skills/mine/SKILL.md", SKILL.format("mine", "My own"))
    write_file(home / "prompts/weave.md", "say: woven\n")
    return worktree


async def test_codex_lists_its_skills_and_no_prompts(
    open_codex: Open, project_with_skills: Path
) -> None:
    commands = await wait_for_commands(await open_codex())
    assert commands["wind"] == AgentCommand(name="wind", description="Wind yarn")
    assert {"compact", "spin", "mine"} <= set(commands)
    assert "weave" not in commands


async def test_codexs_skills_are_found_without_running_it(
    open_codex: Open, project_with_skills: Path, codex_environment: dict[str, str]
) -> None:
    seen = by_name(await CodexBackend().list_commands(project_with_skills, codex_environment))
    assert set(seen) == {"compact", "review", "init", "status", "wind", "spin", "mine"}
    assert seen.items() <= (await wait_for_commands(await open_codex())).items()


async def test_codex_reads_the_skill_that_a_message_begins_with(
    open_codex: Open, project_with_skills: Path, responses: ResponsesStub
) -> None:
    conversation = await open_codex()
    assert text(await conversation.turn("/wind it tight")) == "You said: $wind it tight"
    given = json.dumps(responses.requests[-1]["input"][-1])
    assert "<name>wind</name>" in given
    assert "Wind the yarn." in given


async def test_codex_treats_an_unknown_command_as_text(open_codex: Open) -> None:
    conversation = await open_codex()
    events = await conversation.turn("/etc/hosts is what?")
    assert text(events) == "You said: /etc/hosts is what?"


async def test_codex_reviews_in_the_mode_of_the_session_and_can_be_stopped(
    open_codex: Open, worktree: Path, responses: ResponsesStub
) -> None:
    conversation = await open_codex(mode="yolo")
    await conversation.turn("say: one")
    review = only(await conversation.turn("/review"), agent_events.TextFinal)
    assert "current code changes" in review.text
    await conversation.agent.configure(base.Settings("plan", "gpt-5.5"))
    await conversation.turn("/review write a.txt: hi")
    assert not (worktree / "a.txt").exists()
    await conversation.agent.send(base.Prompt("/review slow"))
    await conversation.until(agent_events.Notice)
    async with asyncio.timeout(PATIENCE):  # the whole review takes a minute
        _, events = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(events, agent_events.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("say: still here")) == "still here"


async def test_commands_of_codexs_screen_are_not_sent_to_the_model(
    open_codex: Open, project_with_skills: Path, responses: ResponsesStub
) -> None:
    conversation = await open_codex()
    for words, answer in (
        ("/status", "Mode: build"),
        ("/diff", "Spinney has its own command for that"),
        ("/weave wool", "Make a skill of"),
    ):
        assert answer in only(await conversation.turn(words), agent_events.TextFinal).text
    assert responses.requests == []
    await conversation.turn("/init")
    assert "AGENTS.md" in json.dumps(responses.requests[-1]["input"][-1])
