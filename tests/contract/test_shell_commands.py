"""Shell commands of the user in a worktree."""

from tests.contract.conftest import expect_error
from tests.contract.project_client import ProjectClient


async def test_a_command_runs_in_the_worktree_and_returns_its_end(client: ProjectClient) -> None:
    made = await client.create()
    run = await client.call(
        "run_command", worktreeId=made["id"], command="pwd; echo $SPINNEY_BRANCH $JEAN_PORT; exit 3"
    )
    assert run["output"] == f"{made['path']}\n{made['branch']} {made['port']}\n"
    assert (run["status"], run["exit_code"]) == ("failed", 3)
    assert await client.call("get_command_output", worktreeId=made["id"]) == run


async def test_without_a_command_there_is_nothing_to_run_or_read(client: ProjectClient) -> None:
    made = await client.create()
    error = await expect_error(client.call, "get_command_output", worktreeId=made["id"])
    assert error == "No command has run here."
    error = await expect_error(client.call, "run_command", worktreeId=made["id"], command=" ")
    assert error == "There is no command to run."
