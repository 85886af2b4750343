"""The real programs' own commands: which they say that they take, and that they carry them out."""

import asyncio
import json
from pathlib import Path

import pytest

from model.backends import base
from model.backends.claude.backend import ClaudeBackend
from model.backends.codex.backend import CodexBackend
from model.domain.resources import AgentCommand
from tests.live.provider_stub import ProviderStub
from tests.live.responses_stub import ResponsesStub
from tests.model.backends.agents import Open, by_name, known, only, text
from tests.patience import PATIENCE

SKILL = "---\nname: {0}\ndescription: {1}\n---\nWind the yarn.\n"


def written(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(content)


# Claude Code -------------------------------------------------------------------------------------


@pytest.fixture
def woven(folder: Path, claude_environment: dict[str, str]) -> Path:
    """A project with a command of its own and a skill, and a person with a command."""
    head = "---\ndescription: Weave a cloth\nargument-hint: [yarn] [colour]\n---\n"
    written(folder / ".claude/commands/weave.md", f"{head}say: woven $ARGUMENTS\n")
    written(folder / ".claude/skills/wind/SKILL.md", SKILL.format("wind", "Wind yarn"))
    home = Path(claude_environment["CLAUDE_CONFIG_DIR"])
    written(home / "commands/area/mine.md", "say: mine\n")
    return folder


async def test_claude_code_tells_its_commands_before_the_first_turn(
    open_claude: Open, woven: Path
) -> None:
    told = await known(await open_claude())
    assert told["weave"].description.startswith("Weave a cloth")
    assert told["weave"].argument_hint == "[yarn] [colour]"
    assert {"area:mine", "wind", "compact", "context", "init"} <= set(told)
    assert told["compact"].description


async def test_claude_codes_commands_in_files_are_seen_before_it_runs(
    woven: Path, claude_environment: dict[str, str], open_claude: Open
) -> None:
    seen = by_name(await ClaudeBackend().list_commands(woven, claude_environment))
    assert seen["weave"].argument_hint == "[yarn] [colour]"
    assert set(seen) == {"weave", "wind", "area:mine"}
    assert set(seen) <= set(await known(await open_claude()))


async def test_claude_code_carries_its_commands_out(open_claude: Open, woven: Path) -> None:
    conversation = await open_claude()
    assert text(await conversation.turn("/weave wool red")) == "woven wool red"
    assert text(await conversation.turn("/area:mine")) == "mine"
    answer = only(await conversation.turn("/context"), base.TextFinal)  # which never streams
    assert "Context Usage" in answer.text
    assert "Wind the yarn." in text(await conversation.turn("/wind"))


async def test_claude_code_takes_a_command_that_it_does_not_know_for_text(
    open_claude: Open, provider: ProviderStub
) -> None:
    conversation = await open_claude()
    only(await conversation.turn("/etc/hosts is what?"), base.TurnFinished)
    assert "/etc/hosts is what?" in json.dumps(provider.requests[-1]["messages"])


# Codex -------------------------------------------------------------------------------------------


@pytest.fixture
def skilled(worktree: Path, codex_environment: dict[str, str]) -> Path:
    """A project with skills in both of their folders, and a person with one and a prompt."""
    written(worktree / ".codex/skills/wind/SKILL.md", SKILL.format("wind", "Wind yarn"))
    written(worktree / ".agents/skills/spin/SKILL.md", SKILL.format("spin", "Spin yarn"))
    home = Path(codex_environment["CODEX_HOME"])
    written(home / "skills/mine/SKILL.md", SKILL.format("mine", "My own"))
    written(home / "prompts/weave.md", "say: woven\n")
    return worktree


async def test_codex_tells_its_skills_and_knows_no_folder_of_prompts(
    open_codex: Open, skilled: Path
) -> None:
    told = await known(await open_codex())
    assert told["wind"] == AgentCommand(name="wind", description="Wind yarn")
    assert {"compact", "spin", "mine"} <= set(told)
    assert "weave" not in told


async def test_codexs_skills_are_seen_before_it_runs(
    open_codex: Open, skilled: Path, codex_environment: dict[str, str]
) -> None:
    seen = by_name(await CodexBackend().list_commands(skilled, codex_environment))
    assert set(seen) == {"compact", "review", "init", "status", "wind", "spin", "mine"}
    assert seen.items() <= (await known(await open_codex())).items()


async def test_codex_reads_the_skill_that_a_message_begins_with(
    open_codex: Open, skilled: Path, responses: ResponsesStub
) -> None:
    conversation = await open_codex()
    assert text(await conversation.turn("/wind it tight")) == "You said: $wind it tight"
    given = json.dumps(responses.requests[-1]["input"][-1])
    assert "<name>wind</name>" in given
    assert "Wind the yarn." in given


async def test_codex_takes_a_command_that_it_does_not_know_for_text(open_codex: Open) -> None:
    conversation = await open_codex()
    told = await conversation.turn("/etc/hosts is what?")
    assert text(told) == "You said: /etc/hosts is what?"


async def test_codex_reviews_in_the_mode_of_the_session_and_can_be_stopped(
    open_codex: Open, worktree: Path, responses: ResponsesStub
) -> None:
    conversation = await open_codex(mode="yolo")
    await conversation.turn("say: one")
    review = only(await conversation.turn("/review"), base.TextFinal)
    assert "current code changes" in review.text
    await conversation.agent.configure(base.Settings("plan", "gpt-5.5"))
    await conversation.turn("/review write a.txt: hi")
    assert not (worktree / "a.txt").exists()
    await conversation.agent.send(base.Prompt("/review slow"))
    await conversation.until(base.Notice)
    async with asyncio.timeout(PATIENCE):  # the whole review takes a minute
        _, told = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(told, base.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("say: still here")) == "still here"


async def test_no_word_of_codexs_screen_goes_to_the_model(
    open_codex: Open, skilled: Path, responses: ResponsesStub
) -> None:
    conversation = await open_codex()
    for words, answer in (
        ("/status", "Mode: build"),
        ("/diff", "Spinney has its own command for that"),
        ("/weave wool", "Make a skill of"),
    ):
        assert answer in only(await conversation.turn(words), base.TextFinal).text
    assert responses.requests == []
    await conversation.turn("/init")
    assert "AGENTS.md" in json.dumps(responses.requests[-1]["input"][-1])
