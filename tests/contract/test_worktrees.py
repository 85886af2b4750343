"""Sections 2.2, 3, 4.5 and 7 of the interface: worktrees, and what git does in them."""

import re
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.contract.conftest import Call, refusal
from tests.model.git.made_repository import Repository
from tests.model.hosting.conftest import FakeGh
from tests.server.conftest import Socket

WORKTREE_FIELDS = {
    "id", "project_id", "name", "path", "branch", "created_at", "session_type", "order",
    "pr_number", "pr_url", "issue_number", "label", "archived_at", "last_opened_at",
    "cached_pr_status", "cached_check_status", "cached_behind_count", "cached_ahead_count",
    "cached_uncommitted_added", "cached_uncommitted_removed", "cached_branch_diff_added",
    "cached_branch_diff_removed", "cached_unpushed_count", "cached_status_at",
}  # fmt: skip


@dataclass
class Place:
    """A project with a bare `origin`, and ways to work in its worktrees."""

    call: Call
    listener: Socket
    project_id: str
    repository: Repository

    async def create(self, **args: Any) -> Any:
        """A worktree that is ready."""
        made = await self.call("create_worktree", projectId=self.project_id, **args)
        assert (await self.listener.event("worktree:created"))["payload"]["worktree"]["id"] == (
            made["id"]
        )
        return await self.call("get_worktree", worktreeId=made["id"])

    def write(self, worktree: Any, name: str = "read.me", text: str = "changed\n") -> None:
        self.repository.write(name, text, cwd=Path(worktree["path"]))

    def git(self, worktree: Any, *args: str) -> str:
        return self.repository.git(*args, cwd=Path(worktree["path"]))

    async def names(self, **args: Any) -> list[str]:
        found = await self.call("list_worktrees", projectId=self.project_id, **args)
        return [worktree["name"] for worktree in found]


@pytest.fixture
async def place(call: Call, listener: Socket, with_remote: Repository) -> Place:
    made = await call("add_project", path=str(with_remote.root))
    return Place(call, listener, made["id"], with_remote)


async def test_create_worktree_answers_at_once_and_goes_on_behind(place: Place) -> None:
    made = await place.call("create_worktree", projectId=place.project_id)
    creating = (await place.listener.event("worktree:creating"))["payload"]
    assert creating == {key: made[key] for key in ("id", "project_id", "name", "path", "branch")}
    created = (await place.listener.event("worktree:created"))["payload"]
    assert set(created) == {"worktree"}
    assert set(created["worktree"]) >= WORKTREE_FIELDS
    assert place.git(created["worktree"], "branch", "--show-current") == made["branch"]


async def test_create_worktree_has_a_random_name_of_two_words(
    place: Place, own_home: Path, tmp_path: Path
) -> None:
    made = await place.create()
    assert re.fullmatch("[a-z]+-[a-z]+", made["name"])
    assert made["branch"] == made["name"]
    assert str(uuid.UUID(made["id"], version=4)) == made["id"]
    assert made["project_id"] == place.project_id
    assert (made["session_type"], made["archived_at"], made["label"]) == ("worktree", None, None)
    assert made["path"] == str(tmp_path / "home" / "spinney" / "project" / made["name"])


async def test_create_worktree_takes_a_custom_name_and_a_base_branch(place: Place) -> None:
    place.repository.git("branch", "next")
    place.repository.commit("later.txt", "later\n")
    made = await place.create(customName="calm-heron", baseBranch="next")
    assert (made["name"], made["branch"]) == ("calm-heron", "calm-heron")
    assert place.git(made, "rev-parse", "HEAD") == place.repository.git("rev-parse", "next")


async def test_create_worktree_goes_where_the_project_says(place: Place, tmp_path: Path) -> None:
    trees = str(tmp_path / "trees")
    await place.call("update_project_settings", projectId=place.project_id, worktreesDir=trees)
    made = await place.create(customName="calm-heron")
    assert made["path"] == f"{trees}/calm-heron"


async def test_create_worktree_of_an_issue_is_named_after_it(place: Place) -> None:
    made = await place.create(issueContext={"number": 7, "title": "Fix the loom!", "body": "."})
    assert (made["issue_number"], made["branch"]) == (7, "7-fix-the-loom")


@pytest.mark.parametrize("key", ["number", "title", "headRefName", "baseRefName"])
async def test_create_worktree_needs_all_of_a_pull_request(place: Place, key: str) -> None:
    whole = {"number": 7, "title": "Mend", "headRefName": "mend", "baseRefName": "main"}
    del whole[key]
    told = await refusal(place.call, "create_worktree", projectId=place.project_id, prContext=whole)
    assert told.startswith("Invalid field 'prContext': ")


