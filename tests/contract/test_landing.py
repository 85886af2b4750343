"""Landing: checks, the desk, and what brings a worktree's branch into its base."""

import json
from typing import Any

from tests.contract.project_client import ProjectClient


async def _branch(client: ProjectClient, name: str, text: str = "changed\n") -> Any:
    """Return a worktree with a commit."""
    made = await client.create(customName=name)
    client.write(made, f"{name}.txt", text)
    client.git(made, "add", "--all")
    client.git(made, "commit", "--quiet", "--message", f"Add {name}")
    await client.call("fetch_worktrees_status", projectId=client.project_id)
    return made


async def test_the_desk_shows_the_result_of_the_check(client: ProjectClient) -> None:
    made = await _branch(client, "checked")
    client.write(made, "spinney.json", json.dumps({"scripts": {"check": "echo fine"}}))
    await client.call("trust_project_scripts", projectId=client.project_id)
    result = await client.call("get_check_result", worktreeId=made["id"])
    assert (result["status"], result["has_script"]) == ("none", True)
    await client.call("run_worktree_script", worktreeId=made["id"], script="check")
    while result["status"] in ("none", "running"):
        await client.listener.event("landing:updated")
        desk = await client.call("get_landing_desk", projectId=client.project_id)
        (result,) = [row["check"] for row in desk["rows"] if row["worktree_id"] == made["id"]] or [
            result
        ]
    assert (result["status"], result["is_stale"], result["exit_code"]) == ("passed", False, 0)
    output = await client.call("get_script_output", worktreeId=made["id"], script="check")
    assert (output["output"], output["tree"]) == ("fine\n", result["tree"])
