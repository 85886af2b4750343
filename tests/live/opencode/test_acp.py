"""The real `opencode acp` as an agent of `agents.toml`, answered by a scripted provider on
loopback.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from model.agents.agents_file import AgentRow, load_catalog
from model.backends import agent_events, base
from model.backends.acp.backend import AcpBackend
from tests.live.completions_stub import MODEL, PROVIDER, CompletionsStub, configuration
from tests.live.isolation import isolate_opencode
from tests.model.backends.agents import (
    Conversation,
    Open,
    get_resume_token,
    make_launch,
    only,
    text,
)

pytestmark = pytest.mark.asyncio(loop_scope="package")


@pytest.fixture(scope="module")
def row(
    program: Path, provider: CompletionsStub, tmp_path_factory: pytest.TempPathFactory
) -> AgentRow:
    """OpenCode in `agents.toml`, without an account and with the stub as its only provider."""
    place = tmp_path_factory.mktemp("acp")
    asking = {**configuration(provider.base_url), "permission": {"edit": "ask", "bash": "ask"}}
    lines = [
        f"{key} = {json.dumps(value)}" for key, value in isolate_opencode(place, asking).items()
    ]
    file = place / "agents.toml"
    file.write_text(
        '[oc]\nlabel = "OpenCode over ACP"\ncommand = "opencode"\nargs = ["acp"]\n'
        + "\n".join(["[oc.env]", *lines])
    )
    catalog, problems = load_catalog(place / "models.toml", file)
    assert problems == []
    found = catalog.backend("acp:oc")
    assert isinstance(found, AgentRow)
    return found


@pytest_asyncio.fixture(loop_scope="package")
async def open_acp(row: AgentRow, worktree: Path) -> AsyncIterator[Open]:
    opened: list[base.Agent] = []

    async def open_acp(**launch: Any) -> Conversation:
        agent = await AcpBackend(row).open(make_launch(worktree, **launch))
        opened.append(agent)
        return Conversation(agent)

    yield open_acp
    await asyncio.gather(*(agent.close() for agent in opened))


@dataclass(frozen=True)
class Shared:
    """A conversation in build mode that several tests share, since starting its program takes
    seconds. Each test uses its own file names."""

    conversation: Conversation
    worktree: Path


@pytest_asyncio.fixture(scope="module", loop_scope="package")
async def shared(row: AgentRow, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shared]:
    worktree = tmp_path_factory.mktemp("worktree")
    agent = await AcpBackend(row).open(make_launch(worktree))
    yield Shared(Conversation(agent), worktree)
    await agent.close()


def last_asked(provider: CompletionsStub) -> dict[str, Any]:
    """The agent's last request, not the concurrent one for a title, which has no tools."""
    return [request for request in provider.requests if request.get("tools")][-1]


async def test_text_and_thinking_stream(shared: Shared) -> None:
    events = await shared.conversation.turn("think: about looms and threads")
    assert text(events, "thinking") == "about looms and threads"
    assert text(events) == "I thought about it."
    finished = only(events, agent_events.TurnFinished)
    assert finished.stop_reason == "end_turn"
    assert finished.usage.output_tokens > 0
    assert finished.context_window


async def test_a_write_happens_on_disk_and_is_reported_as_an_edit(shared: Shared) -> None:
    events = await shared.conversation.turn("write a.txt: hi")
    assert (shared.worktree / "a.txt").read_text() == "hi"
    assert not any(isinstance(event, agent_events.PermissionRequested) for event in events)
    *_, edit = (event for event in events if isinstance(event, agent_events.ToolUse))
    assert edit.name == "edit"
    assert edit.input == {"file_path": "a.txt", "old_content": "", "new_content": "hi"}
    assert text(events).endswith("done")


async def test_an_edit_reports_what_it_replaces(shared: Shared) -> None:
    (shared.worktree / "edited.txt").write_text("one two three\n")
    events = await shared.conversation.turn("edit edited.txt: two => 2")
    assert (shared.worktree / "edited.txt").read_text() == "one 2 three\n"
    *_, edit = (event for event in events if isinstance(event, agent_events.ToolUse))
    assert edit.name == "edit"
    assert ("two" in edit.input["old_content"], "2" in edit.input["new_content"]) == (True, True)