async def test_create_worktree_refuses_a_name_that_is_taken(place: Place, tmp_path: Path) -> None:
    async def told(name: str) -> str:
        return await refusal(
            place.call, "create_worktree", projectId=place.project_id, customName=name
        )

    await place.create(customName="taken")
    assert await told("taken") == "Worktree name already exists: taken"
    place.repository.git("branch", "elsewhere")
    assert await told("elsewhere") == "Branch already exists: elsewhere"
    lying = tmp_path / "home" / "spinney" / "project" / "lying"
    lying.mkdir(parents=True)
    (lying / "file").touch()
    assert await told("lying") == f"Worktree path already exists: {lying}"


async def test_a_creation_that_fails_is_told_and_leaves_nothing(
    place: Place, listener: Socket
) -> None:
    # Git needs to write here, and finds a file where its directory belongs.
    (place.repository.root / ".git" / "worktrees").write_text("")
    made = await place.call("create_worktree", projectId=place.project_id, customName="unlucky")
    failed = (await listener.event("worktree:create_error"))["payload"]
    assert set(failed) == {"id", "project_id", "error"}
    assert (failed["id"], failed["project_id"]) == (made["id"], place.project_id)
    assert failed["error"].startswith("Failed to create worktree: ")
    assert await place.names() == []


async def test_archive_and_unarchive_keep_the_files(place: Place) -> None:
    made = await place.create()
    assert await place.call("archive_worktree", worktreeId=made["id"]) is None
    assert await place.names() == []
    assert await place.names(includeArchived=True) == [made["name"]]
    archived = await place.call("get_worktree", worktreeId=made["id"])
    assert isinstance(archived["archived_at"], float)
    assert Path(made["path"], "read.me").exists()
    back = await place.call("unarchive_worktree", worktreeId=made["id"])
    assert back["archived_at"] is None
    assert await place.names() == [made["name"]]


async def test_delete_worktree_moves_it_to_the_archive(place: Place) -> None:
    made = await place.create()
    assert await place.call("delete_worktree", worktreeId=made["id"]) is None
    assert (await place.call("get_worktree", worktreeId=made["id"]))["archived_at"]
    assert Path(made["path"]).is_dir()


async def test_rename_worktree_renames_the_branch_too(place: Place) -> None:
    made = await place.create(customName="before")
    renamed = await place.call("rename_worktree", worktreeId=made["id"], newName="after")
    assert (renamed["name"], renamed["branch"]) == ("after", "after")
    assert place.git(renamed, "branch", "--show-current") == "after"
    await place.create(customName="other")
    told = await refusal(place.call, "rename_worktree", worktreeId=made["id"], newName="other")
    assert told == "Worktree name already exists: other"


async def test_update_worktree_label_sets_and_clears_it(place: Place) -> None:
    made = await place.create()
    label = {"name": "urgent", "color": "#ff0000"}
    for wanted in (label, None):
        result = await place.call("update_worktree_label", worktreeId=made["id"], label=wanted)
        assert result is None
        assert (await place.call("get_worktree", worktreeId=made["id"]))["label"] == wanted
    assert await refusal(place.call, "update_worktree_label", worktreeId=made["id"]) == (
        "Missing field: label"
    )


async def test_reorder_worktrees_is_the_order_wanted(place: Place) -> None:
    made = [(await place.create(customName=name))["id"] for name in ("one", "two", "three")]
    await place.call(
        "reorder_worktrees", projectId=place.project_id, worktreeIds=[made[2], made[0], made[1]]
    )
    assert await place.names() == ["three", "one", "two"]
    found = await place.call("list_worktrees", projectId=place.project_id)
    assert [worktree["order"] for worktree in found] == sorted(w["order"] for w in found)


async def test_fetch_worktrees_status_refreshes_the_counts(place: Place) -> None:
    made = await place.create()
    place.write(made, "new.txt", "one\ntwo\n")
    place.git(made, "add", ".")
    place.git(made, "commit", "-m", "Add")
    place.write(made, "read.me", "one\n")
    assert await place.call("fetch_worktrees_status", projectId=place.project_id) is None
    found = await place.call("get_worktree", worktreeId=made["id"])
    assert (found["cached_ahead_count"], found["cached_behind_count"]) == (1, 0)
    assert (found["cached_uncommitted_added"], found["cached_uncommitted_removed"]) == (0, 2)
    assert found["cached_branch_diff_added"] == 2
    assert found["cached_unpushed_count"] == 1
    assert found["cached_status_at"] > 0


async def test_commit_changes_commits_what_is_staged_or_all(place: Place) -> None:
    made = await place.create()

    async def uncommitted() -> bool:
        return bool(await place.call("has_uncommitted_changes", worktreeId=made["id"]))

    assert await uncommitted() is False
    told = await refusal(place.call, "commit_changes", worktreeId=made["id"], message="None")
    assert told == "No uncommitted changes to commit"
    place.write(made, "staged.txt")
    place.git(made, "add", "staged.txt")
    place.write(made, "loose.txt")
    assert await uncommitted() is True
    done = await place.call("commit_changes", worktreeId=made["id"], message="Staged")
    assert done == {"success": True, "commit_sha": place.git(made, "rev-parse", "HEAD")}
    assert place.git(made, "show", "--format=%s", "--name-only") == "Staged\n\nstaged.txt"
    await place.call("commit_changes", worktreeId=made["id"], message="All", stageAll=True)
    assert await uncommitted() is False


