"""`list_worktree_files`: a worktree's files for clients on any machine."""

from tests.contract.conftest import expect_error
from tests.contract.project_client import ProjectClient


async def test_the_best_matching_paths_are_listed(client: ProjectClient) -> None:
    made = await client.create()
    client.write(made, "src/deep/parser.py")
    client.write(made, "notes.txt")
    answer = await client.call("list_worktree_files", worktreeId=made["id"], query="prs")
    assert answer == {"files": ["src/deep/parser.py"]}
    answer = await client.call("list_worktree_files", worktreeId=made["id"], limit=2)
    assert len(answer["files"]) == 2


async def test_an_unknown_worktree_and_an_invalid_limit_are_refused(client: ProjectClient) -> None:
    error = await expect_error(client.call, "list_worktree_files", worktreeId="nowhere")
    assert error == "Worktree not found: nowhere"
    made = await client.create()
    error = await expect_error(client.call, "list_worktree_files", worktreeId=made["id"], limit=0)
    assert error == "Invalid field 'limit': must be from 1 to 1000"