async def test_a_command_is_asked_for_and_runs_once_allowed(shared: Shared) -> None:
    conversation = shared.conversation
    await conversation.agent.send(base.Prompt("bash: echo looms"))
    asked = await conversation.until(agent_events.PermissionRequested)
    assert asked.tool_name == "bash"
    assert "echo looms" in str(asked.input)
    await conversation.agent.permit(asked.request_id, "allow")
    results = [e for e in await conversation.rest() if isinstance(e, agent_events.ToolResult)]
    assert "looms" in results[-1].content


async def test_a_denied_command_does_not_run_and_the_reason_reaches_the_model(
    shared: Shared, provider: CompletionsStub
) -> None:
    conversation = shared.conversation
    await conversation.agent.send(base.Prompt("bash: touch denied.txt"))
    asked = await conversation.until(agent_events.PermissionRequested)
    await conversation.agent.permit(asked.request_id, "deny", "No files today.")
    events = await conversation.rest()
    assert not (shared.worktree / "denied.txt").exists()
    assert "No files today." in json.dumps(last_asked(provider))
    assert only(events, agent_events.TurnFinished).stop_reason == "end_turn"


async def test_plan_mode_uses_the_agents_own_and_changes_nothing(
    open_acp: Open, worktree: Path, provider: CompletionsStub
) -> None:
    conversation = await open_acp(mode="plan")
    await conversation.turn("write a.txt: hi")
    assert list(worktree.iterdir()) == []
    await conversation.agent.configure(base.Settings("yolo"))
    events = await conversation.turn("bash: touch b.txt")
    assert not any(isinstance(event, agent_events.PermissionRequested) for event in events)
    assert (worktree / "b.txt").exists()


async def test_the_agents_own_commands_are_listed_and_run(open_acp: Open, worktree: Path) -> None:
    (worktree / ".opencode/command").mkdir(parents=True)
    weave = "---\ndescription: Weave a cloth\n---\nsay: woven $ARGUMENTS\n"
    (worktree / ".opencode/command/weave.md").write_text(weave)
    conversation = await open_acp(system_prompt="You weave.", mode="plan")
    listed = await conversation.until(agent_events.CommandsListed)
    commands = {each.name: each for each in listed.commands}
    assert commands["weave"].description == "Weave a cloth"
    assert text(await conversation.turn("/weave a long scarf")) == "woven a long scarf"


async def test_the_chosen_model_is_used(open_acp: Open, provider: CompletionsStub) -> None:
    conversation = await open_acp(model=f"{PROVIDER}/stub-2")
    await conversation.turn("say: hi")
    assert last_asked(provider)["model"] == "stub-2"
    await conversation.agent.configure(base.Settings("build", model=f"{PROVIDER}/{MODEL}"))
    await conversation.turn("say: hi")
    assert last_asked(provider)["model"] == MODEL


async def test_a_conversation_is_resumed_without_replaying_its_history(open_acp: Open) -> None:
    conversation = await open_acp(system_prompt="Speak of looms.")
    await conversation.turn("say: first")
    await conversation.agent.close()
    again = await open_acp(resume_token=get_resume_token(conversation))
    events = await again.turn("remember?")
    assert "say: first" in text(events)
    assert get_resume_token(again) == get_resume_token(conversation)
    assert not any(isinstance(event, agent_events.Notice) for event in again.events)


async def test_an_unknown_conversation_starts_a_new_one(open_acp: Open) -> None:
    conversation = await open_acp(resume_token="ses_gone")
    assert text(await conversation.turn("say: hi")) == "hi"
    assert "no longer knows the conversation" in only(conversation.events, agent_events.Notice).text


async def test_a_stop_ends_the_turn_and_the_agent_stays_usable(shared: Shared) -> None:
    conversation = shared.conversation
    await conversation.agent.send(base.Prompt("slow"))
    await conversation.until(agent_events.TextDelta)
    await conversation.agent.stop()
    assert only(await conversation.rest(), agent_events.TurnFinished).stop_reason == "stopped"
    assert text(await conversation.turn("say: again")) == "again"


async def test_an_error_of_the_provider_fails_the_turn(shared: Shared) -> None:
    conversation = shared.conversation
    failed = only(await conversation.turn("error 401"), agent_events.TurnFailed)
    assert failed.error
    assert text(await conversation.turn("say: again")) == "again"


async def test_initialization_reports_the_version(shared: Shared) -> None:
    assert (shared.conversation.agent.capabilities.version or "").count(".") == 2
