"""The commands of an agent that clients can list."""

from model.backends import agent_events
from model.commands.agent_commands import list_agent_commands
from model.commands.sessions import send_chat_message
from model.domain.agent_commands import AgentCommand
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.fakes import DONE, FakeBackend

WEAVE = AgentCommand(name="weave", description="Weave a cloth", argument_hint="[yarn]")
SPIN = AgentCommand(name="spin")


async def test_before_the_agent_runs_the_commands_in_files_are_listed(
    workspace: Workspace, worktree: Worktree, backend: FakeBackend
) -> None:
    backend.known_commands = (WEAVE,)
    assert await list_agent_commands(workspace, worktree.id) == [WEAVE]


async def test_commands_reported_by_the_agent_come_first(
    workspace: Workspace, session: Session, backend: FakeBackend, eventually: Eventually
) -> None:
    backend.script = lambda prompt: (agent_events.CommandsListed((SPIN,)), DONE)
    await send_chat_message(workspace, session.id, "hello")
    await eventually(lambda: workspace.store.state.sessions[session.id].status == "idle")
    backend.known_commands = (WEAVE, SPIN)
    given = await list_agent_commands(workspace, session.worktree_id, session.backend)
    assert given == [SPIN, WEAVE]


async def test_an_unknown_agent_has_no_commands(workspace: Workspace, worktree: Worktree) -> None:
    assert await list_agent_commands(workspace, worktree.id, "acp:gone") == []
