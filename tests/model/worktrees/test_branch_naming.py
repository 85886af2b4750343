"""An agent names branches that have a random name, until they are committed to or pushed."""

import asyncio
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from model.backends import agent_events, base
from model.commands.preferences import update_preferences
from model.commands.sessions import create_session, send_chat_message
from model.domain.sessions import Session
from model.domain.worktrees import IssueContext, Worktree
from model.git.random_names import is_random_name, random_name
from model.runtime.workspace import Workspace
from model.writing.prompts import BRANCH_NAMING
from tests.conftest import Eventually
from tests.fakes import DONE, FakeAgent, FakeBackend, echo
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import Maker

MESSAGE = "Let the otter swim"


def is_branch_prompt(prompt: base.Prompt) -> bool:
    return prompt.text.startswith(BRANCH_NAMING)


def answer_with_branch(name: str) -> Any:
    def script(prompt: base.Prompt) -> Iterable[agent_events.AgentEvent]:
        if is_branch_prompt(prompt):
            return [agent_events.TextDelta("answer", f"<branch>{name}</branch>"), DONE]
        return echo(prompt)

    return script


async def start_session(
    workspace: Workspace, worktree: Worktree, message: str = MESSAGE
) -> Session:
    session = await create_session(workspace, worktree.id)
    await send_chat_message(workspace, session.id, message)
    return session


def branch_of(workspace: Workspace, worktree: Worktree) -> str:
    return workspace.store.state.worktrees[worktree.id].branch


async def wait_for_naming_agent(
    backend: FakeBackend, session: Session, eventually: Eventually
) -> FakeAgent:
    """Wait for the agent that is asked for a name."""

    def asked() -> list[FakeAgent]:
        return [agent for key, agent in backend.agents.items() if key != session.id]

    await eventually(lambda: bool(asked()))
    return asked()[0]


async def test_the_first_message_names_branch_and_worktree_and_the_folder_stays(
    make: Maker,
    workspace: Workspace,
    repository: Repository,
    backend: FakeBackend,
    eventually: Eventually,
) -> None:
    made = await make()
    backend.script = answer_with_branch("Otter Swimming!")
    session = await start_session(workspace, made)
    await eventually(lambda: branch_of(workspace, made) == "otter-swimming")
    now = workspace.store.state.worktrees[made.id]
    assert (now.name, now.path) == ("otter-swimming", made.path)
    assert repository.git("branch", "--show-current", cwd=Path(made.path)) == "otter-swimming"
    asked = await wait_for_naming_agent(backend, session, eventually)
    assert f"<message>\n{MESSAGE}\n</message>" in str(asked.calls[0][1])
    assert (asked.launch.settings.model, asked.launch.text_only) == ("haiku", True)


async def test_a_given_name_is_kept_even_if_it_looks_random(
    make: Maker, workspace: Workspace, backend: FakeBackend, eventually: Eventually
) -> None:
    name = random_name(())
    made = await make(name)
    backend.script = answer_with_branch("Otter Swimming!")
    session = await start_session(workspace, made)
    await eventually(lambda: not workspace.store.state.sessions[session.id].is_active)
    assert branch_of(workspace, made) == name
    assert [key for key in backend.agents if key != session.id] == [], "no agent was asked"


async def test_a_taken_name_gets_a_number(
    make: Maker,
    workspace: Workspace,
    repository: Repository,
    backend: FakeBackend,
    eventually: Eventually,
) -> None:
    made = await make()
    repository.git("branch", "swim")
    backend.script = answer_with_branch("swim")
    await start_session(workspace, made)
    await eventually(lambda: branch_of(workspace, made) == "swim-2")


async def test_the_model_is_a_setting(
    make: Maker, workspace: Workspace, backend: FakeBackend, eventually: Eventually
) -> None:
    await update_preferences(workspace, {"branch_naming_model": "model_3"})
    backend.script = answer_with_branch("swim")
    session = await start_session(workspace, await make())
    assert (
        await wait_for_naming_agent(backend, session, eventually)
    ).launch.settings.model == "sonnet"


async def test_given_names_and_uninformative_messages_cause_no_naming(
    make: Maker, workspace: Workspace
) -> None:
    naming = workspace.branch_naming
    ours, named = await make(), await make("mine")
    issue = await make(issue_context=IssueContext(number=7, title="Swim"))
    session = await create_session(workspace, ours.id)
    assert naming.should_name(session, MESSAGE)
    for message in ("hi", "go on", "/review the last commit"):
        assert not naming.should_name(session, message)
    later = session.model_copy(update={"message_count": 2})
    assert not naming.should_name(later, MESSAGE)
    for other in (named, issue):
        assert not naming.should_name(await create_session(workspace, other.id), MESSAGE)
    await update_preferences(workspace, {"auto_branch_naming": False})
    assert not naming.should_name(session, MESSAGE)


@pytest.mark.parametrize("used", ["commit", "push"])
async def test_a_branch_with_a_commit_or_on_a_remote_keeps_its_name(
    make: Maker, workspace: Workspace, repository: Repository, backend: FakeBackend, used: str
) -> None:
    made = await make()
    if used == "commit":
        repository.commit("own", "work", cwd=Path(made.path))
    else:
        repository.git("update-ref", f"refs/remotes/fork/{made.branch}", "HEAD")
    await workspace.branch_naming.name(made.id, MESSAGE)
    assert branch_of(workspace, made) == made.branch
    assert not backend.agents, "no agent was asked"


async def test_a_branch_that_is_committed_to_while_the_agent_works_keeps_its_name(
    make: Maker,
    workspace: Workspace,
    repository: Repository,
    backend: FakeBackend,
) -> None:
    made = await make()
    is_asked = asyncio.Event()

    def think(prompt: base.Prompt) -> Iterable[agent_events.AgentEvent]:
        is_asked.set()
        return ()

    backend.script = think
    naming = asyncio.create_task(workspace.branch_naming.name(made.id, MESSAGE))
    await is_asked.wait()
    (asked,) = backend.agents.values()
    repository.commit("own", "work", cwd=Path(made.path))
    asked.say(agent_events.TextFinal("answer", "<branch>too-late</branch>"), DONE)
    await naming
    assert branch_of(workspace, made) == made.branch


async def test_a_failing_agent_is_logged_and_not_shown_in_the_chat(
    make: Maker,
    workspace: Workspace,
    backend: FakeBackend,
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = await make()
    failure = agent_events.TurnFailed("The provider is overloaded.", "backend_error")
    backend.script = lambda prompt: [failure]
    with caplog.at_level(logging.WARNING):
        await workspace.branch_naming.name(made.id, MESSAGE)
    assert "was not renamed: The provider is overloaded." in caplog.text
    assert branch_of(workspace, made) == made.branch


def test_random_names_are_recognized() -> None:
    taken = {random_name(()) for _ in range(50)}
    assert all(map(is_random_name, taken))
    assert is_random_name("quiet-otter-12")
    for name in ("main", "quiet", "quiet-house", "otter-quiet", "quiet-otter-x", "quiet-otter-"):
        assert not is_random_name(name)