@pytest.mark.parametrize("kind", ["working", "staged", "branch"])
async def test_get_git_diff_is_a_unified_diff(place: Place, kind: str) -> None:
    made = await place.create()
    place.write(made, "read.me", f"{kind}\n")
    if kind != "working":
        place.git(made, "add", ".")
    if kind == "branch":
        place.git(made, "commit", "-m", "Change")
    args = {"baseBranch": "main"} if kind == "branch" else {}
    diff = await place.call("get_git_diff", worktreePath=made["path"], diffType=kind, **args)
    assert diff.startswith("diff --git a/read.me b/read.me\n")
    assert f"\n+{kind}\n" in diff


async def test_get_git_diff_reads_known_places_only(place: Place, tmp_path: Path) -> None:
    args = {"worktreePath": str(tmp_path), "diffType": "working"}
    assert await refusal(place.call, "get_git_diff", **args) == f"Worktree not found: {tmp_path}"
    args = {"worktreePath": str(place.repository.root), "diffType": "all"}
    told = await refusal(place.call, "get_git_diff", **args)
    assert told.startswith("Invalid field 'diffType': ")


async def test_git_push_and_git_pull_give_git_s_words(place: Place) -> None:
    made = await place.create()
    place.write(made)
    await place.call("commit_changes", worktreeId=made["id"], message="Change", stageAll=True)
    pushed = await place.call("git_push", worktreePath=made["path"])
    assert (set(pushed), pushed["success"]) == ({"success", "output"}, True)
    there = place.repository.git("ls-remote", "origin", made["branch"]).split()[0]
    assert there == place.git(made, "rev-parse", "HEAD")
    root = str(place.repository.root)
    pulled = await place.call("git_pull", worktreePath=root, baseBranch=made["branch"])
    assert (set(pulled), pulled["success"]) == ({"success", "output"}, True)
    assert place.repository.git("rev-parse", "HEAD") == there
    failed = await place.call("git_pull", worktreePath=root, baseBranch="nowhere")
    assert failed["success"] is False
    assert "nowhere" in failed["output"]


async def test_save_and_clear_worktree_pr(place: Place, fake_gh: FakeGh) -> None:
    made = await place.create()
    url = "https://github.com/ada/loom/pull/7"
    saved = {"worktreeId": made["id"], "prNumber": 7, "prUrl": url}
    assert await place.call("save_worktree_pr", **saved) is None
    found = await place.call("get_worktree", worktreeId=made["id"])
    assert (found["pr_number"], found["pr_url"]) == (7, url)
    assert await place.call("clear_worktree_pr", worktreeId=made["id"]) is None
    found = await place.call("get_worktree", worktreeId=made["id"])
    assert (found["pr_number"], found["pr_url"], found["cached_pr_status"]) == (None, None, None)


async def test_open_pull_request_gives_number_and_address(place: Place, fake_gh: FakeGh) -> None:
    url = "https://github.com/ada/loom/pull/7"
    fake_gh.answers("pr create", f"{url}\n")
    made = await place.create(customName="calm-heron")
    place.write(made)
    await place.call("commit_changes", worktreeId=made["id"], message="Mend", stageAll=True)
    opened = await place.call("open_pull_request", worktreeId=made["id"], draft=True)
    assert opened == {"pr_number": 7, "pr_url": url}
    created = next(call["args"] for call in fake_gh.calls if "create" in str(call["args"]))
    assert isinstance(created, list)
    assert "--draft" in created
    assert "--title=Mend" in created, "made from the commits when it is left out"
    assert place.repository.git("ls-remote", "origin", "calm-heron") != "", "pushed first"
    found = await place.call("get_worktree", worktreeId=made["id"])
    assert (found["pr_number"], found["pr_url"]) == (7, url)


async def test_open_pull_request_takes_title_and_body(place: Place, fake_gh: FakeGh) -> None:
    fake_gh.answers("pr create", "https://github.com/ada/loom/pull/8\n")
    made = await place.create()
    place.write(made)
    await place.call("commit_changes", worktreeId=made["id"], message="Mend", stageAll=True)
    given = {"title": "My title", "body": "My body"}
    await place.call("open_pull_request", worktreeId=made["id"], **given)
    asked = next(call for call in fake_gh.calls if "create" in str(call["args"]))
    assert "--title=My title" in str(asked["args"])
    assert "--draft" not in str(asked["args"])
    assert asked["input"] == "My body"
