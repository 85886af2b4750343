"""`list_agent_commands`: the slash commands of an agent."""

from tests.contract.conftest import expect_error
from tests.contract.project_client import ProjectClient


async def test_commands_of_a_new_sessions_agent_are_listed(client: ProjectClient) -> None:
    made = await client.create()
    (command,) = await client.call("list_agent_commands", worktreeId=made["id"])
    assert command["name"] == "demo"
    assert set(command) == {"name", "description", "argument_hint"}


async def test_an_unknown_worktree_is_refused(client: ProjectClient) -> None:
    error = await expect_error(client.call, "list_agent_commands", worktreeId="nowhere")
    assert error == "Worktree not found: nowhere"
