"""Sections 2.2 and 4.5 of the interface: what git and the hosting service do in a worktree."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.contract.conftest import expect_error, receive_payload
from tests.contract.project_client import ProjectClient
from tests.model.backends.agents import is_running
from tests.model.git.repository import Repository
from tests.model.hosting.conftest import FakeGh
from tests.patience import PATIENCE


async def test_commit_changes_commits_what_has_uncommitted_changes_finds(
    client: ProjectClient,
) -> None:
    made = await client.create()

    async def uncommitted() -> bool:
        return bool(await client.call("has_uncommitted_changes", worktreeId=made["id"]))

    assert await uncommitted() is False
    error = await expect_error(client.call, "commit_changes", worktreeId=made["id"], message="None")
    assert error == "No uncommitted changes to commit"
    client.write(made, "staged.txt")
    client.git(made, "add", "staged.txt")
    client.write(made, "loose.txt")
    assert await uncommitted() is True
    done = await client.call("commit_changes", worktreeId=made["id"], message="Staged")
    assert done == {"success": True, "commit_sha": client.git(made, "rev-parse", "HEAD")}
    assert client.git(made, "show", "--format=%s", "--name-only") == "Staged\n\nstaged.txt"
    await client.call("commit_changes", worktreeId=made["id"], message="All", stageAll=True)
    assert await uncommitted() is False


@pytest.mark.parametrize("kind", ["working", "staged", "branch"])
async def test_get_git_diff_is_a_unified_diff(client: ProjectClient, kind: str) -> None:
    made = await client.create()
    client.write(made, "read.me", f"{kind}\n")
    if kind != "working":
        client.git(made, "add", ".")
    if kind == "branch":
        client.git(made, "commit", "-m", "Change")
    args = {"baseBranch": "main"} if kind == "branch" else {}
    diff = await client.call("get_git_diff", worktreePath=made["path"], diffType=kind, **args)
    assert diff.startswith("diff --git a/read.me b/read.me\n")
    assert f"\n+{kind}\n" in diff


async def test_get_git_diff_reads_only_known_worktrees(
    client: ProjectClient, tmp_path: Path
) -> None:
    args = {"worktreePath": str(tmp_path), "diffType": "working"}
    assert (
        await expect_error(client.call, "get_git_diff", **args) == f"Worktree not found: {tmp_path}"
    )
    args = {"worktreePath": str(client.repository.root), "diffType": "all"}
    error = await expect_error(client.call, "get_git_diff", **args)
    assert error.startswith("Invalid field 'diffType': ")


async def test_git_push_with_a_number_goes_to_the_head_of_that_pull_request(
    client: ProjectClient, fake_gh: FakeGh
) -> None:
    fake_gh.set_pull_request(
        state="OPEN", headRefName="mend", isCrossRepository=False,
        headRepository={"name": "loom"}, headRepositoryOwner={"login": "ada"},
    )  # fmt: skip
    made = await client.create()
    client.write(made)
    done = await client.call("commit_changes", worktreeId=made["id"], message="Mend", stageAll=True)
    pushed = await client.call("git_push", worktreePath=made["path"], prNumber=7)
    assert pushed["success"] is True, pushed["output"]
    there = client.repository.git("ls-remote", "origin", "refs/heads/mend").split()[0]
    assert there == done["commit_sha"]
    assert client.repository.git("ls-remote", "origin", made["branch"]) == ""


async def test_git_push_goes_to_the_given_remote(client: ProjectClient, tmp_path: Path) -> None:
    client.repository.git("clone", "--quiet", "--bare", ".", str(tmp_path / "backup.git"))
    client.repository.git("remote", "add", "backup", str(tmp_path / "backup.git"))
    made = await client.create()
    pushed = await client.call("git_push", worktreePath=made["path"], remote="backup")
    assert pushed["success"] is True, pushed["output"]
    assert client.repository.git("ls-remote", "backup", made["branch"]) != ""
    assert client.repository.git("ls-remote", "origin", made["branch"]) == ""


@pytest.mark.parametrize(
    ("cached_pr_status", "shown"),
    [
        ("draft", {"state": "OPEN", "isDraft": True}),
        ("open", {"state": "OPEN"}),
        ("review", {"state": "OPEN", "reviewDecision": "APPROVED"}),
        ("merged", {"state": "MERGED"}),
        ("closed", {"state": "CLOSED"}),
    ],
)
async def test_cached_pr_status(
    client: ProjectClient, fake_gh: FakeGh, cached_pr_status: str, shown: dict[str, Any]
) -> None:
    fake_gh.set_pull_request(**shown)
    assert (await create_with_pull_request(client))["cached_pr_status"] == cached_pr_status


@pytest.mark.parametrize(
    ("cached_check_status", "check"),
    [
        ("success", {"state": "SUCCESS"}),
        ("failure", {"state": "FAILURE"}),
        ("pending", {"state": "PENDING"}),
        ("error", {"state": "ERROR"}),
    ],
)
async def test_cached_check_status(
    client: ProjectClient, fake_gh: FakeGh, cached_check_status: str, check: dict[str, Any]
) -> None:
    fake_gh.set_pull_request(state="OPEN", statusCheckRollup=[check])
    assert (await create_with_pull_request(client))["cached_check_status"] == cached_check_status


async def test_fetch_worktrees_status_updates_pull_requests_too(
    client: ProjectClient, fake_gh: FakeGh
) -> None:
    fake_gh.set_pull_request(state="OPEN")
    assert (await create_with_pull_request(client))["cached_pr_status"] == "open"
    fake_gh.set_pull_request(state="CLOSED")
    await client.call("fetch_worktrees_status", projectId=client.project_id)
    while (await receive_payload(client.listener, "worktree:status_updated"))[
        "cached_pr_status"
    ] != ("closed"):
        pass  # An event with the earlier status comes first.


async def create_with_pull_request(client: ProjectClient) -> Any:
    """Create a worktree with a pull request, and wait until its status is known."""
    made = await client.create()
    url = "https://github.com/ada/loom/pull/7"
    await client.call("save_worktree_pr", worktreeId=made["id"], prNumber=7, prUrl=url)
    payload = await receive_payload(client.listener, "worktree:status_updated")
    assert payload["worktree_id"] == made["id"]
    found = await client.call("get_worktree", worktreeId=made["id"])
    assert {key: found[key] for key in payload if key != "worktree_id"} == {
        key: value for key, value in payload.items() if key != "worktree_id"
    }
    return found


async def test_git_push_and_git_pull_return_the_output_of_git(client: ProjectClient) -> None:
    made = await client.create()
    client.write(made)
    await client.call("commit_changes", worktreeId=made["id"], message="Change", stageAll=True)
    pushed = await client.call("git_push", worktreePath=made["path"])
    assert (set(pushed), pushed["success"]) == ({"success", "output"}, True)
    there = client.repository.git("ls-remote", "origin", made["branch"]).split()[0]
    assert there == client.git(made, "rev-parse", "HEAD")
    root = str(client.repository.root)
    pulled = await client.call("git_pull", worktreePath=root, baseBranch=made["branch"])
    assert (set(pulled), pulled["success"]) == ({"success", "output"}, True)
    assert client.repository.git("rev-parse", "HEAD") == there
    failed = await client.call("git_pull", worktreePath=root, baseBranch="nowhere")
    assert failed["success"] is False
    assert "nowhere" in failed["output"]


async def test_save_worktree_pr_and_clear_worktree_pr(
    client: ProjectClient, fake_gh: FakeGh
) -> None:
    made = await client.create()
    url = "https://github.com/ada/loom/pull/7"
    saved = {"worktreeId": made["id"], "prNumber": 7, "prUrl": url}
    assert await client.call("save_worktree_pr", **saved) is None
    found = await client.call("get_worktree", worktreeId=made["id"])
    assert (found["pr_number"], found["pr_url"]) == (7, url)
    assert await client.call("clear_worktree_pr", worktreeId=made["id"]) is None
    found = await client.call("get_worktree", worktreeId=made["id"])
    assert (found["pr_number"], found["pr_url"], found["cached_pr_status"]) == (None, None, None)


async def test_open_pull_request_returns_number_and_address(
    client: ProjectClient, fake_gh: FakeGh
) -> None:
    url = "https://github.com/ada/loom/pull/7"
    fake_gh.set_result("pr create", f"{url}\n")
    made = await client.create(customName="calm-heron")
    client.write(made)
    await client.call("commit_changes", worktreeId=made["id"], message="Mend", stageAll=True)
    opened = await client.call("open_pull_request", worktreeId=made["id"], draft=True)
    assert opened == {"pr_number": 7, "pr_url": url}
    created = next(call["args"] for call in fake_gh.calls if "create" in str(call["args"]))
    assert isinstance(created, list)
    assert "--draft" in created
    assert "--title=Mend" in created, "generated from the commits by default"
    assert client.repository.git("ls-remote", "origin", "calm-heron") != "", "pushed first"
    found = await client.call("get_worktree", worktreeId=made["id"])
    assert (found["pr_number"], found["pr_url"]) == (7, url)


async def test_open_pull_request_accepts_title_and_body(
    client: ProjectClient, fake_gh: FakeGh
) -> None:
    fake_gh.set_result("pr create", "https://github.com/ada/loom/pull/8\n")
    made = await client.create()
    client.write(made)
    await client.call("commit_changes", worktreeId=made["id"], message="Mend", stageAll=True)
    given = {"title": "My title", "body": "My body"}
    await client.call("open_pull_request", worktreeId=made["id"], **given)
    asked = next(call for call in fake_gh.calls if "create" in str(call["args"]))
    assert "--title=My title" in str(asked["args"])
    assert "--draft" not in str(asked["args"])
    assert asked["input"] == "My body"


class SlowHook:
    """A git hook that takes five minutes."""

    def __init__(self, repository: Repository, name: str) -> None:
        self._file = repository.root / ".git" / "hooks" / name
        self._pid = repository.root / ".git" / "slow-hook"
        self._file.parent.mkdir(exist_ok=True)
        self._file.write_text(
            f"#!/bin/sh\necho $$ > '{self._pid}.new'\n"
            f"mv '{self._pid}.new' '{self._pid}'\nexec sleep 300\n"
        )
        self._file.chmod(0o755)

    async def wait_started(self) -> None:
        async with asyncio.timeout(PATIENCE):
            while not self._pid.exists():
                await asyncio.sleep(0.01)

    async def wait_ended(self) -> None:
        """Remove the hook, and wait until its process has ended."""
        self._file.unlink()
        async with asyncio.timeout(PATIENCE):
            while is_running(int(self._pid.read_text())):
                await asyncio.sleep(0.01)


async def test_cancel_git_stops_a_commit_and_its_slow_hook(client: ProjectClient) -> None:
    made = await client.create()
    hook = SlowHook(client.repository, "pre-commit")
    client.write(made)
    all_of_it = {"worktreeId": made["id"], "stageAll": True}
    commit = asyncio.create_task(
        expect_error(client.call, "commit_changes", message="slow", **all_of_it)
    )
    await hook.wait_started()
    await client.listener.call("cancel_git", worktreeId=made["id"])
    assert await commit == "The commit was canceled."
    await hook.wait_ended()
    assert (await client.call("commit_changes", message="quick", **all_of_it))["success"]
    assert await client.call("cancel_git", worktreeId=made["id"]) is None  # Nothing runs.


async def test_cancel_git_stops_a_creation_and_removes_its_files(client: ProjectClient) -> None:
    hook = SlowHook(client.repository, "post-checkout")
    made = await client.call("create_worktree", projectId=client.project_id, customName="slow")
    await hook.wait_started()
    await client.call("cancel_git", worktreeId=made["id"])
    payload = (await client.listener.event("worktree:create_error"))["payload"]
    assert (payload["id"], payload["error"]) == (made["id"], "The creation was canceled.")
    await hook.wait_ended()
    assert not Path(made["path"]).exists()
    assert await client.list_names() == []
    await client.create(customName="slow")
